//! How far one assignment of one partition has got. Pure: the watermark is derived from finished work alone.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Instant,
};

use tokio::sync::Notify;

use super::commit_count::CommitCount;
use crate::{
    envelope::{self, Verdict},
    headers::Projection,
    record::Batch,
};

/// The progress of one assignment. Another assignment of the same partition has one of its own, so a late result of an
/// earlier one counts nowhere.
///
/// Records may finish in any order. The watermark is behind the last record before which, in the order of delivery,
/// everything is finished. Offsets may have gaps.
#[derive(Debug)]
pub(crate) struct Progress {
    taken: Mutex<Taken>,
    /// Is told when the last record at work has finished, if somebody waits for that.
    idle: Condvar,
    stopped: AtomicBool,
    stop: Notify,
    /// Whether results count no more.
    closed: AtomicBool,
    /// Told of what can be committed, where that is done by count.
    count: Option<Arc<CommitCount>>,
    /// The offset that the broker has last acknowledged.
    committed: AtomicI64,
    commit: Notify,
}

/// Stands for a record that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

/// The first record that is not finished, or the last finished one whose commit is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) ticket: u64,
    pub(super) offset: i64,
}

/// A queue that keeps its room: no allocation a record.
#[derive(Debug, Default)]
struct Taken {
    /// The records from the first unfinished one on, in the order of their delivery.
    records: VecDeque<Taking>,
    /// How many there were before those.
    before: u64,
    /// Behind the last one of those before.
    watermark: Option<i64>,
    /// How many wait to be started.
    waiting: usize,
    /// How many are started and not finished.
    at_work: usize,
    idle_awaited: bool,
    /// The last finished record, while somebody waits for its commit.
    uncommitted: Option<i64>,
    /// Where the records are, for whoever asks what one of them is.
    batches: VecDeque<Weak<Batch>>,
}

#[derive(Debug)]
struct Taking {
    offset: i64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Started,
    /// Its handler has given up.
    Left,
    Finished,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            taken: Mutex::default(),
            idle: Condvar::new(),
            stopped: AtomicBool::new(false),
            stop: Notify::new(),
            closed: AtomicBool::new(false),
            count: None,
            committed: AtomicI64::new(-1),
            commit: Notify::new(),
        }
    }

    /// Tells of what can be committed.
    pub(super) fn counted_by(self, count: Option<Arc<CommitCount>>) -> Self {
        Self { count, ..self }
    }

    /// The records that are taken next are those of this batch.
    pub(crate) fn begin(&self, batch: &Arc<Batch>) {
        let batches = &mut self.taken().batches;
        while batches.front().is_some_and(|batch| batch.strong_count() == 0) {
            batches.pop_front();
        }
        batches.push_back(Arc::downgrade(batch));
    }

    /// The record at this offset, the next one in the order of delivery, waits to be worked on.
    pub(crate) fn take(&self, offset: i64) -> Ticket {
        self.taken().push(offset, State::Waiting)
    }

    /// A record that was taken is being worked on.
    pub(crate) fn start(&self, ticket: Ticket) {
        self.taken().set(ticket, State::Started);
    }

    /// As [`Progress::take`] and [`Progress::start`].
    pub(crate) fn take_and_start(&self, offset: i64) -> Ticket {
        self.taken().push(offset, State::Started)
    }

    /// A record that was taken need not be seen again.
    pub(crate) fn finish(&self, ticket: Ticket) {
        let mut taken = self.end(ticket, State::Finished);
        let before = taken.before;
        while let Some(Taking { offset, state: State::Finished }) = taken.records.front() {
            let offset = *offset;
            taken.finish_through(offset);
            taken.records.pop_front();
            taken.before += 1;
        }
        if let Some(count) = &self.count {
            count.add(taken.before - before);
        }
    }

    /// A record that was started is left to the next owner of the partition.
    pub(crate) fn leave(&self, ticket: Ticket) {
        drop(self.end(ticket, State::Left));
    }

    fn end(&self, ticket: Ticket, state: State) -> MutexGuard<'_, Taken> {
        let mut taken = self.taken();
        taken.set(ticket, state);
        if taken.at_work == 0 && taken.idle_awaited {
            self.idle.notify_all();
        }
        taken
    }

    /// Blocks until no record is at work, at most until then.
    pub(crate) fn wait_until_idle(&self, deadline: Instant) {
        let mut taken = self.taken();
        while taken.at_work > 0 {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            taken.idle_awaited = true;
            taken = self.idle.wait_timeout(taken, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// No record up to this one need be seen again; for those whose records finish in order, and who take none.
    pub(crate) fn finish_through(&self, offset: i64) {
        self.taken().finish_through(offset);
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The offset to commit: the lowest one that is not finished. `None` before the first record that counts.
    pub(crate) fn committable(&self) -> Option<i64> {
        self.taken().watermark
    }

    /// The record that the partition waits for: the first one that is not finished, of those that were taken, or the last
    /// one while its commit is waited for.
    pub(super) fn front(&self) -> Option<Front> {
        let taken = self.taken();
        let unfinished = taken.records.front().map(|taking| Front { ticket: taken.before, offset: taking.offset });
        unfinished.or_else(|| Some(Front { ticket: taken.before.checked_sub(1)?, offset: taken.uncommitted? }))
    }

    /// How many of the records that came so far are not started.
    pub(super) fn not_started(&self, came: u64) -> u64 {
        let taken = self.taken();
        came.saturating_sub(taken.before + taken.records.len() as u64) + taken.waiting as u64
    }

    /// How many records are started and not finished.
    pub(super) fn at_work(&self) -> usize {
        self.taken().at_work
    }

    /// The URN of the record at this offset, if it is at hand and names one.
    pub(super) fn urn_at(&self, offset: i64) -> Option<String> {
        let batches: Vec<_> = self.taken().batches.iter().filter_map(Weak::upgrade).collect();
        let record = batches.iter().find_map(|batch| batch.at(offset))?;
        let of_body = || match envelope::decode(record.value?) {
            Verdict::Ok(envelope) => Some(envelope.urn().to_owned()),
            _ => None,
        };
        Projection::read(record.headers).job.map(str::to_owned).or_else(of_body)
    }

    /// The records that were started and are not finished.
    pub(crate) fn unfinished(&self) -> Vec<i64> {
        let taken = self.taken();
        let unfinished = |taking: &&Taking| matches!(taking.state, State::Started | State::Left);
        taken.records.iter().filter(unfinished).map(|taking| taking.offset).collect()
    }

    /// The broker has acknowledged this offset.
    pub(super) fn acknowledge(&self, offset: i64) {
        self.committed.fetch_max(offset, Ordering::AcqRel);
        self.commit.notify_waiters();
    }

    /// Waits until the broker has acknowledged that the record at this offset need not be seen again.
    pub(crate) async fn committed(&self, offset: i64) {
        self.taken().uncommitted = Some(offset);
        loop {
            let commit = self.commit.notified();
            if self.committed.load(Ordering::Acquire) > offset {
                break;
            }
            commit.await;
        }
        self.taken().uncommitted = None;
    }

    /// How many records there are from the first unfinished one on.
    pub(crate) fn span(&self) -> usize {
        self.taken().records.len()
    }

    /// No further record of this assignment may be started.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.stop.notify_waiters();
    }

    /// The assignment has ended, and its last commit with it: no result counts any more.
    pub(super) fn close(&self) {
        self.stop();
        self.closed.store(true, Ordering::Release);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
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

impl Taken {
    fn push(&mut self, offset: i64, state: State) -> Ticket {
        self.records.push_back(Taking { offset, state });
        self.waiting += usize::from(state == State::Waiting);
        self.at_work += usize::from(state == State::Started);
        Ticket(self.before + self.records.len() as u64 - 1)
    }

    fn set(&mut self, Ticket(number): Ticket, state: State) {
        let index = number.checked_sub(self.before).and_then(|index| usize::try_from(index).ok());
        if let Some(taking) = index.and_then(|index| self.records.get_mut(index)) {
            self.waiting -= usize::from(taking.state == State::Waiting);
            self.at_work -= usize::from(taking.state == State::Started);
            self.at_work += usize::from(state == State::Started);
            taking.state = state;
        }
    }

    /// The only place that adds the one.
    fn finish_through(&mut self, offset: i64) {
        self.watermark = Some(offset + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finished_records_are_committable() {
        let progress = Progress::new();
        assert_eq!(progress.committable(), None);
        let ticket = progress.take_and_start(41);
        assert_eq!((progress.committable(), progress.unfinished()), (None, vec![41]));
        progress.finish(ticket);
        assert_eq!((progress.committable(), progress.unfinished()), (Some(42), vec![]));
    }

    #[test]
    fn gaps_between_offsets_do_not_hold_the_watermark() {
        let progress = Progress::new();
        for offset in [0, 1, 5, 6] {
            progress.finish(progress.take_and_start(offset));
        }
        assert_eq!(progress.committable(), Some(7));
    }

    #[test]
    fn an_unfinished_record_holds_the_watermark_whatever_finishes_behind_it() {
        let progress = Progress::new();
        let [first, second, third, fourth] = [4, 5, 8, 9].map(|offset| progress.take_and_start(offset));
        progress.finish(first);
        progress.finish(fourth);
        progress.finish(third);
        assert_eq!((progress.committable(), progress.unfinished(), progress.span()), (Some(5), vec![5], 3));
        progress.finish(second);
        assert_eq!((progress.committable(), progress.span()), (Some(10), 0));
    }

    #[test]
    fn a_record_that_finishes_twice_counts_once() {
        let progress = Progress::new();
        let (first, second) = (progress.take_and_start(0), progress.take_and_start(1));
        progress.finish(first);
        progress.finish(first);
        assert_eq!((progress.committable(), progress.unfinished()), (Some(1), vec![1]));
        progress.finish(second);
        assert_eq!(progress.committable(), Some(2));
    }

    #[test]
    fn a_record_that_only_waits_holds_the_watermark_and_is_not_told_as_unfinished() {
        let progress = Progress::new();
        let (waiting, started) = (progress.take(0), progress.take(1));
        progress.start(started);
        progress.finish(started);
        assert_eq!((progress.committable(), progress.unfinished(), progress.span()), (None, vec![], 2));
        assert_eq!(progress.not_started(5), 4);
        progress.start(waiting);
        assert_eq!(progress.not_started(5), 3);
        assert_eq!(progress.unfinished(), [0]);
        progress.finish(waiting);
        assert_eq!((progress.committable(), progress.span()), (Some(2), 0));
    }

    #[test]
    fn a_record_that_is_left_is_unfinished_and_keeps_nobody_waiting() {
        let progress = Progress::new();
        let [first, second] = [0, 1].map(|offset| progress.take_and_start(offset));
        progress.leave(first);
        progress.finish(second);
        assert_eq!((progress.committable(), progress.unfinished(), progress.at_work()), (None, vec![0], 0));
        progress.wait_until_idle(Instant::now());
    }

    #[tokio::test]
    async fn a_finished_record_holds_up_its_partition_as_long_as_its_commit_is_waited_for() {
        let progress = Progress::new();
        let ticket = progress.take_and_start(5);
        let working = progress.front();
        progress.finish(ticket);
        assert_eq!(progress.front(), None);
        let mut committed = std::pin::pin!(progress.committed(5));
        assert!(futures_util::poll!(&mut committed).is_pending());
        assert_eq!((progress.front(), working), (Some(Front { ticket: 0, offset: 5 }), progress.front()));
        progress.acknowledge(6);
        committed.await;
        assert_eq!(progress.front(), None);
        progress.take_and_start(6);
        assert_eq!(progress.front(), Some(Front { ticket: 1, offset: 6 }));
    }

    #[test]
    fn the_watermark_goes_back_with_a_partition_that_begins_anew() {
        let progress = Progress::new();
        progress.finish(progress.take_and_start(100));
        progress.finish(progress.take_and_start(0));
        assert_eq!(progress.committable(), Some(1));
    }

    #[test]
    fn records_that_finish_in_order_need_not_be_taken() {
        let progress = Progress::new();
        progress.finish_through(7);
        assert_eq!((progress.committable(), progress.span()), (Some(8), 0));
    }

    #[test]
    fn the_watermark_is_that_of_a_model_in_any_order_of_finishing() {
        use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
        for seed in 0..200 {
            let mut random = StdRng::seed_from_u64(seed);
            let (progress, mut offset, mut open, mut model) = (Progress::new(), 0, Vec::new(), Vec::new());
            for _ in 0..300 {
                if random.random_bool(0.5) {
                    offset += random.random_range(1..4);
                    open.push((progress.take_and_start(offset), offset));
                    model.push((offset, false));
                } else {
                    open.shuffle(&mut random);
                    let Some((ticket, offset)) = open.pop() else { continue };
                    progress.finish(ticket);
                    model.iter_mut().filter(|(taken, _)| *taken == offset).for_each(|(_, finished)| *finished = true);
                }
                let expected = model.iter().take_while(|(_, finished)| *finished).last().map(|(offset, _)| offset + 1);
                assert_eq!(progress.committable(), expected, "seed {seed}");
            }
        }
    }

    #[test]
    fn a_result_of_an_earlier_assignment_counts_nowhere() {
        let (earlier, present) = (Progress::new(), Progress::new());
        let ticket = earlier.take_and_start(50);
        earlier.stop();
        earlier.finish(ticket);
        assert_eq!(present.committable(), None);
        assert!(earlier.is_stopped() && !present.is_stopped());
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
