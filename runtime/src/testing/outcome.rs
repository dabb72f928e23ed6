//! What became of a message.

use std::time::Duration;

use super::DeadLetter;
use crate::consumer::Reason;

/// How a message ended; see [`TestKit::outcome`](super::TestKit::outcome).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Its handler returned `Ok`.
    Handled {
        /// The try that did, counted from 1: one more than the failures that the message tells of.
        tries: u32,
    },
    /// It was written to the dead-letter topic.
    DeadLettered(DeadLetter),
    /// It was let go by, as there is no dead-letter topic.
    Dropped {
        /// Why it was not handled.
        reason: Reason,
        /// The error in detail.
        error: String,
    },
    /// It has no handler, and was let go by as [`UnknownUrn::Delete`](crate::UnknownUrn::Delete) asks.
    Deleted,
    /// It stopped the consumer, and is not committed.
    Stopped {
        /// Why it was not handled.
        reason: Reason,
        /// The error in detail.
        error: String,
    },
}

/// A message that waits on a retry topic; see [`TestKit::retried`](super::TestKit::retried).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retried {
    /// The retry topic.
    pub topic: String,
    /// The delay that it was written there with: the tier's, unless the handler asked for another one. By
    /// [`TestKit::advance`](super::TestKit::advance) it passes at once.
    pub delay: Duration,
    /// Why it was not handled.
    pub reason: Reason,
    /// The error in detail.
    pub error: String,
}
