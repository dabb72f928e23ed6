//! What is to become of each record: known to the members that handle it and to the judge, by the seed alone.

use std::time::Duration;

use babelqueue::{ProcessingOrder, babel_job};
use serde::{Deserialize, Serialize};

/// Keys of the records of one topic, by the remainder of their numbers.
pub(crate) const KEYS: u64 = 100;
/// Partitions of each work topic.
pub(crate) const PARTITIONS: i32 = 4;
/// The delays of the retry topics.
pub(crate) const TIERS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];
/// Deliveries of a record before it is a dead letter, the first one included.
pub(crate) const TRIES: u32 = 3;

/// So many of the records that come at the end are handled slowly.
const SLOW: u64 = 4000;

/// A record of the run.
#[babel_job("urn:babel:chaos:numbered")]
#[derive(Serialize, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
}

/// The order in which a topic is handled; each has a topic and a group of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Partition,
    Key,
    Unordered,
}

impl Order {
    pub(crate) const ALL: [Self; 3] = [Self::Partition, Self::Key, Self::Unordered];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Partition => "partition",
            Self::Key => "key",
            Self::Unordered => "unordered",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    pub(crate) fn processing(self) -> ProcessingOrder {
        match self {
            Self::Partition => ProcessingOrder::Partition,
            Self::Key => ProcessingOrder::Key,
            Self::Unordered => ProcessingOrder::Unordered,
        }
    }
}

/// How often a record fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    Never,
    /// Fewer times than it is tried.
    Times(u32),
    Always,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The first number of what comes at the end, all at once: many of its first handlers take long, so that more waits than
    /// the members take in, and they pause their partitions.
    pub(crate) crowd: u64,
}

impl Plan {
    /// 1 % fail once, 0.5 % twice, 0.1 % always.
    pub(crate) fn fails(self, number: u64) -> Fails {
        match self.draw(number) % 1000 {
            0..10 => Fails::Times(1),
            10..15 => Fails::Times(2),
            15 => Fails::Always,
            _ => Fails::Never,
        }
    }

    /// Whether the delivery after so many failures fails.
    pub(crate) fn fails_now(self, number: u64, attempts: u32) -> bool {
        match self.fails(number) {
            Fails::Never => false,
            Fails::Times(times) => attempts < times,
            Fails::Always => true,
        }
    }

    /// How long its handler takes: mostly no time, now and then very long.
    pub(crate) fn pause(self, number: u64, attempts: u32) -> Duration {
        let drawn = self.draw(number ^ (1 << 40) ^ (u64::from(attempts) << 41));
        if number.checked_sub(self.crowd).is_some_and(|behind| behind < SLOW) {
            return if drawn.is_multiple_of(10) { Duration::from_millis(250) } else { Duration::ZERO };
        }
        match drawn % 1000 {
            0..3 => Duration::from_millis(200),
            3..150 => Duration::from_millis(1 + drawn / 1000 % 5),
            _ => Duration::ZERO,
        }
    }

    /// A number that differs with every bit of the seed and of the number (Steele's `SplitMix`).
    fn draw(self, number: u64) -> u64 {
        let mut bits = self.seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_every_fate_about_as_often_as_it_says() {
        let plan = Plan { seed: 7, crowd: u64::MAX };
        let count = |fate: fn(Fails) -> bool| (0..100_000).filter(|number| fate(plan.fails(*number))).count();
        assert!((800..1200).contains(&count(|fails| fails == Fails::Times(1))));
        assert!((350..650).contains(&count(|fails| fails == Fails::Times(2))));
        assert!((50..150).contains(&count(|fails| fails == Fails::Always)));
        let slow = (0..100_000).filter(|number| plan.pause(*number, 0).as_millis() == 200).count();
        assert!((200..400).contains(&slow), "{slow}");
    }

    #[test]
    fn a_record_that_fails_twice_succeeds_within_its_tries() {
        let plan = Plan { seed: 1, crowd: u64::MAX };
        let twice = (0..10_000).find(|number| plan.fails(*number) == Fails::Times(2)).unwrap();
        assert_eq!([0, 1, 2].map(|attempts| plan.fails_now(twice, attempts)), [true, true, false]);
        assert_eq!(TRIES, 3);
    }
}
