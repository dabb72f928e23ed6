//! What a test kit sees and changes of a connection (feature `testing`). Its settings carry it to all that is made of them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    error::KafkaError,
    record::{Batch, TopicPartition},
};

/// What a connection is watched and disturbed by.
pub(crate) struct Lab {
    pub(crate) faults: Faults,
    observer: Box<dyn Fn(Observed<'_>) + Send + Sync>,
}

/// Something that a connection has done.
pub(crate) enum Observed<'a> {
    /// A record was written; it is the only one of the batch.
    Written { at: TopicPartition, record: Batch },
    /// A delivery was processed. What becomes of it unless it was its end is told by the consumer's hooks.
    Processed { at: &'a TopicPartition, offset: i64, message_id: &'a str, attempts: u32, end: End },
}

/// Whether a record ended with its processing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Handled,
    Deleted,
    NotHandled,
}

impl Lab {
    pub(crate) fn new(observer: impl Fn(Observed<'_>) + Send + Sync + 'static) -> Self {
        Self { faults: Faults::default(), observer: Box::new(observer) }
    }

    pub(crate) fn observe(&self, observed: Observed<'_>) {
        (self.observer)(observed);
    }
}

/// Faults of writes, by topic.
#[derive(Default)]
pub(crate) struct Faults {
    topics: Mutex<HashMap<String, TopicFaults>>,
}

#[derive(Default)]
struct TopicFaults {
    /// Writes that go by before one fails, and why it does.
    failing: Vec<(u64, KafkaError)>,
    /// The longest value that the topic takes, and what it says of a longer one.
    limit: Option<(usize, KafkaError)>,
    /// How many hold the answers back.
    holders: usize,
    /// The answers that are held back.
    held: Vec<Answer>,
}

/// Tells whoever waits for it what became of a write.
pub(crate) type Answer = Box<dyn FnOnce() + Send>;

impl Faults {
    /// Lets the `nth` write to a topic from now on fail, counted from 1.
    pub(crate) fn fail(&self, topic: &str, nth: u64, error: KafkaError) {
        self.topics().entry(topic.to_owned()).or_default().failing.push((nth, error));
    }

    /// Lets each write fail whose value is longer.
    pub(crate) fn limit(&self, topic: &str, bytes: usize, error: KafkaError) {
        self.topics().entry(topic.to_owned()).or_default().limit = Some((bytes, error));
    }

    /// Holds the answers to writes back, until each who does has released them.
    pub(crate) fn hold(&self, topic: &str) {
        self.topics().entry(topic.to_owned()).or_default().holders += 1;
    }

    /// Gives the answers that were held back, in their order, and those to come at once.
    pub(crate) fn release(&self, topic: &str) {
        let held = self.topics().get_mut(topic).map(|faults| {
            faults.holders -= 1;
            if faults.holders == 0 { std::mem::take(&mut faults.held) } else { Vec::new() }
        });
        held.into_iter().flatten().for_each(|answer| answer());
    }

    /// Why this write is to fail, if it is.
    pub(crate) fn refuse(&self, topic: &str, value: Option<&[u8]>) -> Option<KafkaError> {
        let mut topics = self.topics();
        let faults = topics.get_mut(topic)?;
        faults.failing.iter_mut().for_each(|(left, _)| *left = left.saturating_sub(1));
        if let Some((_, error)) = faults.failing.extract_if(.., |(left, _)| *left == 0).last() {
            return Some(error);
        }
        let (longest, error) = faults.limit.as_ref()?;
        value.is_some_and(|value| value.len() > *longest).then(|| error.clone())
    }

    /// Gives the answer to a write, now or when it is released.
    pub(crate) fn answer(&self, topic: &str, answer: Answer) {
        if let Some(faults) = self.topics().get_mut(topic).filter(|faults| faults.holders > 0) {
            faults.held.push(answer);
            return;
        }
        answer();
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<String, TopicFaults>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::error::Class;

    fn error(code: &str) -> KafkaError {
        KafkaError::new(code, "", Class::Retriable)
    }

    #[test]
    fn each_planned_write_fails_once_and_no_other_does() {
        let faults = Faults::default();
        let write = |topic: &str| faults.refuse(topic, Some(b"12345")).map(|error| error.code().to_owned());
        assert_eq!(write("a"), None);
        faults.fail("a", 2, error("second"));
        faults.fail("a", 3, error("third"));
        faults.fail("a", 3, error("also the third"));
        assert_eq!([write("b"), write("a")], [None, None]);
        assert_eq!(write("a").as_deref(), Some("second"));
        assert_eq!(write("a").as_deref(), Some("also the third"));
        assert_eq!(write("a"), None);
        faults.limit("a", 5, error("too large"));
        assert_eq!([write("a"), write("b")], [None, None]);
        faults.limit("a", 4, error("too large"));
        assert_eq!([write("a"), write("a"), write("b")].map(|failed| failed.is_some()), [true, true, false]);
        assert!(faults.refuse("a", None).is_none());
    }

    #[test]
    fn answers_are_held_for_one_topic_until_all_who_do_release_them_and_given_in_their_order() {
        let faults = Faults::default();
        let given = Arc::new(Mutex::new(Vec::new()));
        let answer = |topic: &str, number: u32| {
            let given = Arc::clone(&given);
            faults.answer(topic, Box::new(move || given.lock().unwrap().push(number)));
        };
        faults.hold("a");
        faults.hold("a");
        [("a", 1), ("b", 2), ("a", 3)].into_iter().for_each(|(topic, number)| answer(topic, number));
        assert_eq!(*given.lock().unwrap(), [2]);
        faults.release("a");
        assert_eq!(*given.lock().unwrap(), [2]);
        faults.release("a");
        answer("a", 4);
        assert_eq!(*given.lock().unwrap(), [2, 1, 3, 4]);
    }
}
