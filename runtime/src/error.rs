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
    /// What to check, where that is known.
    hint: Option<&'static str>,
}

const CLOSED: &str = "Closed";
const SETTINGS_NOT_TOLD: &str = "SettingsNotTold";
const UNCONFIRMED: &str = "Unconfirmed";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Retriable,
    /// The broker refuses this client, or the other way round: credentials, rights, certificates, protocol.
    Refused,
    Permanent,
    /// The client cannot be used any more.
    Fatal,
}

impl KafkaError {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>, class: Class) -> Self {
        Self { code: code.into(), message: message.into(), class, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<Option<&'static str>>) -> Self {
        self.hint = hint.into();
        self
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

    /// Whether the account lacks a right, rather than being refused altogether.
    pub(crate) fn is_about_a_right(&self) -> bool {
        self.code.ends_with("AuthorizationFailed") || self.code == SETTINGS_NOT_TOLD
    }

    /// What is said of settings that an account may not read.
    pub(crate) fn settings_not_told() -> Self {
        Self::new(SETTINGS_NOT_TOLD, "its settings are not told to this account", Class::Refused)
    }

    /// The same of a client that cannot be used any more because of it.
    pub(crate) fn for_good(self) -> Self {
        Self { class: Class::Fatal, ..self }
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

    /// Whether the client library took a record for written that no broker has acknowledged.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.code == UNCONFIRMED
    }

    pub(crate) fn unconfirmed() -> Self {
        Self::new(UNCONFIRMED, "the broker did not say that the record was written", Class::Retriable)
    }

    /// Whether the brokers refuse this client for as long as nothing is changed: wrong credentials; no right to the topic,
    /// group or cluster; a certificate that is not trusted, on one side or the other, or is for another host name; a
    /// security protocol that is not the listener's. The text says what was refused and what to check.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        // A producer that may write nothing at all is of no use any more either.
        self.class == Class::Refused || self.is_about_a_right()
    }

    /// Whether the client that reported it cannot be used any more.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        self.class == Class::Fatal
    }
}

impl fmt::Display for KafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        self.hint.map_or(Ok(()), |hint| write!(f, "; check {hint}"))
    }
}

impl fmt::Debug for KafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KafkaError({self})")
    }
}

impl std::error::Error for KafkaError {}
