//! How far one assignment of one partition has got. Pure: the watermark is derived from finished work alone.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use tokio::sync::Notify;

const NOTHING: i64 = -1;

/// The progress of one assignment. Another assignment of the same partition has one of its own, so a late result of an
/// earlier one counts nowhere.
///
/// Records of a partition are handled in the order of their delivery, so the watermark is the last finished record,
/// unless one before it still waits for the write that settles it. Offsets may have gaps.
#[derive(Debug)]
pub(crate) struct Progress {
    next: AtomicI64,
    /// The records that were passed and are not finished.
    unsettled: Mutex<BTreeSet<i64>>,
    running: AtomicI64,
    stopped: AtomicBool,
    stop: Notify,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            next: AtomicI64::new(NOTHING),
            unsettled: Mutex::default(),
            running: AtomicI64::new(NOTHING),
            stopped: AtomicBool::new(false),
            stop: Notify::new(),
        }
    }

    /// The record at this offset is being worked on.
    pub(crate) fn start(&self, offset: i64) {
        self.running.store(offset, Ordering::Relaxed);
    }

    /// The record at this offset, and all before it that are not unsettled, need not be seen again. The only place that
    /// adds the one.
    pub(crate) fn finish(&self, offset: i64) {
        self.next.store(offset + 1, Ordering::Release);
        self.running.store(NOTHING, Ordering::Relaxed);
    }

    /// Goes on behind the record at this offset, which is finished only by [`Progress::settle`].
    pub(crate) fn pass(&self, offset: i64) {
        // First, so that no reader sees it as finished.
        self.unsettled().insert(offset);
        self.finish(offset);
    }

    /// A record that was passed is finished.
    pub(crate) fn settle(&self, offset: i64) {
        self.unsettled().remove(&offset);
    }

    fn unsettled(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The offset to commit: the lowest one that is not finished. `None` before the first finished record.
    pub(crate) fn committable(&self) -> Option<i64> {
        // In this order: what is passed later is unsettled by the time that it counts here.
        let next = self.next.load(Ordering::Acquire);
        let unsettled = self.unsettled().first().copied();
        (next != NOTHING).then(|| unsettled.map_or(next, |offset| offset.min(next)))
    }

    /// The records that were started and are not finished.
    pub(crate) fn unfinished(&self) -> Vec<i64> {
        let running = self.running.load(Ordering::Relaxed);
        self.unsettled().iter().copied().chain((running != NOTHING).then_some(running)).collect()
    }

    /// No further record of this assignment may be started.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.stop.notify_waiters();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Waits for [`Progress::stop`].
    pub(crate) async fn stopped(&self) {
        let stop = self.stop.notified();
        if !self.is_stopped() {
            stop.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finished_records_are_committable() {
        let progress = Progress::new();
        assert_eq!(progress.committable(), None);
        progress.start(41);
        assert_eq!((progress.committable(), progress.unfinished()), (None, vec![41]));
        progress.finish(41);
        assert_eq!((progress.committable(), progress.unfinished()), (Some(42), vec![]));
    }

    #[test]
    fn gaps_between_offsets_do_not_hold_the_watermark() {
        let progress = Progress::new();
        for offset in [0, 1, 5, 6] {
            progress.start(offset);
            progress.finish(offset);
        }
        assert_eq!(progress.committable(), Some(7));
    }

    #[test]
    fn a_result_of_an_earlier_assignment_counts_nowhere() {
        let (earlier, present) = (Progress::new(), Progress::new());
        earlier.start(50);
        earlier.stop();
        earlier.finish(50);
        assert_eq!(present.committable(), None);
        assert!(earlier.is_stopped() && !present.is_stopped());
    }

    #[test]
    fn an_unsettled_record_holds_the_watermark_until_it_is_settled() {
        let progress = Progress::new();
        progress.finish(4);
        progress.pass(5);
        progress.pass(8);
        progress.finish(9);
        assert_eq!(progress.committable(), Some(5));
        progress.settle(8);
        assert_eq!(progress.committable(), Some(5));
        progress.settle(5);
        assert_eq!(progress.committable(), Some(10));
    }

    #[test]
    fn a_record_that_was_passed_first_is_not_committed() {
        let progress = Progress::new();
        progress.pass(7);
        assert_eq!(progress.committable(), Some(7));
        progress.settle(7);
        assert_eq!(progress.committable(), Some(8));
    }

    #[tokio::test]
    async fn stopping_wakes_who_waits_for_it_before_and_after() {
        let progress = Progress::new();
        let waiting = progress.stopped();
        let mut waiting = std::pin::pin!(waiting);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        progress.stop();
        waiting.await;
        progress.stopped().await;
    }
}
