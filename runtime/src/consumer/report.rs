//! What a consumer says of records that it did not handle, and of itself when it ends.

use std::fmt;

use crate::{config::ConfigError, error::KafkaError, record::TopicPartition, settle::Outcome};

/// Why a record was not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The handler returned an error or panicked.
    Failed,
    /// The payload does not fit its type.
    PayloadMisfit,
    /// The value is no envelope, or names no URN.
    Poison,
    /// The schema version is not 1.
    WrongVersion,
    /// No handler for the URN.
    UnknownUrn,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "the handler failed",
            Self::PayloadMisfit => "the payload does not fit its type",
            Self::Poison => "the value is not an envelope",
            Self::WrongVersion => "the schema version is not supported",
            Self::UnknownUrn => "no handler for the URN",
        })
    }
}

/// A record that was not handled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordError {
    /// Where it lies.
    pub partition: TopicPartition,
    /// Its offset there.
    pub offset: i64,
    /// Its URN, when it names one.
    pub urn: Option<String>,
    /// Its trace id, when it carries one.
    pub trace_id: Option<String>,
    /// Why it was not handled.
    pub reason: Reason,
    /// The error in detail.
    pub error: String,
    /// Whether its offset is committed all the same, so that it is not delivered again.
    pub committed: bool,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} offset {}", self.partition, self.offset)?;
        if let Some(urn) = &self.urn {
            write!(f, " ({urn})")?;
        }
        write!(f, ": {}: {}", self.reason, self.error)
    }
}

/// Reason and detail of an outcome; `None` for a handled record.
pub(super) fn explain(outcome: &Outcome) -> Option<(Reason, String)> {
    Some(match outcome {
        Outcome::Handled => return None,
        Outcome::Failed(error) if error.is_fatal() => (Reason::Failed, format!("{error} (fatal)")),
        Outcome::Failed(error) => (Reason::Failed, error.to_string()),
        Outcome::Misfit(error) => (Reason::PayloadMisfit, error.to_string()),
        Outcome::Poison(poison) => (Reason::Poison, poison.to_string()),
        Outcome::NoIdentity => (Reason::Poison, "neither `job` nor `urn` names the message".to_owned()),
        Outcome::WrongVersion(version) => (Reason::WrongVersion, format!("{version:?}, expected 1")),
        Outcome::UnknownUrn => (
            Reason::UnknownUrn,
            "register a handler, or let such records go by with `unknown_urn(UnknownUrn::Delete)`".to_owned(),
        ),
    })
}

/// What a consumer did from its start to its end.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Records that were handled.
    pub handled: u64,
    /// Records among them that the idempotency guard skipped, as their message was handled before.
    pub duplicates: u64,
    /// Records that were reported and committed, as no later delivery could be handled either.
    pub rejected: u64,
    /// Records of an unknown URN that were committed, as the strategy asks.
    pub deleted: u64,
    /// Records whose handler did not end before the deadline of the shutdown. They are not committed, and will be
    /// delivered again.
    pub unfinished: Vec<(TopicPartition, i64)>,
    /// Why finished records could not be committed at the end, if so. They will be delivered again.
    pub uncommitted: Option<KafkaError>,
    /// Whether the group was left before the deadline of the shutdown; if not, the broker will notice by itself.
    pub left_group: bool,
}

/// Why a consumer ended before it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsumerError {
    /// The settings, or there is nothing to handle.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A record was not handled, and nothing behind it may be committed.
    #[error("stopped at {record}; neither it nor anything behind it on that partition is committed")]
    Record {
        /// The record.
        record: RecordError,
        /// What was done until then.
        summary: Summary,
    },
    /// The broker refused the account, or the client cannot go on.
    #[error("the consumer cannot go on: {error}")]
    Kafka {
        /// What it says.
        error: KafkaError,
        /// What was done until then.
        summary: Summary,
    },
}
