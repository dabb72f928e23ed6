//! What happened to one message, and what it means. Pure.

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use super::{DeadLetter, Outcome, Retried, dead_letter};
use crate::{
    consumer::{Reason, Settled},
    headers,
    job::Job,
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

    /// The records of it that were written.
    fn written(&self) -> impl Iterator<Item = &Arc<Batch>> + '_ {
        self.entries.iter().filter_map(|entry| match &entry.what {
            What::Written { record, .. } => Some(record),
            _ => None,
        })
    }

    pub(super) fn is_written(&self) -> bool {
        self.written().next().is_some()
    }

    /// Its payload as it was published; `None` when it is no message of this type.
    pub(super) fn job<J: Job>(&self) -> Option<J> {
        dead_letter::job(&self.written().next()?.get(0)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(topic: &str, offset: i64) -> Place {
        Place { partition: TopicPartition { topic: topic.into(), partition: 0 }, offset }
    }

    fn written(topic: &str, offset: i64) -> What {
        let mut record = Batch::with_capacity(0, 1);
        record.push(offset, None, None, Some(b"{}"), |_| {});
        What::Written { at: at(topic, offset), record: Arc::new(record) }
    }

    fn processed(offset: i64, attempts: u32, end: End) -> What {
        What::Processed { at: at("orders", offset), attempts, end }
    }

    fn settled(offset: i64, settled: Settled) -> What {
        What::Settled { at: at("orders", offset), reason: Reason::Failed, error: "odd".to_owned(), settled }
    }

    fn retry() -> Settled {
        Settled::Retry { topic: "orders.retry.1".to_owned(), delay: Duration::from_secs(5) }
    }

    fn dead() -> Settled {
        Settled::DeadLetter { topic: "orders.dlq".to_owned() }
    }

    /// The outcome after each entry, in short.
    fn outcomes(entries: Vec<What>) -> Vec<&'static str> {
        let mut story = Story::default();
        let each = entries.into_iter().map(|what| {
            story.entries.push(Entry { after: Duration::ZERO, what });
            match story.outcome(&["orders".to_owned()]) {
                None => "",
                Some(Outcome::Handled { tries: 1 }) => "1",
                Some(Outcome::Handled { tries: 2 }) => "2",
                Some(Outcome::DeadLettered(_)) => "dead",
                Some(_) => "other",
            }
        });
        each.collect()
    }

    #[test]
    fn it_is_under_way_until_its_last_record_has_ended() {
        let entries = vec![
            written("orders", 0),
            processed(0, 0, End::NotHandled),
            written("orders.retry.1", 0),
            settled(0, retry()),
            written("orders", 1),
            processed(1, 1, End::Handled),
        ];
        assert_eq!(outcomes(entries), ["", "", "", "", "", "2"]);
    }

    #[test]
    fn an_end_that_is_known_before_its_write_is_counts() {
        assert_eq!(outcomes(vec![processed(0, 0, End::Handled), written("orders", 0)]), ["1", "1"]);
        let failed = vec![processed(0, 0, End::NotHandled), written("orders", 0), written("orders.dlq", 0)];
        assert_eq!(outcomes(failed), ["", "", ""]);
    }

    #[test]
    fn a_dead_letter_that_is_redriven_is_under_way_again() {
        let entries = vec![
            written("orders", 0),
            processed(0, 0, End::NotHandled),
            written("orders.dlq", 0),
            settled(0, dead()),
            written("orders", 1),
            processed(1, 0, End::Handled),
        ];
        assert_eq!(outcomes(entries), ["", "", "", "dead", "", "1"]);
    }

    #[test]
    fn of_a_record_that_is_delivered_twice_the_last_delivery_counts() {
        let entries = vec![
            written("orders", 0),
            processed(0, 0, End::NotHandled),
            processed(0, 0, End::NotHandled),
            written("orders.dlq", 0),
            settled(0, dead()),
            processed(0, 0, End::Handled),
        ];
        assert_eq!(outcomes(entries), ["", "", "", "", "dead", "1"]);
    }
}
