//! How fast records are redriven: evenly, without waiting busily.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How much of the time that passed unused may be caught up: timers are coarser than the distance of two records.
const CATCH_UP: Duration = Duration::from_millis(50);

/// A rate that several workers share.
#[derive(Debug)]
pub(super) struct Pace {
    distance: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(super) fn per_second(records: u32) -> Self {
        Self { distance: Duration::from_secs(1) / records.max(1), next: Mutex::new(Instant::now()) }
    }

    /// Waits for a turn of its own. A turn that is not waited for is lost.
    pub(super) async fn turn(&self) {
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let turn = (*next).max(now.checked_sub(CATCH_UP).unwrap_or(now));
            *next = turn + self.distance;
            turn
        };
        tokio::time::sleep_until(turn).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_are_as_far_apart_as_the_rate_says_for_all_together() {
        let pace = Pace::per_second(10);
        let start = Instant::now();
        for _ in 0..10 {
            futures_util::join!(pace.turn(), pace.turn());
        }
        let taken = start.elapsed();
        assert!((Duration::from_millis(1840)..Duration::from_millis(1960)).contains(&taken), "{taken:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_finer_than_the_timer_is_reached() {
        let pace = Pace::per_second(100_000);
        let start = Instant::now();
        for _ in 0..100_000 {
            pace.turn().await;
        }
        let taken = start.elapsed();
        assert!((Duration::from_millis(900)..Duration::from_millis(1100)).contains(&taken), "{taken:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_not_caught_up() {
        let pace = Pace::per_second(10);
        tokio::time::sleep(Duration::from_secs(60)).await;
        let start = Instant::now();
        for _ in 0..11 {
            pace.turn().await;
        }
        assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
    }
}
