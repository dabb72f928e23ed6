//! What a consumer says of records that it did not handle, and of itself when it ends.

use std::{fmt, time::Duration};

use crate::{
    config::ConfigError, error::KafkaError, handler::HandlerError, record::TopicPartition, settle::Outcome,
    topics::TopicFindings,
};

/// Why a record was not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The handler returned an error or panicked.
    Failed,
    /// The payload does not fit its type, or violates its schema (feature `validate`).
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
            Self::PayloadMisfit => "the payload does not fit",
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
    /// What was done with it.
    pub settled: Settled,
}

/// What was done with a record that was not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settled {
    /// It was written to a retry topic.
    Retry {
        /// The retry topic.
        topic: String,
        /// How long it waits there.
        delay: Duration,
    },
    /// It was written to the dead-letter topic.
    DeadLetter {
        /// The dead-letter topic.
        topic: String,
    },
    /// It was let go by: there is no dead-letter topic, and no later delivery could be handled either.
    Dropped,
    /// It stopped the consumer, and is not committed.
    Stopped,
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retry { topic, delay } => write!(f, "again in {delay:?}, by `{topic}`"),
            Self::DeadLetter { topic } => write!(f, "now on `{topic}`"),
            Self::Dropped => f.write_str("dropped"),
            Self::Stopped => f.write_str("not committed"),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} offset {}", self.partition, self.offset)?;
        if let Some(urn) = &self.urn {
            write!(f, " ({urn})")?;
        }
        write!(f, ": {}: {} ({})", self.reason, self.error, self.settled)
    }
}

/// What an outcome says.
#[derive(Clone, Debug)]
pub(super) struct Explained {
    pub(super) reason: Reason,
    pub(super) error: String,
    /// The name of the error's type, where it is known.
    pub(super) exception: Option<&'static str>,
}

/// Reason and detail of an outcome; `None` for a handled record.
pub(super) fn explain(outcome: &Outcome) -> Option<Explained> {
    let (reason, error) = match outcome {
        Outcome::Handled => return None,
        Outcome::Failed(error) if error.is_fatal() => (Reason::Failed, format!("{} (fatal)", chain(error))),
        Outcome::Failed(error) => (Reason::Failed, chain(error)),
        Outcome::Misfit(error) => (Reason::PayloadMisfit, error.to_string()),
        Outcome::Poison(poison) => (Reason::Poison, poison.to_string()),
        Outcome::NoIdentity => (Reason::Poison, "neither `job` nor `urn` names the message".to_owned()),
        Outcome::WrongVersion(version) => (Reason::WrongVersion, format!("{version:?}, expected 1")),
        Outcome::UnknownUrn => (
            Reason::UnknownUrn,
            "register a handler, or choose what to do with such records by `unknown_urn(…)`".to_owned(),
        ),
    };
    let exception = match outcome {
        Outcome::Failed(error) => error.exception(),
        _ => None,
    };
    Some(Explained { reason, error, exception })
}

/// The error and what caused it, each once: many errors repeat their cause in their own text.
fn chain(error: &HandlerError) -> String {
    let mut text = error.to_string();
    let mut cause = error.get_ref().source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    match error.delay() {
        Some(delay) => format!("{text} (asked to be retried after {delay:?})"),
        None => text,
    }
}

/// What a consumer did from its start to its end.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Records that were handled.
    pub handled: u64,
    /// Records among them that the idempotency guard skipped, as their message was handled before.
    pub duplicates: u64,
    /// Records that were written to a retry topic.
    pub retried: u64,
    /// Records that were written to the dead-letter topic.
    pub dead_lettered: u64,
    /// Records that were reported and let go by, as there is no dead-letter topic.
    pub dropped: u64,
    /// Records of an unknown URN that were committed, as the strategy asks.
    pub deleted: u64,
    /// Records whose handler did not end before the deadline of the shutdown, or that were not written to their retry or
    /// dead-letter topic by then, and the one that stopped the consumer. They are not committed, and will be delivered
    /// again.
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
    /// The retry topics or the dead-letter topic are not as they have to be; nothing was read.
    #[error(transparent)]
    Topics(#[from] TopicFindings),
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
