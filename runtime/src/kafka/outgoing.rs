//! A record that is to be written, and what became of it.

use std::fmt;

use rdkafka::message::OwnedHeaders;

use super::native;
use crate::{error::KafkaError, record::Record};

/// A record on its way to Kafka; a failed send hands it back.
#[derive(Clone)]
pub struct OutgoingRecord {
    pub(super) topic: String,
    pub(super) key: Option<Vec<u8>>,
    pub(super) value: Option<Vec<u8>>,
    pub(super) headers: OwnedHeaders,
    pub(super) timestamp: Option<i64>,
}

impl OutgoingRecord {
    /// `timestamp` in Unix milliseconds; `None` is the time of the write.
    pub(crate) fn new(topic: String, key: Option<Vec<u8>>, value: Option<Vec<u8>>, timestamp: Option<i64>) -> Self {
        Self { topic, key, value, headers: OwnedHeaders::new_with_capacity(8), timestamp }
    }

    /// The next hop of a record: its key and, but for those of these names, its headers, in their order. Its timestamp is
    /// the time of the write, as retention goes by it (contract section 2).
    pub(crate) fn next_hop(record: &Record<'_>, topic: &str, value: Option<Vec<u8>>, without: &[&str]) -> Self {
        let mut next = Self::new(topic.to_owned(), record.key.map(<[u8]>::to_vec), value, None);
        for (name, value) in record.headers {
            if !without.iter().any(|other| other.as_bytes() == name) {
                next.push_header(name, value);
            }
        }
        next
    }

    pub(crate) fn push_header(&mut self, name: &[u8], value: Option<&[u8]>) {
        native::push_header(&mut self.headers, name, value);
    }

    /// The topic.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The key; `None` is the null key.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.key.as_deref()
    }

    /// The value: the envelope.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        self.value.as_deref()
    }

    /// The headers, in order; names may repeat.
    #[must_use]
    pub fn headers(&self) -> Vec<(&[u8], Option<&[u8]>)> {
        native::headers(&self.headers)
    }
}

impl fmt::Debug for OutgoingRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        f.debug_struct("OutgoingRecord")
            .field("topic", &self.topic)
            .field("key", &self.key().map(text))
            .field("value_bytes", &self.value.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

/// A record that was not acknowledged, and why. It may have been written all the same when the error is a timeout, or
/// when the broker did not say.
#[derive(Debug)]
pub(crate) struct SendError {
    pub(crate) error: KafkaError,
    pub(crate) record: Box<OutgoingRecord>,
}

/// What became of a record.
pub(crate) type Sent = Result<(), SendError>;
