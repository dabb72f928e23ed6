//! What happens to a consumer between records, for the user's event hook.

use std::{fmt, time::Duration};

use crate::{error::KafkaError, record::TopicPartition};

/// Something that happened to a consumer; see `ConsumerBuilder::on_event`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The group gave partitions to this consumer.
    Assigned {
        /// The partitions.
        partitions: Vec<TopicPartition>,
    },
    /// The group took partitions back; what was finished has been committed.
    Revoked {
        /// The partitions.
        partitions: Vec<TopicPartition>,
    },
    /// Partitions were lost: another member may have them already, so nothing was committed.
    Lost {
        /// The partitions.
        partitions: Vec<TopicPartition>,
    },
    /// The group has put this consumer out, as it did not poll in time; it joins again.
    LeftGroup {
        /// What the client says.
        error: KafkaError,
    },
    /// A commit failed; the records will be committed with the next one, or be delivered again.
    CommitFailed {
        /// What the broker or the client says.
        error: KafkaError,
    },
    /// A topic does not exist (yet); the other topics are read, and this one as soon as it appears.
    TopicMissing {
        /// The topic.
        topic: String,
        /// What the broker says.
        error: KafkaError,
    },
    /// A record could not be written to the topic that is next for it. Nothing is lost: it keeps its place, and the write
    /// is tried again.
    WriteFailed {
        /// Where the record lies.
        partition: TopicPartition,
        /// Its offset there.
        offset: i64,
        /// The topic that it is to be written to.
        topic: String,
        /// What Kafka answered.
        error: KafkaError,
        /// When it is tried again.
        again_in: Duration,
    },
    /// A record has held up its partition for longer than the
    /// [stall timeout](crate::ConsumerBuilder::stall_timeout): its handler, its way to another topic, or its commit
    /// where that is waited for. Told once a stall.
    Stalled {
        /// The partition.
        partition: TopicPartition,
        /// The record's offset.
        offset: i64,
        /// Its URN, when it names one.
        urn: Option<String>,
        /// For how long.
        age: Duration,
    },
    /// The record that held up its partition too long is finished.
    Recovered {
        /// The partition.
        partition: TopicPartition,
    },
    /// The connection or a broker has a problem, or a broker refuses what it allowed before; the client goes on trying.
    Trouble {
        /// What the client says.
        error: KafkaError,
    },
}

impl Event {
    pub(crate) fn write_failed(
        partition: &TopicPartition,
        offset: i64,
        topic: &str,
        error: &KafkaError,
        again_in: Duration,
    ) -> Self {
        let (partition, topic, error) = (partition.clone(), topic.to_owned(), error.clone());
        Self::WriteFailed { partition, offset, topic, error, again_in }
    }

    /// Tells it as a `tracing` event.
    pub(crate) fn trace(&self) {
        match self {
            Self::Assigned { .. } | Self::Revoked { .. } | Self::Recovered { .. } => tracing::info!("{self}"),
            _ => tracing::warn!("{self}"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, what: &str, partitions: &[TopicPartition]| {
            f.write_str(what)?;
            partitions.iter().try_for_each(|partition| write!(f, " {partition}"))
        };
        match self {
            Self::Assigned { partitions } => list(f, "assigned:", partitions),
            Self::Revoked { partitions } => list(f, "revoked:", partitions),
            Self::Lost { partitions } => list(f, "lost:", partitions),
            Self::LeftGroup { error } => write!(f, "left the group: {error}"),
            Self::CommitFailed { error } => write!(f, "commit failed: {error}"),
            Self::TopicMissing { topic, error } => write!(f, "topic `{topic}` is missing: {error}"),
            Self::WriteFailed { partition, offset, topic, error, again_in } => write!(
                f,
                "{partition} offset {offset} could not be written to `{topic}` and is tried again in {again_in:?}: {error}"
            ),
            Self::Stalled { partition, offset, urn, age } => {
                write!(f, "stalled: {partition} offset {offset} ")?;
                if let Some(urn) = urn {
                    write!(f, "({urn}) ")?;
                }
                write!(f, "has not been finished for {age:?}")
            }
            Self::Recovered { partition } => write!(f, "no longer stalled: {partition}"),
            Self::Trouble { error } => error.fmt(f),
        }
    }
}
