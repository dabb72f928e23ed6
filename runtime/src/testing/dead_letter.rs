//! A record of a dead-letter topic.

use std::{fmt, sync::Arc};

use serde::Deserialize;

use crate::{
    envelope::{Verdict, decode},
    headers,
    job::Job,
    payload,
    record::{Batch, Headers, Record, TopicPartition},
};

/// A record of a dead-letter topic, with its `dead_letter` block (contract section 1).
#[derive(Clone)]
pub struct DeadLetter {
    partition: TopicPartition,
    /// The record alone.
    record: Arc<Batch>,
    block: Block,
}

/// Both an envelope and what poison is wrapped in have it.
#[derive(Clone, Debug, Default, Deserialize)]
struct Body {
    #[serde(default)]
    dead_letter: Option<Block>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Block {
    reason: Option<String>,
    error: Option<String>,
    attempts: Option<i64>,
}

impl DeadLetter {
    pub(super) fn new(partition: TopicPartition, record: Arc<Batch>) -> Self {
        let value = record.get(0).and_then(|record| record.value).unwrap_or_default();
        // A record of another version lies there as it came, without a block.
        let body: Body = serde_json::from_slice(value).unwrap_or_default();
        Self { partition, record, block: body.dead_letter.unwrap_or_default() }
    }

    fn record(&self) -> Option<Record<'_>> {
        self.record.get(0)
    }

    /// The dead-letter topic.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.partition.topic
    }

    /// Its partition there.
    #[must_use]
    pub fn partition(&self) -> i32 {
        self.partition.partition
    }

    /// Its offset there.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.record().map_or(-1, |record| record.offset)
    }

    /// Its key; `None` is the null key, which is not the empty one.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.record()?.key
    }

    /// Its value, as it lies there.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        self.record()?.value
    }

    /// Its headers, `bq-` ones and others.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        self.record().map_or_else(Headers::default, |record| record.headers)
    }

    /// The id of the message, when it has one.
    #[must_use]
    pub fn message_id(&self) -> Option<String> {
        message_id(&self.record()?)
    }

    /// Why it was given up: `failed`, `unknown_urn` or `poison`; `None` of one that lies there as it came, as its version
    /// is not spoken here.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.block.reason.as_deref()
    }

    /// What went wrong, for people: the text of the handler's error.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.block.error.as_deref()
    }

    /// Failed deliveries.
    #[must_use]
    pub fn attempts(&self) -> i64 {
        self.block.attempts.unwrap_or_default()
    }

    /// The payload; `None` when it is no message of this type.
    #[must_use]
    pub fn job<J: Job>(&self) -> Option<J> {
        job(&self.record()?)
    }
}

/// The payload of a message; `None` when it is none of this type.
pub(super) fn job<J: Job>(record: &Record<'_>) -> Option<J> {
    let Verdict::Ok(envelope) = decode(record.value?) else { return None };
    let urn = record.headers.get_str(headers::JOB).unwrap_or_else(|| envelope.urn());
    if urn != J::URN {
        return None;
    }
    payload::decode(envelope.data().unwrap_or("{}")).ok()
}

/// The id of a message, by its header or else by its body.
pub(super) fn message_id(record: &Record<'_>) -> Option<String> {
    let header = record.headers.get_str(headers::MESSAGE_ID).filter(|id| !headers::is_blank(id));
    if let Some(id) = header {
        return Some(id.to_owned());
    }
    match decode(record.value?) {
        Verdict::Ok(envelope) => envelope.message_id().filter(|id| !headers::is_blank(id)).map(str::to_owned),
        _ => None,
    }
}

impl fmt::Debug for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadLetter")
            .field("partition", &self.partition.to_string())
            .field("offset", &self.offset())
            .field("message_id", &self.message_id())
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}
