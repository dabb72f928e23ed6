//! The retry topics and the dead-letter topic of a work topic: names, tiers, and which tier a record waits on (contract
//! section 4). Pure.

use std::time::Duration;

use crate::config::ConfigError;

/// The tiers that the contract recommends: 5 s, 30 s, 5 min, 30 min.
pub const RECOMMENDED_TIERS: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(300), Duration::from_secs(1800)];

/// Where the records of one work topic go when they are not handled: the retry topics `<topic>.retry.1`, `.2`, … with
/// ascending delays, and the dead-letter topic `<topic>.dlq` (contract section 4).
///
/// Every service of a work topic, whatever its language, has to know the same tiers: a consumer and a publisher write to
/// them, and the [`Reinjector`](crate::Reinjector) moves records back when their tier's delay is over.
///
/// ```
/// use std::time::Duration;
///
/// use babelqueue::RetryTopics;
///
/// let orders = RetryTopics::for_topic("orders").recommended_tiers();
/// assert_eq!(orders.retry_topic_names(), ["orders.retry.1", "orders.retry.2", "orders.retry.3", "orders.retry.4"]);
/// assert_eq!(orders.dead_letter_topic_name(), Some("orders.dlq"));
///
/// let mails = RetryTopics::for_topic("mails")
///     .tiers([Duration::from_secs(1), Duration::from_secs(60)])
///     .dead_letter_topic("undelivered-mails");
/// # let _ = mails;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "give it to a consumer, a publisher or a reinjector"]
pub struct RetryTopics {
    work: String,
    tiers: Vec<Duration>,
    dead_letters: Option<String>,
}

/// One tier: the topic that a record waits on, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tier {
    pub(crate) topic: String,
    pub(crate) delay: Duration,
}

/// Why no tier holds a record back as long as was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DelayError {
    /// The work topic has no retry topics, or none that this publisher or consumer was told of.
    #[error("`{topic}` has no retry topics here, so nothing can be delayed: name its tiers with `retry_topics(…)`")]
    NoTiers {
        /// The work topic.
        topic: String,
    },
    /// Longer than the longest tier; a shorter delay is never taken instead.
    #[error("a delay of {asked:?} is longer than the longest tier of `{topic}`, {longest:?}")]
    TooLong {
        /// The work topic.
        topic: String,
        /// The delay that was asked for.
        asked: Duration,
        /// The delay of the last tier.
        longest: Duration,
    },
}

impl RetryTopics {
    /// Those of a work topic: no tiers yet, and the dead-letter topic `<topic>.dlq`.
    pub fn for_topic(topic: impl Into<String>) -> Self {
        let work = topic.into();
        let dead_letters = Some(format!("{work}{DEAD_LETTERS}"));
        Self { work, tiers: Vec::new(), dead_letters }
    }

    /// The [`RECOMMENDED_TIERS`].
    pub fn recommended_tiers(self) -> Self {
        self.tiers(RECOMMENDED_TIERS)
    }

    /// These tiers, in whole milliseconds, ascending. Whoever takes them refuses a tier of zero, or one that is not longer
    /// than the one before it.
    pub fn tiers(mut self, delays: impl IntoIterator<Item = Duration>) -> Self {
        self.tiers = delays.into_iter().collect();
        self
    }

    /// Another name for the dead-letter topic.
    pub fn dead_letter_topic(mut self, topic: impl Into<String>) -> Self {
        self.dead_letters = Some(topic.into());
        self
    }

    /// No dead-letter topic: what would go there is reported and let go by (contract section 3). For work that is
    /// worthless when it is late.
    pub fn without_dead_letters(mut self) -> Self {
        self.dead_letters = None;
        self
    }

    /// The work topic.
    #[must_use]
    pub fn work_topic(&self) -> &str {
        &self.work
    }

    /// The names of the retry topics, by tier.
    #[must_use]
    pub fn retry_topic_names(&self) -> Vec<String> {
        (1..=self.tiers.len()).map(|number| name(&self.work, number)).collect()
    }

    /// The name of the dead-letter topic, unless it is switched off.
    #[must_use]
    pub fn dead_letter_topic_name(&self) -> Option<&str> {
        self.dead_letters.as_deref()
    }

    /// The tiers, in order.
    pub(crate) fn all_tiers(&self) -> impl Iterator<Item = Tier> + '_ {
        (0..self.tiers.len()).filter_map(|index| self.tier(index))
    }

    fn tier(&self, index: usize) -> Option<Tier> {
        Some(Tier { topic: name(&self.work, index + 1), delay: *self.tiers.get(index)? })
    }

    /// Whether a record may be written to this topic.
    pub(crate) fn writes_to(&self, topic: &str) -> bool {
        self.dead_letter_topic_name() == Some(topic) || self.all_tiers().any(|tier| tier.topic == topic)
    }

    pub(crate) fn has_tiers(&self) -> bool {
        !self.tiers.is_empty()
    }

    /// The tier of a record with so many earlier failures; it stays on the last one. `None` without tiers.
    pub(crate) fn tier_after(&self, attempts: i64) -> Option<Tier> {
        let index = usize::try_from(attempts.max(0)).unwrap_or(usize::MAX);
        self.tier(index.min(self.tiers.len().checked_sub(1)?))
    }

    /// The shortest tier that is at least as long as the delay.
    ///
    /// # Errors
    ///
    /// No tier is as long.
    pub(crate) fn tier_for(&self, delay: Duration) -> Result<Tier, DelayError> {
        let longest = *self.tiers.last().ok_or_else(|| DelayError::NoTiers { topic: self.work.clone() })?;
        let index = self.tiers.iter().position(|tier| *tier >= delay);
        index.and_then(|index| self.tier(index)).ok_or(DelayError::TooLong {
            topic: self.work.clone(),
            asked: delay,
            longest,
        })
    }

    /// Refuses what cannot work of several, and two for one work topic.
    pub(crate) fn validate_all(all: &[Self]) -> Result<(), ConfigError> {
        for (index, topics) in all.iter().enumerate() {
            topics.validate()?;
            if all.iter().take(index).any(|other| other.work == topics.work) {
                return Err(ConfigError::RetryTopics { topic: topics.work.clone(), reason: "they are given twice" });
            }
        }
        Ok(())
    }

    /// Refuses what cannot work, before anything starts.
    ///
    /// # Errors
    ///
    /// A tier is not in whole milliseconds above zero and longer than the one before it, or a name is used twice.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |reason| Err(ConfigError::RetryTopics { topic: self.work.clone(), reason });
        if !is_topic_name(&self.work) {
            return refuse("Kafka takes no topic of that name");
        }
        if work_topic_of(&self.work).is_some() {
            return refuse("it is itself a retry topic");
        }
        if self.work.ends_with(DEAD_LETTERS) {
            return refuse("it is itself a dead-letter topic, whose consumer neither retries nor dead-letters");
        }
        let mut before = Duration::ZERO;
        for tier in &self.tiers {
            if tier.subsec_nanos() % 1_000_000 != 0 || *tier > MAX_TIER {
                return refuse("a tier is in whole milliseconds, and not longer than a year");
            }
            if *tier <= before {
                return refuse("each tier has to be longer than the one before it, and the first than zero");
            }
            before = *tier;
        }
        match self.dead_letter_topic_name() {
            Some(dlq) if !is_topic_name(dlq) => {
                refuse("Kafka takes no topic of the dead-letter topic's name; `without_dead_letters` has none")
            }
            Some(dlq) if dlq == self.work => refuse("the dead-letter topic is the work topic"),
            Some(dlq) if self.retry_topic_names().iter().any(|name| name == dlq) => {
                refuse("the dead-letter topic is one of its retry topics")
            }
            _ => Ok(()),
        }
    }
}

/// What the name of a dead-letter topic ends with, unless it was given another.
const DEAD_LETTERS: &str = ".dlq";

const MAX_TIER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The retry topic of tier `number`, counted from 1.
fn name(work: &str, number: usize) -> String {
    format!("{work}.retry.{number}")
}

/// Whether Kafka can have a topic of this name: 1 to 249 of `[a-zA-Z0-9._-]`, not `.` or `..`.
pub(crate) fn is_topic_name(name: &str) -> bool {
    let taken = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=249).contains(&name.len()) && name.bytes().all(taken) && !matches!(name, "." | "..")
}

/// The work topic in the name of a retry topic.
pub(crate) fn work_topic_of(retry: &str) -> Option<&str> {
    let (work, number) = retry.rsplit_once(".retry.")?;
    (!work.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(tiers: &[u64]) -> RetryTopics {
        RetryTopics::for_topic("orders").tiers(tiers.iter().copied().map(Duration::from_secs))
    }

    #[test]
    fn the_nth_failure_waits_on_the_nth_tier_and_stays_on_the_last() {
        let topics = seconds(&[1, 60]);
        let waits = |attempts| topics.tier_after(attempts).map(|tier| (tier.topic, tier.delay.as_secs()));
        assert_eq!(waits(0), Some(("orders.retry.1".to_owned(), 1)));
        for attempts in [1, 2, 99, i64::MAX] {
            assert_eq!(waits(attempts), Some(("orders.retry.2".to_owned(), 60)), "{attempts}");
        }
        assert_eq!(waits(i64::MIN), waits(0));
        assert_eq!(seconds(&[]).tier_after(0), None);
    }

    #[test]
    fn a_delay_takes_the_shortest_tier_that_is_as_long_and_is_never_cut() {
        let topics = seconds(&[5, 30]);
        let waits = |ms| topics.tier_for(Duration::from_millis(ms)).map(|tier| tier.delay.as_secs());
        assert_eq!([waits(1), waits(5000), waits(5001), waits(30_000)], [Ok(5), Ok(5), Ok(30), Ok(30)]);
        assert!(matches!(waits(30_001), Err(DelayError::TooLong { .. })));
        assert!(matches!(seconds(&[]).tier_for(Duration::ZERO), Err(DelayError::NoTiers { .. })));
    }

    #[test]
    fn tiers_that_do_not_ascend_and_names_used_twice_are_refused() {
        for tiers in [&[0][..], &[5, 5], &[30, 5], &[366 * 24 * 60 * 60]] {
            assert!(seconds(tiers).validate().is_err(), "{tiers:?}");
        }
        assert!(RetryTopics::for_topic("orders").tiers([Duration::from_micros(1500)]).validate().is_err());
        assert!(seconds(&[5, 30]).validate().is_ok());
        assert!(seconds(&[5]).dead_letter_topic("orders.retry.1").validate().is_err());
        assert!(seconds(&[5]).dead_letter_topic("orders").validate().is_err());
        assert!(seconds(&[5]).dead_letter_topic("").validate().is_err());
        assert!(RetryTopics::for_topic("").validate().is_err());
        assert!(RetryTopics::for_topic("orders.retry.1").validate().is_err());
        assert!(RetryTopics::for_topic("orders.dlq").validate().is_err());
        assert!(RetryTopics::for_topic("orders").without_dead_letters().validate().is_ok());
    }

    #[test]
    fn a_retry_topic_names_its_work_topic() {
        assert_eq!(work_topic_of("orders.retry.1"), Some("orders"));
        assert_eq!(work_topic_of("a.retry.1.retry.12"), Some("a.retry.1"));
        for other in ["orders", "orders.retry.", "orders.retry.x", ".retry.1", "orders.retry.+1"] {
            assert_eq!(work_topic_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_names_that_kafka_takes_are_topic_names() {
        for name in ["orders", "a", "Orders_1.retry.2-x", "...", &"a".repeat(249)] {
            assert!(is_topic_name(name), "{name}");
        }
        for name in ["", ".", "..", "a b", "a\0", "ö", "a/b", &"a".repeat(250)] {
            assert!(!is_topic_name(name), "{name}");
        }
    }
}
