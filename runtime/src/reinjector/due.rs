//! When a record may go on (contract section 4). Pure: the clock is passed in.

use std::time::Duration;

/// A wait is looked at again after this long at the latest: a timer does not notice when the wall clock is put forward,
/// or when the machine was suspended.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// When the record at the head of a partition may go on, in Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    at: i64,
    tier: i64,
}

impl Due {
    /// Of a record that arrived at `arrived`: its timestamp and the delay of the topic that it lies on, but neither before
    /// it arrived nor later than one tier after. So the clock of a producer, or another unit, holds nothing up for
    /// longer. A record without a timestamp waits for a full tier.
    pub(super) fn of(timestamp: Option<i64>, tier: Duration, arrived: i64) -> Self {
        let tier = i64::try_from(tier.as_millis()).unwrap_or(i64::MAX);
        let latest = arrived.saturating_add(tier);
        let at = timestamp.map_or(latest, |timestamp| timestamp.saturating_add(tier));
        Self { at: at.min(latest), tier }
    }

    /// How long to sleep before looking again; `None` once it is due. A wall clock that was put back since does not
    /// lengthen the wait beyond one more tier.
    pub(super) fn sleep(&mut self, now: i64) -> Option<Duration> {
        self.at = self.at.min(now.saturating_add(self.tier));
        let left = u64::try_from(self.at.saturating_sub(now)).ok().filter(|left| *left > 0)?;
        Some(Duration::from_millis(left).min(LONGEST_SLEEP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000;
    const TIER: Duration = Duration::from_secs(5);

    /// How long a record of this timestamp waits from its arrival on.
    fn waits(timestamp: Option<i64>) -> Option<u128> {
        Due::of(timestamp, TIER, NOW).sleep(NOW).map(|sleep| sleep.as_millis())
    }

    #[test]
    fn due_is_the_timestamp_and_the_tier_but_never_more_than_a_tier_away() {
        let table = [
            // Written just now, a while ago, exactly a tier ago, a millisecond less, long ago.
            (Some(NOW), Some(5000)),
            (Some(NOW - 2000), Some(3000)),
            (Some(NOW - 5000), None),
            (Some(NOW - 4999), Some(1)),
            (Some(NOW - 86_400_000), None),
            (Some(0), None),
            // No timestamp.
            (None, Some(5000)),
            // A clock that is ahead, by a little and by a day.
            (Some(NOW + 1), Some(5000)),
            (Some(NOW + 86_400_000), Some(5000)),
            // Microseconds and nanoseconds written as milliseconds.
            (Some(NOW * 1000), Some(5000)),
            (Some(NOW * 1_000_000), Some(5000)),
            // What no producer should write.
            (Some(i64::MAX), Some(5000)),
            (Some(-1), None),
            (Some(i64::MIN), None),
        ];
        for (timestamp, expected) in table {
            assert_eq!(waits(timestamp), expected, "{timestamp:?}");
        }
    }

    #[test]
    fn no_clock_and_no_tier_overflows() {
        for arrived in [i64::MIN, -1, 0, i64::MAX] {
            for timestamp in [None, Some(i64::MIN), Some(0), Some(i64::MAX)] {
                for tier in [Duration::ZERO, TIER, Duration::MAX] {
                    for now in [i64::MIN, 0, i64::MAX] {
                        let slept = Due::of(timestamp, tier, arrived).sleep(now);
                        assert!(slept.is_none_or(|slept| slept <= LONGEST_SLEEP && !slept.is_zero()));
                    }
                }
            }
        }
    }

    #[test]
    fn it_is_not_due_a_millisecond_early() {
        let mut due = Due::of(Some(NOW), TIER, NOW);
        assert_eq!(due.sleep(NOW + 4999), Some(Duration::from_millis(1)));
        assert_eq!(due.sleep(NOW + 5000), None);
    }

    #[test]
    fn a_wall_clock_that_is_put_back_costs_one_tier_and_one_put_forward_is_noticed() {
        let mut due = Due::of(Some(NOW), TIER, NOW);
        let back = NOW - 3_600_000;
        assert_eq!(due.sleep(back), Some(TIER));
        assert_eq!(due.sleep(back + 5000), None);

        let mut long = Due::of(Some(NOW), Duration::from_secs(1800), NOW);
        assert_eq!(long.sleep(NOW), Some(LONGEST_SLEEP));
        assert_eq!(long.sleep(NOW + 1_800_000), None);
    }
}
