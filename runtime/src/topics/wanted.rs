//! Retry topics and dead-letter topics as they should be. Pure.

use std::time::Duration;

use crate::{
    config::ConfigError,
    kafka::{Found, FoundTopics, NewTopic},
    retry_topics::RetryTopics,
};

pub(super) const TIMESTAMP: &str = "message.timestamp.type";
pub(super) const CLEANUP: &str = "cleanup.policy";
pub(super) const RETENTION: &str = "retention.ms";
pub(super) const RETENTION_BYTES: &str = "retention.bytes";
pub(super) const MAX_BYTES: &str = "max.message.bytes";
pub(super) const MIN_IN_SYNC: &str = "min.insync.replicas";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a record is kept on a retry topic after it was due: a reinjector may stand still for as long.
const RETRY_RETENTION: u32 = 7;
/// A dead letter waits for a person.
const DEAD_LETTER_RETENTION: u32 = 30;
/// What headers and counters of a hop, or the `dead_letter` block, may add to a record.
const HEADROOM: i64 = 64 * 1024;

/// What a topic is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Retry { tier: Duration },
    DeadLetters,
}

/// The retry topics, then the dead-letter topic.
pub(super) fn purposes(topics: &RetryTopics) -> Vec<(String, Purpose)> {
    let tiers = topics.all_tiers().map(|tier| (tier.topic, Purpose::Retry { tier: tier.delay }));
    let dead_letters = topics.dead_letter_topic_name().map(|topic| (topic.to_owned(), Purpose::DeadLetters));
    tiers.chain(dead_letters).collect()
}

/// What was asked for; the rest is as the work topic has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) partitions: Option<i32>,
    pub(super) replication: Option<i32>,
    pub(super) retention: Option<Duration>,
    pub(super) dead_letter_retention: Option<Duration>,
}

impl Asked {
    /// # Errors
    ///
    /// A number below one, a retention that is not longer than every tier, or one of no time.
    pub(super) fn validate(&self, topics: &RetryTopics) -> Result<(), ConfigError> {
        let refuse = |name, reason| Err(ConfigError::Setting { name, reason });
        if self.partitions.is_some_and(|partitions| partitions < 1) {
            return refuse("partitions", "has to be at least 1");
        }
        if self.replication.is_some_and(|replication| !(1..=i32::from(i16::MAX)).contains(&replication)) {
            return refuse("replication", "has to be at least 1, and not above 32767");
        }
        let longest = topics.all_tiers().map(|tier| tier.delay).max();
        if let (Some(retention), Some(longest)) = (self.retention, longest)
            && retention <= longest
        {
            return refuse("retention", "has to be longer than the longest tier");
        }
        if self.dead_letter_retention.is_some_and(|retention| retention.as_millis() == 0) {
            return refuse("dead_letter_retention", "has to be at least 1 ms");
        }
        topics.validate()
    }

    /// A topic of this purpose beside that work topic.
    pub(super) fn new_topic(&self, topic: &str, purpose: Purpose, work: Option<&Found>) -> NewTopic {
        let (partitions, replicas) = match work {
            Some(Found::There { partitions, replicas, .. }) => (Some(*partitions), Some(*replicas)),
            _ => (None, None),
        };
        let replication = self.replication.or(replicas);
        let retention = match purpose {
            Purpose::Retry { tier } => self.retention.unwrap_or(tier.saturating_add(DAY * RETRY_RETENTION)),
            Purpose::DeadLetters => self.dead_letter_retention.unwrap_or(DAY * DEAD_LETTER_RETENTION),
        };
        let mut settings = vec![
            (TIMESTAMP, "LogAppendTime".to_owned()),
            (CLEANUP, "delete".to_owned()),
            (RETENTION, millis(retention).to_string()),
            // A full topic must not delete what is not due.
            (RETENTION_BYTES, "-1".to_owned()),
        ];
        if let Some(largest) = setting(work, MAX_BYTES) {
            settings.push((MAX_BYTES, max_bytes(purpose, largest).to_string()));
        }
        if let (Some(in_sync), Some(replication)) = (setting(work, MIN_IN_SYNC), replication) {
            // Where they are more than the replicas, some brokers refuse every write.
            settings.push((MIN_IN_SYNC, in_sync.min(i64::from(replication)).to_string()));
        }
        NewTopic { topic: topic.to_owned(), partitions: self.partitions.or(partitions), replication, settings }
    }
}

/// Room for a record as large as the work topic takes it, and for what the hop adds.
pub(super) fn max_bytes(purpose: Purpose, largest: i64) -> i64 {
    let value = match purpose {
        Purpose::Retry { .. } => largest,
        // Poison that is not text is kept in base64, which is a third longer.
        Purpose::DeadLetters => largest.saturating_add(largest / 3),
    };
    // Brokers count in an i32.
    value.saturating_add(HEADROOM).min(i64::from(i32::MAX))
}

/// A setting that is a number, where it is known.
pub(super) fn setting(found: Option<&Found>, name: &str) -> Option<i64> {
    match found? {
        Found::There { settings: Ok(settings), .. } => settings.get(name)?.parse().ok(),
        _ => None,
    }
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The names of a work topic and of all that belongs to it.
pub(super) fn names(topics: &RetryTopics) -> Vec<String> {
    let others = purposes(topics).into_iter().map(|(topic, _)| topic);
    std::iter::once(topics.work_topic().to_owned()).chain(others).collect()
}

/// The work topic, where it was found.
pub(super) fn work<'a>(topics: &RetryTopics, found: &'a FoundTopics) -> Option<&'a Found> {
    found.get(topics.work_topic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> RetryTopics {
        RetryTopics::for_topic("orders").tiers([Duration::from_secs(5), Duration::from_secs(60)])
    }

    #[test]
    fn what_is_not_asked_for_is_as_the_work_topic_has_it() {
        let settings = [(MAX_BYTES, "3000"), (MIN_IN_SYNC, "2")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let work = Found::There { partitions: 6, replicas: 3, settings: Ok(settings.into()) };
        let topics: Vec<_> = purposes(&orders())
            .into_iter()
            .map(|(topic, purpose)| Asked::default().new_topic(&topic, purpose, Some(&work)))
            .collect();
        let expected = [
            ("orders.retry.1", "604805000", "68536"),
            ("orders.retry.2", "604860000", "68536"),
            ("orders.dlq", "2592000000", "69536"),
        ];
        assert_eq!(topics.len(), expected.len());
        for (topic, (name, retention, max_bytes)) in topics.iter().zip(expected) {
            assert_eq!((topic.topic.as_str(), topic.partitions, topic.replication), (name, Some(6), Some(3)));
            let settings = [
                (TIMESTAMP, "LogAppendTime"),
                (CLEANUP, "delete"),
                (RETENTION, retention),
                (RETENTION_BYTES, "-1"),
                (MAX_BYTES, max_bytes),
                (MIN_IN_SYNC, "2"),
            ];
            assert_eq!(topic.settings, settings.map(|(name, value)| (name, value.to_owned())), "{name}");
        }

        let asked = Asked {
            partitions: Some(2),
            replication: Some(1),
            retention: Some(Duration::from_secs(3600)),
            dead_letter_retention: Some(Duration::from_secs(7200)),
        };
        for (name, purpose) in purposes(&orders()) {
            let topic = asked.new_topic(&name, purpose, Some(&work));
            assert_eq!((topic.partitions, topic.replication), (Some(2), Some(1)));
            let retention = if purpose == Purpose::DeadLetters { "7200000" } else { "3600000" };
            assert!(topic.settings.contains(&(RETENTION, retention.to_owned())), "{topic:?}");
            // One replica cannot be two in sync.
            assert!(topic.settings.contains(&(MIN_IN_SYNC, "1".to_owned())), "{topic:?}");
        }
    }

    #[test]
    fn what_the_work_topic_does_not_tell_is_left_to_the_broker() {
        for work in [None, Some(&Found::Missing)] {
            let topic = Asked::default().new_topic("orders.dlq", Purpose::DeadLetters, work);
            assert_eq!((topic.partitions, topic.replication), (None, None));
            assert!(topic.settings.iter().all(|(name, _)| ![MAX_BYTES, MIN_IN_SYNC].contains(name)), "{topic:?}");
        }
    }

    #[test]
    fn a_size_limit_stays_within_what_a_broker_counts() {
        for purpose in [Purpose::DeadLetters, Purpose::Retry { tier: DAY }] {
            for largest in [i64::from(i32::MAX), i64::MAX] {
                assert_eq!(max_bytes(purpose, largest), i64::from(i32::MAX));
            }
        }
    }

    #[test]
    fn what_cannot_work_is_refused_before_anything_is_created() {
        let name = |asked: Asked| match asked.validate(&orders()) {
            Err(ConfigError::Setting { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(name(Asked { partitions: Some(0), ..Asked::default() }), "partitions");
        assert_eq!(name(Asked { replication: Some(0), ..Asked::default() }), "replication");
        assert_eq!(name(Asked { replication: Some(40_000), ..Asked::default() }), "replication");
        assert_eq!(name(Asked { retention: seconds(60), ..Asked::default() }), "retention");
        assert_eq!(name(Asked { dead_letter_retention: seconds(0), ..Asked::default() }), "dead_letter_retention");
        assert_eq!(Asked { retention: seconds(61), ..Asked::default() }.validate(&orders()), Ok(()));
        assert!(Asked::default().validate(&RetryTopics::for_topic("")).is_err());
    }
}
