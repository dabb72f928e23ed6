//! What a redrive did, and why it stopped.

use std::{collections::BTreeMap, fmt};

use crate::{config::ConfigError, error::KafkaError, record::TopicPartition};

/// Why a record was written back to the dead-letter topic as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Skipped {
    /// It is not what was asked for.
    NotSelected,
    /// The value is no envelope, or names no URN: as the dead letters of poison records are.
    Undecodable,
    /// The schema version is not 1.
    WrongVersion,
    /// It names no topic that it came from, or nothing that Kafka takes as one, and none was chosen.
    NoSource,
    /// It says that it came from the dead-letter topic itself.
    SourceIsDeadLetterTopic,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSelected => "not selected",
            Self::Undecodable => "the value is not an envelope",
            Self::WrongVersion => "the schema version is not supported",
            Self::NoSource => "it names no topic that it came from",
            Self::SourceIsDeadLetterTopic => "it came from the dead-letter topic itself",
        })
    }
}

/// What a redrive did; of a dry run, what it would have done.
///
/// Records that another member of the group took over in between, or that are read again after a rebalance, are counted
/// here each time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RedriveReport {
    /// Whether it was a dry run: nothing was written and nothing committed.
    pub dry: bool,
    /// Records that were read.
    pub read: u64,
    /// Records that were written to their topic, and acknowledged there.
    pub redriven: u64,
    /// The same, by topic.
    pub targets: BTreeMap<String, u64>,
    /// Records that were written back to the dead-letter topic as they were, by reason.
    pub skipped: BTreeMap<Skipped, u64>,
    /// Records that could not be written to their topic.
    pub failed: u64,
    /// Whether it was asked to end before it had seen everything.
    pub interrupted: bool,
    /// Why the offsets of what is counted here could not be committed at the end, if so. Those records will be redriven
    /// again by the next run.
    pub uncommitted: Option<KafkaError>,
}

impl RedriveReport {
    /// The number of skipped records, whatever the reason.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Adds what was done elsewhere.
    pub(crate) fn add(&mut self, other: Self) {
        self.read += other.read;
        self.redriven += other.redriven;
        self.failed += other.failed;
        for (topic, count) in other.targets {
            *self.targets.entry(topic).or_default() += count;
        }
        for (skipped, count) in other.skipped {
            *self.skipped.entry(skipped).or_default() += count;
        }
    }

    pub(super) fn add_redriven(&mut self, topic: &str) {
        self.redriven += 1;
        match self.targets.get_mut(topic) {
            Some(count) => *count += 1,
            None => drop(self.targets.insert(topic.to_owned(), 1)),
        }
    }

    pub(super) fn add_skipped(&mut self, skipped: Skipped) {
        *self.skipped.entry(skipped).or_default() += 1;
    }
}

/// A record that could not be written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteFailure {
    /// Where it lies.
    pub partition: TopicPartition,
    /// Its offset there.
    pub offset: i64,
    /// The topic that it was to be written to; the dead-letter topic itself for a record that was skipped.
    pub topic: String,
    /// What Kafka answered. After a timeout the record may have been written all the same.
    pub error: KafkaError,
    /// Whether the record was written back to the dead-letter topic, so that it is committed where it lay; if not, it
    /// keeps its place: neither it nor anything behind it on that partition is committed.
    pub restored: Result<(), KafkaError>,
}

impl fmt::Display for WriteFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { partition, offset, topic, error, restored } = self;
        write!(f, "{partition} offset {offset} could not be written to `{topic}`: {error}; ")?;
        match restored {
            Ok(()) => write!(f, "it is back at the end of `{}`", partition.topic),
            Err(_) if *topic == *partition.topic => f.write_str("it keeps its place, uncommitted"),
            Err(error) => write!(f, "it could not be written back either and keeps its place, uncommitted: {error}"),
        }
    }
}

/// Why a redrive ended before it had seen everything. What it had done until then is committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedriveError {
    /// The settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A record could not be written.
    #[error("the redrive stopped: {failure}")]
    Write {
        /// The record.
        failure: Box<WriteFailure>,
        /// What was done until then.
        report: Box<RedriveReport>,
    },
    /// The broker refused the account, does not know the topic, or the client cannot go on.
    #[error("the redrive cannot go on: {error}")]
    Kafka {
        /// What it says.
        error: KafkaError,
        /// What was done until then.
        report: Box<RedriveReport>,
    },
}
