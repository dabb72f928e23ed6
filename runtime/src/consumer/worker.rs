//! The records of one assigned partition: each is processed, then settled.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use tokio::sync::Semaphore;

use super::{
    Cause, CommitPolicy, ProcessingOrder, in_batches, pool::Pool, process::Processor, settlement::Settlement,
    side_by_side::SideBySide,
};
use crate::{
    delivery::Delivery,
    kafka::{Batches, Progress},
    record::Batch,
};

/// How long what a partition has begun may take once a record has stopped its consumer.
const LAST_WORK: Duration = Duration::from_secs(5);

pub(super) struct Worker {
    pub(super) order: ProcessingOrder,
    pub(super) commit_policy: CommitPolicy,
    /// How long a batch waits to fill, where there are handlers of batches.
    pub(super) batch_wait: Option<Duration>,
    pub(super) processor: Arc<Processor>,
    pub(super) pool: Arc<Pool>,
    /// A permit for each handler that may run in the consumer.
    pub(super) handlers: Arc<Semaphore>,
    /// Bytes of the records that are under way side by side, in all partitions.
    pub(super) bytes_side_by_side: Arc<AtomicUsize>,
    pub(super) batches: Batches,
    pub(super) settlement: Settlement,
}

impl Worker {
    /// Works until the assignment ends, or returns why it had to stop.
    pub(super) async fn run(mut self) -> Option<Cause> {
        let mut side_by_side = SideBySide::new(self.order, Arc::clone(&self.bytes_side_by_side));
        let stopped = match self.order {
            ProcessingOrder::Partition => match self.batch_wait {
                Some(wait) => in_batches::work(&mut self, wait).await,
                None => self.one_by_one().await,
            },
            ProcessingOrder::Key | ProcessingOrder::Unordered => side_by_side.work(&mut self).await,
        };
        let last = async {
            side_by_side.finish(&mut self.settlement).await;
            self.settlement.finished().await;
        };
        match stopped {
            None => last.await,
            // What cannot be finished soon is left uncommitted, and delivered again.
            Some(_) => drop(tokio::time::timeout(LAST_WORK, last).await),
        }
        // A failure of an assignment that has ended is left to the partition's next owner.
        stopped.filter(|_| !self.progress().is_stopped())
    }

    async fn one_by_one(&mut self) -> Option<Cause> {
        let progress = Arc::clone(self.progress());
        loop {
            let batch = tokio::select! {
                batch = self.batches.next() => Arc::new(batch?),
                error = self.settlement.client_ended() => return Some(Cause::Kafka(error)),
            };
            progress.begin(&batch);
            let mut delivery = self.delivery(&batch, 0);
            while let Some(record) = batch.get(delivery.index) {
                let permit = tokio::select! {
                    biased;
                    () = progress.stopped() => return None,
                    permit = self.handlers.acquire() => permit,
                };
                let ticket = progress.take_and_start(record.offset);
                let outcome = self.processor.process(&record, &mut delivery).await;
                drop(permit);
                if let Some(stopped) = self.settlement.settle(&delivery, ticket, &outcome).await {
                    return Some(Cause::Record(stopped));
                }
                let stopped = self.committed(record.offset).await;
                if stopped.is_some() {
                    return stopped;
                }
                delivery.index += 1;
            }
        }
    }

    /// Waits for the commit of a record, where the next one begins after that.
    pub(super) async fn committed(&mut self, offset: i64) -> Option<Cause> {
        if self.commit_policy != CommitPolicy::EachRecord {
            return None;
        }
        let progress = Arc::clone(self.progress());
        tokio::select! {
            () = progress.committed(offset) => None,
            () = progress.stopped() => None,
            error = self.settlement.client_ended() => Some(Cause::Kafka(error)),
        }
    }

    pub(super) fn progress(&self) -> &Arc<Progress> {
        &self.settlement.assignment.progress
    }

    pub(super) fn delivery(&self, batch: &Arc<Batch>, index: usize) -> Delivery {
        Delivery::new(&self.settlement.assignment, batch, index)
    }
}
