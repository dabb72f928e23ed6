//! What Kafka or its client answered, opaque: questions instead of variants.

use std::fmt;

/// A failure reported by Kafka or by its client library.
///
/// The text names what failed and never a configuration value, so it holds no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct KafkaError {
    code: String,
    message: String,
    class: Class,
}

const CLOSED: &str = "Closed";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Retriable,
    /// The broker refused the account: wrong credentials or no right to what was asked.
    Refused,
    Permanent,
    /// The client cannot be used any more.
    Fatal,
}

impl KafkaError {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>, class: Class) -> Self {
        Self { code: code.into(), message: message.into(), class }
    }

    pub(crate) fn commit_timed_out(timeout: std::time::Duration) -> Self {
        Self::new("CommitTimedOut", format!("no answer to a commit within {timeout:?}"), Class::Retriable)
    }

    pub(crate) fn with_context(mut self, context: &str) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// Whether the client that reported it was closed, or is of no use any more.
    pub(crate) fn is_end_of_client(&self) -> bool {
        self.is_fatal() || self.code == CLOSED
    }

    /// What a client says that was closed.
    pub(crate) fn closed(what: &str) -> Self {
        Self::new(CLOSED, format!("the {what} is closed"), Class::Permanent)
    }

    /// Adds what was known beside it.
    pub(crate) fn because(mut self, trouble: &Self) -> Self {
        self.message = format!("{}; the connection said: {trouble}", self.message);
        self
    }

    /// The stable name of the failure, for example `UnknownTopicOrPartition`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether the same call may succeed later without a change.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        self.class == Class::Retriable
    }

    /// Whether the record is larger than its topic takes.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.code == "MessageSizeTooLarge"
    }

    /// Whether the broker refused the account: wrong credentials, or no right to the topic, group or cluster.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.class == Class::Refused
    }

    /// Whether the client that reported it cannot be used any more.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        self.class == Class::Fatal
    }
}

impl fmt::Display for KafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl fmt::Debug for KafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KafkaError({self})")
    }
}

impl std::error::Error for KafkaError {}
