//! The tasks that process records side by side, for all partitions of a consumer. They live as long as it, so that a record
//! takes no task of its own.

use std::{
    any::Any,
    collections::VecDeque,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::FutureExt as _;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc::UnboundedSender},
    task::JoinSet,
};

use super::process::Processor;
use crate::{
    delivery::Delivery, envelope::Poison, handler::HandlerError, kafka::Ticket, record::Batch, settle::Outcome,
};

/// Processes records, each in the task that is free first. There are as many as were at work at one time.
pub(super) struct Pool {
    processor: Arc<Processor>,
    queue: Arc<Queue>,
    /// They end with the pool, whatever they do.
    tasks: Mutex<JoinSet<()>>,
}

/// What was begun and no task has yet.
struct Queue {
    records: Mutex<VecDeque<Begun>>,
    /// A permit for each of them.
    filled: Semaphore,
    /// Records that were begun and are not done.
    at_work: AtomicUsize,
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
pub(super) struct Begun {
    pub(super) job: Job,
    pub(super) delivery: Delivery,
    /// To run a handler; given back when it has ended.
    pub(super) permit: OwnedSemaphorePermit,
    /// Is told.
    pub(super) report: UnboundedSender<Done>,
}

/// A record that was processed.
pub(super) struct Done {
    pub(super) job: Job,
    pub(super) delivery: Delivery,
    /// Or a panic that is no handler's.
    pub(super) outcome: Result<Outcome, Box<dyn Any + Send>>,
}

impl Pool {
    pub(super) fn new(processor: Arc<Processor>) -> Self {
        let queue = Queue { records: Mutex::default(), filled: Semaphore::new(0), at_work: AtomicUsize::new(0) };
        Self { processor, queue: Arc::new(queue), tasks: Mutex::default() }
    }

    /// Has a record processed.
    pub(super) fn begin(&self, begun: Begun) {
        let at_work = self.queue.at_work.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.queue.records).push_back(begun);
        self.queue.filled.add_permits(1);
        let mut tasks = lock(&self.tasks);
        if at_work > tasks.len() {
            tasks.spawn(work(Arc::clone(&self.processor), Arc::clone(&self.queue)));
        }
    }
}

impl Queue {
    async fn next(&self) -> Option<Begun> {
        // It is never closed.
        self.filled.acquire().await.ok()?.forget();
        lock(&self.records).pop_front()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Processes one record after another.
async fn work(processor: Arc<Processor>, queue: Arc<Queue>) {
    while let Some(Begun { job, mut delivery, permit, report }) = queue.next().await {
        let outcome = match job.batch.get(job.index) {
            // Settling leaves it to the next owner of its partition.
            _ if delivery.is_cancelled() => Ok(Outcome::Failed(HandlerError::new("its partition has gone"))),
            Some(record) => AssertUnwindSafe(processor.process(&record, &mut delivery)).catch_unwind().await,
            // Not so: it was looked at when it was taken.
            None => Ok(Outcome::Poison(Poison::NoValue)),
        };
        drop(permit);
        queue.at_work.fetch_sub(1, Ordering::Relaxed);
        // Where its worker is gone, the partition has another owner.
        let _ = report.send(Done { job, delivery, outcome });
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::{
        client::Kafka, delivery::Assignment, kafka::Progress, record::TopicPartition, router::Routes,
        settle::UnknownUrn,
    };

    /// What becomes of a record without a value.
    async fn outcome_of(progress: Progress) -> Outcome {
        let processor = Processor {
            routes: Arc::new(Routes::new([])),
            idempotency: None,
            unknown_urn: UnknownUrn::default(),
            counts: Arc::default(),
        };
        let mut batch = Batch::with_capacity(0, 1);
        batch.push(0, None, None, None, |_| {});
        let batch = Arc::new(batch);
        let job = Job { batch: Arc::clone(&batch), index: 0, ticket: progress.take_and_start(0), key: None };
        let assignment = Assignment {
            kafka: Kafka::connect("localhost:9092").unwrap(),
            retry_topics: Arc::new([]),
            partition: TopicPartition { topic: "orders".into(), partition: 0 },
            progress: Arc::new(progress),
        };
        let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        let (report, mut reports) = unbounded_channel();
        let pool = Pool::new(Arc::new(processor));
        pool.begin(Begun { job, delivery: Delivery::new(&Arc::new(assignment), &batch, 0), permit, report });
        reports.recv().await.unwrap().outcome.unwrap()
    }

    #[tokio::test]
    async fn a_record_of_a_partition_that_has_gone_is_not_looked_at() {
        let progress = Progress::new();
        assert!(matches!(outcome_of(progress).await, Outcome::Poison(Poison::NoValue)));
        let progress = Progress::new();
        progress.stop();
        assert!(matches!(outcome_of(progress).await, Outcome::Failed(_)));
    }
}
