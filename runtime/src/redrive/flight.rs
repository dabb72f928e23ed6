//! The writes of one partition that are on their way: acknowledged and finished in the order in which they were sent.

use std::{mem, pin::pin, sync::Arc};

use super::{
    Shared,
    report::{RedriveReport, Skipped, WriteFailure},
};
use crate::{
    error::KafkaError,
    kafka::{Landed, OutgoingRecord, Pipeline, Progress, SendError, Sink},
    record::{Batch, Record, TopicPartition},
};

/// A record that is written, and where it was read.
struct Write {
    batch: Arc<Batch>,
    index: usize,
    offset: i64,
    topic: String,
    /// `None` when it is redriven.
    skipped: Option<Skipped>,
}

/// Nothing is finished behind a record that is not.
pub(super) struct Flight<'a> {
    shared: &'a Shared,
    partition: &'a TopicPartition,
    progress: &'a Progress,
    pipeline: Pipeline<'a, Write>,
    /// What was done and is not in the report yet.
    done: RedriveReport,
    /// The first write that failed.
    failure: Option<WriteFailure>,
    /// A record is not finished, so nothing behind it is.
    blocked: bool,
}

impl<'a> Flight<'a> {
    pub(super) fn new(
        sink: &'a Sink,
        shared: &'a Shared,
        partition: &'a TopicPartition,
        progress: &'a Progress,
    ) -> Self {
        Self {
            shared,
            partition,
            progress,
            pipeline: Pipeline::new(sink),
            done: RedriveReport::default(),
            failure: None,
            blocked: false,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Sends a record of a batch: onwards, or back to the dead-letter topic as it is. Not when a write before it fails.
    pub(super) async fn send(&mut self, batch: &Arc<Batch>, index: usize, next: Result<OutgoingRecord, Skipped>) {
        let Some(record) = batch.get(index) else { return };
        let size = record.size();
        while let Some(landed) = self.pipeline.in_the_way(size).await {
            self.settle(landed).await;
        }
        if self.has_failed() {
            return;
        }
        let (next, skipped) = match next {
            Ok(next) => (next, None),
            Err(skipped) => (self.as_it_is(&record), Some(skipped)),
        };
        let topic = next.topic().to_owned();
        let write = Write { batch: Arc::clone(batch), index, offset: record.offset, topic, skipped };
        self.done.read += 1;
        self.pipeline.push(next, size, write).await;
    }

    /// Waits for something else while what is on its way lands; `None` when a write has failed.
    pub(super) async fn land_while<T>(&mut self, other: impl Future<Output = T>) -> Option<T> {
        let mut other = pin!(other);
        while !self.has_failed() {
            tokio::select! {
                biased;
                done = &mut other => return Some(done),
                landed = self.pipeline.land() => self.settle(landed).await,
            }
        }
        None
    }

    /// Waits for all that is on its way; returns the first write that failed.
    pub(super) async fn land(mut self) -> Option<WriteFailure> {
        while !self.pipeline.is_empty() {
            let landed = self.pipeline.land().await;
            self.settle(landed).await;
        }
        self.failure
    }

    async fn settle(&mut self, landed: Vec<Landed<Write>>) {
        for Landed { write, mut result } in landed {
            if let Err(failed) = result {
                // In a batch that was too large each record fails, also one that fits.
                let again = failed.error.is_too_large() || failed.error.is_unconfirmed();
                result = if again { self.pipeline.sink().send(*failed.record).await } else { Err(failed) };
            }
            match result {
                Ok(()) => {
                    match write.skipped {
                        Some(skipped) => self.done.add_skipped(skipped),
                        None => self.done.add_redriven(&write.topic),
                    }
                    self.finish(write.offset);
                }
                Err(SendError { error, .. }) => self.fail(write, error).await,
            }
        }
        self.shared.report().add(mem::take(&mut self.done));
    }

    async fn fail(&mut self, write: Write, error: KafkaError) {
        // Uncommitted it keeps its place, and is left to the next owner of the partition.
        if self.blocked || self.progress.is_stopped() {
            self.blocked = true;
            return;
        }
        let restored = match write.batch.get(write.index).map(|record| self.as_it_is(&record)) {
            Some(back) if write.skipped.is_none() => {
                self.done.failed += 1;
                self.pipeline.sink().send(back).await.map_err(|failed| failed.error)
            }
            _ => Err(error.clone()),
        };
        match restored {
            Ok(()) => self.finish(write.offset),
            Err(_) => self.blocked = true,
        }
        let Write { offset, topic, .. } = write;
        let failure = WriteFailure { partition: self.partition.clone(), offset, topic, error, restored };
        tracing::error!("{failure}");
        self.failure.get_or_insert(failure);
    }

    fn as_it_is(&self, record: &Record<'_>) -> OutgoingRecord {
        OutgoingRecord::next_hop(record, &self.partition.topic, record.value.map(<[u8]>::to_vec), &[])
    }

    fn finish(&self, offset: i64) {
        if !self.blocked {
            self.progress.finish_through(offset);
        }
    }
}
