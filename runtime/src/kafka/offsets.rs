//! How far one assignment of one partition has got. Pure: the watermark is derived from finished work alone.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

const NOTHING: i64 = -1;

/// The progress of one assignment. Another assignment of the same partition has one of its own, so a late result of an
/// earlier one counts nowhere.
///
/// Records of a partition are handled in the order of their delivery, so the watermark is the last finished record;
/// offsets may have gaps.
#[derive(Debug)]
pub(crate) struct Progress {
    next: AtomicI64,
    records: AtomicU64,
    bytes: AtomicU64,
    running: AtomicI64,
    stopped: AtomicBool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            next: AtomicI64::new(NOTHING),
            records: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            running: AtomicI64::new(NOTHING),
            stopped: AtomicBool::new(false),
        }
    }

    /// The record at this offset is being worked on.
    pub(crate) fn start(&self, offset: i64) {
        self.running.store(offset, Ordering::Relaxed);
    }

    /// The record at this offset, and all before it, need not be seen again. The only place that adds the one.
    pub(crate) fn finish(&self, offset: i64) {
        self.next.store(offset + 1, Ordering::Release);
        self.running.store(NOTHING, Ordering::Relaxed);
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// A batch of this many bytes was let go.
    pub(crate) fn release(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The offset to commit: one behind the last finished record. `None` before the first one.
    pub(crate) fn committable(&self) -> Option<i64> {
        let next = self.next.load(Ordering::Acquire);
        (next != NOTHING).then_some(next)
    }

    /// The record that is being worked on.
    pub(crate) fn running(&self) -> Option<i64> {
        let running = self.running.load(Ordering::Relaxed);
        (running != NOTHING).then_some(running)
    }

    /// Records finished.
    pub(crate) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Bytes let go.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// No further record of this assignment may be started.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
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
        assert_eq!((progress.committable(), progress.running()), (None, Some(41)));
        progress.finish(41);
        assert_eq!((progress.committable(), progress.running()), (Some(42), None));
    }

    #[test]
    fn gaps_between_offsets_do_not_hold_the_watermark() {
        let progress = Progress::new();
        for offset in [0, 1, 5, 6] {
            progress.start(offset);
            progress.finish(offset);
        }
        assert_eq!((progress.committable(), progress.records()), (Some(7), 4));
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
}
