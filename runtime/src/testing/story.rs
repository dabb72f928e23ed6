//! What happened to one message, and what it means. Pure.

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use super::{DeadLetter, Outcome, Retried};
use crate::{
    consumer::{Reason, Settled},
    headers,
    lab::End,
    record::{Batch, TopicPartition},
};

/// Where a record lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) partition: TopicPartition,
    pub(super) offset: i64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} offset {}", self.partition, self.offset)
    }
}

/// Something that happened.
#[derive(Clone)]
pub(super) struct Entry {
    /// Since the start of the kit.
    pub(super) after: Duration,
    pub(super) what: What,
}

#[derive(Clone)]
pub(super) enum What {
    /// A record of the message was written; it is the only one of the batch.
    Written { at: Place, record: Arc<Batch> },
    /// A delivery of it was processed.
    Processed { at: Place, attempts: u32, end: End },
    /// A delivery of it was not handled, and this was done with it.
    Settled { at: Place, reason: Reason, error: String, settled: Settled },
    /// Whatever else.
    Told(String),
}

impl What {
    /// Where the record lies that it is about.
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Self::Written { at, .. } | Self::Processed { at, .. } | Self::Settled { at, .. } => Some(at),
            Self::Told(_) => None,
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written { at, record } => {
                write!(f, "written to {at}")?;
                let headers = record.get(0).map(|record| record.headers).unwrap_or_default();
                for (name, header) in [("attempts", headers::ATTEMPTS), ("delay in ms", headers::DELAY)] {
                    if let Some(value) = headers.get_str(header) {
                        write!(f, ", {name} {value}")?;
                    }
                }
                Ok(())
            }
            Self::Processed { at, attempts, end } => {
                let tries = attempts.saturating_add(1);
                match end {
                    End::Handled => write!(f, "try {tries} of {at} was handled"),
                    End::Deleted => write!(f, "try {tries} of {at} has no handler and was let go by"),
                    End::NotHandled => write!(f, "try {tries} of {at} was not handled"),
                }
            }
            Self::Settled { at, reason, error, settled } => write!(f, "{at}: {reason}: {error} ({settled})"),
            Self::Told(text) => f.write_str(text),
        }
    }
}

/// What happened to one message, in order.
#[derive(Default)]
pub(super) struct Story {
    pub(super) entries: Vec<Entry>,
}

impl Story {
    /// How it ended, where the consumer reads these topics; `None` while it is under way.
    pub(super) fn outcome(&self, reads: &[String]) -> Option<Outcome> {
        let mut delivered: HashSet<&Place> = HashSet::new();
        let mut ended: HashSet<&Place> = HashSet::new();
        let mut last = None;
        for what in self.entries.iter().map(|entry| &entry.what) {
            match what {
                What::Written { at, .. } if !reads.iter().any(|topic| *topic == *at.partition.topic) => {}
                What::Written { at, .. } | What::Processed { at, end: End::NotHandled, .. } => {
                    delivered.insert(at);
                }
                What::Processed { at, .. } | What::Settled { at, .. } => {
                    ended.insert(at);
                    last = Some(what);
                }
                What::Told(_) => {}
            }
        }
        // A record may be processed before its own writer has heard that it was written, so the order says nothing.
        if !delivered.is_subset(&ended) {
            return None;
        }
        match last? {
            What::Processed { attempts, end: End::Handled, .. } => {
                Some(Outcome::Handled { tries: attempts.saturating_add(1) })
            }
            What::Processed { .. } => Some(Outcome::Deleted),
            What::Settled { reason, error, settled, .. } => self.settled(*reason, error, settled),
            What::Written { .. } | What::Told(_) => None,
        }
    }

    fn settled(&self, reason: Reason, error: &str, settled: &Settled) -> Option<Outcome> {
        let error = error.to_owned();
        match settled {
            Settled::Retry { .. } => None,
            Settled::DeadLetter { topic } => self.written_to(topic).map(Outcome::DeadLettered),
            Settled::Dropped => Some(Outcome::Dropped { reason, error }),
            Settled::Stopped => Some(Outcome::Stopped { reason, error }),
        }
    }

    /// What was written last to this topic.
    fn written_to(&self, topic: &str) -> Option<DeadLetter> {
        self.entries.iter().rev().find_map(|entry| match &entry.what {
            What::Written { at, record } if *at.partition.topic == *topic => {
                Some(DeadLetter::new(at.partition.clone(), Arc::clone(record)))
            }
            _ => None,
        })
    }

    /// The times that it was written to a retry topic after a failure, in order.
    pub(super) fn retries(&self) -> impl Iterator<Item = Retried> + '_ {
        self.entries.iter().filter_map(|entry| match &entry.what {
            What::Settled { reason, error, settled: Settled::Retry { topic, delay }, .. } => {
                Some(Retried { topic: topic.clone(), delay: *delay, reason: *reason, error: error.clone() })
            }
            _ => None,
        })
    }

    /// What a reader of its story may not see at once.
    pub(super) fn hint(&self, reads: &[String]) -> Option<String> {
        let Some(last) = self.entries.iter().rev().find(|entry| entry.what.place().is_some()) else {
            return Some("nothing is known of it: is it published by `publish` or `kafka()` of this kit?".to_owned());
        };
        if self.waits_for_its_write() {
            return Some("the write that settles it is not acknowledged".to_owned());
        }
        match &last.what {
            What::Settled { settled: Settled::Retry { topic, delay }, .. } => {
                Some(format!("it waits on `{topic}`: `advance({delay:?})` lets that pass at once"))
            }
            What::Written { at, .. } if !reads.iter().any(|topic| *topic == *at.partition.topic) => {
                Some(format!("it lies on `{}`; the consumer reads {}", at.partition.topic, reads.join(", ")))
            }
            What::Written { .. } => Some("it was not delivered yet, or its handler has not returned".to_owned()),
            _ => None,
        }
    }

    /// Whether the last delivery that was not handled is not settled.
    fn waits_for_its_write(&self) -> bool {
        let deliveries = self.entries.iter().rev().map(|entry| &entry.what);
        let mut deliveries = deliveries.filter(|what| matches!(what, What::Processed { .. } | What::Settled { .. }));
        matches!(deliveries.next(), Some(What::Processed { end: End::NotHandled, .. }))
    }
}
