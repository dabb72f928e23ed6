//! Deadlines that cannot overflow, and the wall clock in the contract's unit.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The moment after which waiting has taken `timeout`; a year ahead at most.
pub(crate) fn deadline(timeout: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + timeout.min(YEAR)
}

/// Unix milliseconds.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Whole milliseconds, rounded up: nothing is due before its time.
pub(crate) fn whole_ms(delay: Duration) -> u64 {
    u64::try_from(delay.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timeout_is_too_long_for_a_deadline() {
        assert!(deadline(Duration::MAX) > Instant::now());
        assert!(deadline(Duration::ZERO) <= Instant::now());
    }

    #[test]
    fn a_part_of_a_millisecond_counts_as_a_whole_one() {
        assert_eq!(whole_ms(Duration::from_millis(5000)), 5000);
        assert_eq!(whole_ms(Duration::from_nanos(1)), 1);
        assert_eq!(whole_ms(Duration::MAX), u64::MAX);
    }
}
