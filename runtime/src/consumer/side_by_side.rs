//! Records of one partition that are handled at the same time: any of them, or those with different keys.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    pin::pin,
    sync::Arc,
};

use tokio::{sync::OwnedSemaphorePermit, task::JoinSet};

use super::{Cause, ProcessingOrder, process::Processor, settlement::Settlement, worker::Worker};
use crate::{
    handler::Delivery,
    kafka::Ticket,
    member::ended_or_panicked,
    record::{Batch, Record},
    settle::Outcome,
};

/// Records from the first unfinished one on, at most; that many are handled again after a crash.
const SPAN: usize = 16_384;
/// Bytes of the batches whose records are under way, at most; one batch more than that is taken.
const BYTES: usize = 8 * 1024 * 1024;

/// What is under way in a partition.
pub(super) struct SideBySide {
    by_key: bool,
    running: JoinSet<Done>,
    /// The keys at work, by their hash, each with the records that wait for their turn. Keys of one hash count as one.
    keys: HashMap<u64, VecDeque<Job>>,
    hasher: RandomState,
    batches: Vec<Arc<Batch>>,
    /// Nothing further is begun.
    ending: bool,
}

/// A record that was taken.
struct Job {
    delivery: Delivery,
    ticket: Ticket,
    key: Option<u64>,
}

/// A record that was processed.
struct Done {
    job: Job,
    outcome: Outcome,
    permit: OwnedSemaphorePermit,
}

/// Why nothing further is taken: a cause for all to end, or the end of the assignment.
type Ended = Option<Cause>;

impl SideBySide {
    pub(super) fn new(order: ProcessingOrder) -> Self {
        Self {
            by_key: order == ProcessingOrder::Key,
            running: JoinSet::new(),
            keys: HashMap::new(),
            hasher: RandomState::new(),
            batches: Vec::new(),
            ending: false,
        }
    }

    /// Works until the assignment ends, or a record or the sending client ends the consumer.
    pub(super) async fn work(&mut self, worker: &mut Worker) -> Ended {
        loop {
            let has_room = self.has_room(&worker.settlement);
            let batch = tokio::select! {
                Some(done) = self.running.join_next() => {
                    if let Err(ended) = self.settle(ended_or_panicked(done), worker).await {
                        return ended;
                    }
                    continue;
                }
                batch = worker.batches.next(), if has_room => Arc::new(batch?),
                error = worker.settlement.client_ended() => return Some(Cause::Kafka(error)),
            };
            self.batches.push(Arc::clone(&batch));
            for index in 0..batch.len() {
                let Some(record) = batch.get(index) else { break };
                let delivery = worker.delivery(&batch, index);
                if let Err(ended) = self.take(&record, delivery, worker).await {
                    return ended;
                }
            }
        }
    }

    /// Waits for what is running, and begins nothing further.
    pub(super) async fn finish(&mut self, worker: &mut Worker) {
        self.ending = true;
        while let Some(done) = self.running.join_next().await {
            // There is a cause already, or the assignment has ended.
            let _ = self.settle(ended_or_panicked(done), worker).await;
        }
    }

    fn has_room(&mut self, settlement: &Settlement) -> bool {
        self.batches.retain(|batch| Arc::strong_count(batch) > 1);
        let bytes: usize = self.batches.iter().map(|batch| batch.size()).sum();
        bytes <= BYTES && settlement.progress.span() <= SPAN
    }

    /// Begins to work on a record, or has it wait for those of its key.
    async fn take(&mut self, record: &Record<'_>, delivery: Delivery, worker: &mut Worker) -> Result<(), Ended> {
        if worker.settlement.progress.is_stopped() {
            return Err(None);
        }
        let ticket = worker.settlement.progress.take(record.offset);
        let key = record.key.filter(|_| self.by_key).map(|key| self.hasher.hash_one(key));
        let job = Job { delivery, ticket, key };
        if let Some(waiting) = key.and_then(|key| self.keys.get_mut(&key)) {
            waiting.push_back(job);
            return Ok(());
        }
        if let Some(key) = key {
            self.keys.insert(key, VecDeque::new());
        }
        let permit = self.permit(worker).await?;
        self.begin(job, permit, &worker.processor);
        Ok(())
    }

    /// Waits until one more handler of the consumer may run.
    async fn permit(&mut self, worker: &mut Worker) -> Result<OwnedSemaphorePermit, Ended> {
        let progress = Arc::clone(&worker.settlement.progress);
        let mut permit = pin!(Arc::clone(&worker.handlers).acquire_owned());
        loop {
            tokio::select! {
                biased;
                () = progress.stopped() => return Err(None),
                // The semaphore is never closed.
                permit = &mut permit => return permit.map_err(|_| None),
                Some(done) = self.running.join_next() => self.settle(ended_or_panicked(done), worker).await?,
                error = worker.settlement.client_ended() => return Err(Some(Cause::Kafka(error))),
            }
        }
    }

    fn begin(&mut self, mut job: Job, permit: OwnedSemaphorePermit, processor: &Arc<Processor>) {
        let processor = Arc::clone(processor);
        self.running.spawn(async move {
            let outcome = processor.process(&mut job.delivery).await;
            Done { job, outcome, permit }
        });
    }

    /// Settles a record, and begins with the next one of its key.
    async fn settle(&mut self, done: Option<Done>, worker: &mut Worker) -> Result<(), Ended> {
        let Some(Done { job: Job { delivery, ticket, key }, outcome, permit }) = done else { return Ok(()) };
        if let Some(stopped) = worker.settlement.settle(&delivery, ticket, &outcome).await {
            return Err(Some(Cause::Record(stopped)));
        }
        let Some(key) = key else { return Ok(()) };
        match self.keys.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(next) if !self.ending && !worker.settlement.progress.is_stopped() => {
                self.begin(next, permit, &worker.processor);
            }
            _ => drop(self.keys.remove(&key)),
        }
        Ok(())
    }
}
