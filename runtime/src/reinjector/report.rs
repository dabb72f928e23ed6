//! What a reinjector says of itself when it ends.

use crate::{config::ConfigError, error::KafkaError, topics::TopicFindings};

/// What a reinjector did from its start to its end.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReinjectSummary {
    /// Records that were written to their work topic and acknowledged.
    pub reinjected: u64,
    /// Why finished records could not be committed at the end, if so. They will be written again.
    pub uncommitted: Option<KafkaError>,
    /// Whether the group was left before the deadline of the shutdown; if not, the broker will notice by itself.
    pub left_group: bool,
}

/// Why a reinjector ended before it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReinjectorError {
    /// The settings, or there is no retry topic to read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The topics are not as they have to be; nothing was read.
    #[error(transparent)]
    Topics(#[from] TopicFindings),
    /// The broker refused the account, or the client cannot go on.
    #[error("the reinjector cannot go on: {error}")]
    Kafka {
        /// What it says.
        error: KafkaError,
        /// What was done until then.
        summary: ReinjectSummary,
    },
}
