//! Records of one partition that are handled at the same time: any of them, or those with different keys.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{
    OwnedSemaphorePermit,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use super::{
    Cause, ProcessingOrder,
    pool::{Begun, Done, Job},
    settlement::Settlement,
    worker::Worker,
};
use crate::{kafka::Progress, record::Batch};

/// Records from the first unfinished one on, at most; that many are handled again after a crash. One batch more is taken.
const SPAN: usize = 16_384;
/// Bytes of the batches of a partition whose records are under way, at most; one batch more is taken.
const BYTES: usize = 8 * 1024 * 1024;
/// The same for all partitions together; a batch a partition is taken in any case.
const ALL_BYTES: usize = 64 * 1024 * 1024;
/// Records that are settled at one time, at most.
const MANY: usize = 256;

/// What is under way in a partition.
pub(super) struct SideBySide {
    by_key: bool,
    batches: Vec<Arc<Batch>>,
    /// Bytes of those, as they were last counted.
    bytes: usize,
    /// The same of all partitions.
    all_bytes: Arc<AtomicUsize>,
    /// The records that may begin, in their order.
    ready: VecDeque<Job>,
    /// How many have begun and are not settled.
    running: usize,
    report: UnboundedSender<Done>,
    reports: UnboundedReceiver<Done>,
    /// Those that are to be settled.
    done: Vec<Done>,
    /// The keys at work, by their hash, each with the records that wait for their turn. Keys of one hash count as one.
    keys: HashMap<u64, VecDeque<Job>>,
    hasher: RandomState,
}

impl Drop for SideBySide {
    fn drop(&mut self) {
        self.count(0);
    }
}

impl SideBySide {
    pub(super) fn new(order: ProcessingOrder, all_bytes: Arc<AtomicUsize>) -> Self {
        let (report, reports) = unbounded_channel();
        Self {
            by_key: order == ProcessingOrder::Key,
            batches: Vec::new(),
            bytes: 0,
            all_bytes,
            ready: VecDeque::new(),
            running: 0,
            report,
            reports,
            done: Vec::new(),
            keys: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// Works until the assignment ends, or returns why the consumer has to stop.
    pub(super) async fn work(&mut self, worker: &mut Worker) -> Option<Cause> {
        let progress = Arc::clone(worker.progress());
        loop {
            let wants_more = self.ready.is_empty() && self.has_room(&progress);
            tokio::select! {
                biased;
                () = progress.stopped() => return None,
                // Before what there may always be more of.
                error = worker.settlement.client_ended() => return Some(Cause::Kafka(error)),
                // The semaphore is never closed.
                Ok(permit) = Arc::clone(&worker.handlers).acquire_owned(), if !self.ready.is_empty() => {
                    self.begin(worker, permit);
                    while !self.ready.is_empty() && let Ok(permit) = Arc::clone(&worker.handlers).try_acquire_owned() {
                        self.begin(worker, permit);
                    }
                }
                _ = self.reports.recv_many(&mut self.done, MANY) => {
                    let stopped = self.settle(&mut worker.settlement).await;
                    if stopped.is_some() {
                        return stopped;
                    }
                }
                batch = worker.batches.next(), if wants_more => self.take(&Arc::new(batch?), worker),
            }
        }
    }

    /// Waits for what is running, and begins nothing further.
    pub(super) async fn finish(&mut self, settlement: &mut Settlement) {
        while self.running > 0 {
            self.reports.recv_many(&mut self.done, MANY).await;
            // There is a cause to stop already, or the assignment has ended.
            let _ = self.settle(settlement).await;
        }
    }

    fn has_room(&mut self, progress: &Progress) -> bool {
        self.batches.retain(|batch| Arc::strong_count(batch) > 1);
        let bytes = self.batches.iter().map(|batch| batch.size()).sum();
        let all = self.count(bytes);
        bytes == 0 || (bytes <= BYTES && all <= ALL_BYTES && progress.span() <= SPAN)
    }

    /// Counts so many bytes in place of those before, and returns how many there are in all partitions.
    fn count(&mut self, bytes: usize) -> usize {
        self.all_bytes.fetch_add(bytes, Ordering::Relaxed);
        let all = self.all_bytes.fetch_sub(self.bytes, Ordering::Relaxed) - self.bytes;
        self.bytes = bytes;
        all
    }

    /// Takes the records of a batch: each is ready, or waits for those of its key.
    fn take(&mut self, batch: &Arc<Batch>, worker: &Worker) {
        worker.progress().begin(batch);
        for (index, record) in (0..batch.len()).filter_map(|index| Some((index, batch.get(index)?))) {
            let job = Job {
                batch: Arc::clone(batch),
                index,
                ticket: worker.progress().take(record.offset),
                key: record.key.filter(|_| self.by_key).map(|key| self.hasher.hash_one(key)),
            };
            match job.key.map(|key| (key, self.keys.get_mut(&key))) {
                Some((_, Some(waiting))) => waiting.push_back(job),
                Some((key, None)) => {
                    self.keys.insert(key, VecDeque::new());
                    self.ready.push_back(job);
                }
                None => self.ready.push_back(job),
            }
        }
        self.batches.push(Arc::clone(batch));
    }

    /// Begins with the first record that is ready.
    fn begin(&mut self, worker: &Worker, permit: OwnedSemaphorePermit) {
        let Some(job) = self.ready.pop_front() else { return };
        worker.progress().start(job.ticket);
        let delivery = worker.delivery(&job.batch, job.index);
        self.running += 1;
        worker.pool.begin(Begun { job, delivery, permit, report: self.report.clone() });
    }

    /// Settles the records that are done; then the next one of the key of each is ready.
    async fn settle(&mut self, settlement: &mut Settlement) -> Option<Cause> {
        let mut stopped = None;
        for Done { job, delivery, outcome } in self.done.drain(..) {
            self.running -= 1;
            let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
            // Those behind a record that stops the consumer were processed all the same.
            stopped = stopped.or(settlement.settle(&delivery, job.ticket, &outcome).await);
            let Some(key) = job.key else { continue };
            match self.keys.get_mut(&key).and_then(VecDeque::pop_front) {
                Some(next) => self.ready.push_back(next),
                None => drop(self.keys.remove(&key)),
            }
        }
        stopped.map(Cause::Record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_in_all_partitions_is_counted_until_each_of_them_goes() {
        let all = Arc::<AtomicUsize>::default();
        let [mut one, mut other] = [(); 2].map(|()| SideBySide::new(ProcessingOrder::Key, Arc::clone(&all)));
        assert_eq!((one.count(100), other.count(20), one.count(50)), (100, 120, 70));
        drop(one);
        assert_eq!(other.count(20), 20);
    }
}
