//! The block that a dead letter carries (contract section 1).

use serde::Serialize;

/// Why and where a message was given up.
#[derive(Clone, Debug, Serialize)]
pub struct DeadLetter<'a> {
    /// `failed`, `unknown_urn` or `poison`.
    pub reason: &'a str,
    /// What went wrong, for people.
    pub error: Option<&'a str>,
    /// The name of the error's type.
    pub exception: Option<&'a str>,
    /// Unix milliseconds.
    pub failed_at: i64,
    /// The work topic.
    pub original_queue: &'a str,
    /// Failed deliveries, the last one included.
    pub attempts: i64,
    /// The language of the consumer: `rust` here.
    pub lang: &'a str,
}

impl DeadLetter<'_> {
    pub(super) fn to_json(&self) -> String {
        // Strings and integers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}
