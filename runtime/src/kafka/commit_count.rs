//! Counts what is finished since the last commit, for those who commit by count.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::waker::Waker;

/// Wakes the poll thread when so many records are finished that a commit is due.
#[derive(Debug)]
pub(super) struct CommitCount {
    every: u64,
    finished: AtomicU64,
    waker: Arc<Waker>,
}

impl CommitCount {
    pub(super) fn new(every: u64, waker: Arc<Waker>) -> Self {
        Self { every, finished: AtomicU64::new(0), waker }
    }

    /// So many records more can be committed.
    pub(super) fn add(&self, records: u64) {
        let before = self.finished.fetch_add(records, Ordering::AcqRel);
        if before < self.every && before + records >= self.every {
            self.waker.wake();
        }
    }

    /// Whether a commit is due; if so, counting begins anew.
    pub(super) fn take_due(&self) -> bool {
        let due = self.finished.load(Ordering::Acquire) >= self.every;
        if due {
            self.finished.store(0, Ordering::Release);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_due_once_for_as_many_records_as_were_asked_for() {
        let count = CommitCount::new(3, Arc::default());
        count.add(2);
        assert!(!count.take_due());
        count.add(2);
        assert!(count.take_due());
        assert!(!count.take_due());
    }
}
