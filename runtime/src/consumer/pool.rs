//! The tasks that process records of one partition side by side. They live as long as its assignment, so that a record
//! takes no task of its own.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    },
    task::JoinSet,
};

use super::process::Processor;
use crate::{
    delivery::Delivery, envelope::Poison, kafka::Ticket, member::ended_or_panicked, record::Batch, settle::Outcome,
};

/// Records that are taken back at one time, at most.
const MANY: usize = 256;

/// Processes records, each in the task that is free first.
pub(super) struct Pool {
    processor: Arc<Processor>,
    queue: Arc<Queue>,
    /// One more when all of them are at work.
    tasks: JoinSet<()>,
    /// Records that were begun and are not done.
    at_work: usize,
    report: UnboundedSender<Done>,
    done: UnboundedReceiver<Done>,
}

/// What was begun and no task has yet.
struct Queue {
    records: Mutex<VecDeque<Begun>>,
    /// A permit for each of them.
    filled: Semaphore,
}

/// A record that was taken.
pub(super) struct Job {
    pub(super) batch: Arc<Batch>,
    pub(super) index: usize,
    pub(super) ticket: Ticket,
    /// The hash of its key, where records of one key are handled one after another.
    pub(super) key: Option<u64>,
}

/// A record to be processed.
struct Begun {
    job: Job,
    delivery: Delivery,
    /// To run a handler.
    permit: OwnedSemaphorePermit,
}

/// A record that was processed.
pub(super) struct Done {
    pub(super) job: Job,
    pub(super) delivery: Delivery,
    pub(super) outcome: Outcome,
}

impl Pool {
    pub(super) fn new(processor: Arc<Processor>) -> Self {
        let (report, done) = unbounded_channel();
        let queue = Queue { records: Mutex::default(), filled: Semaphore::new(0) };
        Self { processor, queue: Arc::new(queue), tasks: JoinSet::new(), at_work: 0, report, done }
    }

    /// Has a record processed; `permit` is given back when its handler has ended.
    pub(super) fn begin(&mut self, job: Job, delivery: Delivery, permit: OwnedSemaphorePermit) {
        self.at_work += 1;
        if self.at_work > self.tasks.len() {
            self.tasks.spawn(work(Arc::clone(&self.processor), Arc::clone(&self.queue), self.report.clone()));
        }
        self.queue.push(Begun { job, delivery, permit });
    }

    pub(super) fn is_idle(&self) -> bool {
        self.at_work == 0
    }

    /// Waits for records that are done. May be dropped while it waits.
    pub(super) async fn next(&mut self, into: &mut Vec<Done>) {
        tokio::select! {
            biased;
            count = self.done.recv_many(into, MANY) => self.at_work -= count,
            // A task ends before the pool only by a panic.
            Some(ended) = self.tasks.join_next() => drop(ended_or_panicked(ended)),
        }
    }
}

impl Queue {
    fn push(&self, begun: Begun) {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push_back(begun);
        self.filled.add_permits(1);
    }

    async fn next(&self) -> Option<Begun> {
        // It is never closed.
        self.filled.acquire().await.ok()?.forget();
        self.records.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Processes one record after another.
async fn work(processor: Arc<Processor>, queue: Arc<Queue>, report: UnboundedSender<Done>) {
    while let Some(Begun { job, mut delivery, permit }) = queue.next().await {
        let outcome = match job.batch.get(job.index) {
            Some(record) => processor.process(&record, &mut delivery).await,
            // Not so: it was looked at when it was taken.
            None => Outcome::Poison(Poison::NoValue),
        };
        drop(permit);
        // A pool that is gone has aborted this task.
        let _ = report.send(Done { job, delivery, outcome });
    }
}
