//! Deadlines that cannot overflow, and the wall clock in the contract's unit, which a test may put forward.

#[cfg(feature = "testing")]
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[cfg(feature = "testing")]
use tokio::sync::watch;

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

/// The wall clock of a connection: the system's, or one that a test puts forward (feature `testing`).
#[derive(Clone, Default)]
pub(crate) struct Clock {
    /// How far it is ahead of the system's.
    #[cfg(feature = "testing")]
    ahead: Option<Arc<watch::Sender<Duration>>>,
}

impl Clock {
    /// Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.of(now_ms())
    }

    /// What it shows when the system's clock shows this.
    pub(crate) fn of(&self, system_ms: i64) -> i64 {
        #[cfg(feature = "testing")]
        if let Some(ahead) = &self.ahead {
            return system_ms.saturating_add(i64::try_from(ahead.borrow().as_millis()).unwrap_or(i64::MAX));
        }
        system_ms
    }

    /// The timestamp of a record that is written now; `None` leaves it to the client, which looks at the system's clock.
    pub(crate) fn stamp(&self) -> Option<i64> {
        #[cfg(feature = "testing")]
        if self.ahead.is_some() {
            return Some(self.now_ms());
        }
        None
    }

    /// What it shows now, and a timer that begins with it.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            // Before the look, so that no move in between is missed.
            #[cfg(feature = "testing")]
            moved: self.ahead.as_ref().map(|ahead| ahead.subscribe()),
            ms: self.now_ms(),
        }
    }
}

#[cfg(feature = "testing")]
impl Clock {
    /// One that can be put forward, and with it its clones.
    pub(crate) fn movable() -> Self {
        Self { ahead: Some(Arc::new(watch::Sender::new(Duration::ZERO))) }
    }

    /// Puts it forward, and wakes whoever waits for it.
    pub(crate) fn advance(&self, by: Duration) {
        if let Some(ahead) = &self.ahead {
            ahead.send_modify(|ahead| *ahead = ahead.saturating_add(by));
        }
    }
}

/// A look at a clock.
pub(crate) struct Moment {
    /// Unix milliseconds.
    pub(crate) ms: i64,
    #[cfg(feature = "testing")]
    moved: Option<watch::Receiver<Duration>>,
}

impl Moment {
    /// Waits so long, or until the clock is put forward.
    pub(crate) async fn wait(self, duration: Duration) {
        let timer = tokio::time::sleep(duration);
        #[cfg(feature = "testing")]
        if let Some(mut moved) = self.moved {
            tokio::select! {
                () = timer => {}
                Ok(()) = moved.changed() => {}
            }
            return;
        }
        timer.await;
    }
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
    #[test]
    fn the_systems_clock_is_not_moved_and_stamps_nothing() {
        let clock = Clock::default();
        assert_eq!((clock.of(7), clock.stamp()), (7, None));
    }

    #[cfg(feature = "testing")]
    #[test]
    fn a_clock_that_was_put_forward_never_overflows() {
        let clock = Clock::movable();
        let seen = clock.clone();
        clock.advance(Duration::from_millis(5));
        assert_eq!(seen.of(7), 12);
        assert!(seen.stamp().is_some());
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert_eq!((seen.of(7), seen.of(i64::MIN)), (i64::MAX, -1));
    }

    #[cfg(feature = "testing")]
    #[tokio::test]
    async fn a_move_between_the_look_and_the_wait_is_not_missed() {
        let clock = Clock::movable();
        let moment = clock.moment();
        clock.advance(Duration::from_secs(3600));
        // Would take an hour.
        moment.wait(Duration::from_secs(3600)).await;
    }
}
