//! The writes of one partition that are on their way: acknowledged and finished in the order in which they were sent.

use std::{future::ready, pin::pin, sync::Arc};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesOrdered};

use super::{
    Shared,
    report::{Skipped, WriteFailure},
};
use crate::{
    error::KafkaError,
    kafka::{OutgoingRecord, Progress, SendError, Sink},
    record::{Batch, Record, TopicPartition},
};

/// Records that may be on their way.
const RECORDS: usize = 512;
/// Bytes that may be on their way.
const BYTES: usize = 4 * 1024 * 1024;

/// A record that is written, and where it was read.
struct Write {
    batch: Arc<Batch>,
    index: usize,
    offset: i64,
    size: usize,
    topic: String,
    /// `None` when it is redriven.
    skipped: Option<Skipped>,
}

/// What became of a write.
struct Landed {
    write: Write,
    result: Result<(), SendError>,
}

/// Nothing is finished behind a record that is not.
pub(super) struct Flight<'a> {
    sink: &'a Sink,
    shared: &'a Shared,
    partition: &'a TopicPartition,
    progress: &'a Progress,
    writes: FuturesOrdered<BoxFuture<'a, Landed>>,
    bytes: usize,
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
            sink,
            shared,
            partition,
            progress,
            writes: FuturesOrdered::new(),
            bytes: 0,
            failure: None,
            blocked: false,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Sends a record of a batch: onwards, or back to the dead-letter topic as it is.
    pub(super) async fn send(&mut self, batch: &Arc<Batch>, index: usize, next: Result<OutgoingRecord, Skipped>) {
        let Some(record) = batch.get(index) else { return };
        let (next, skipped) = match next {
            Ok(next) => (next, None),
            Err(skipped) => (self.as_it_is(&record), Some(skipped)),
        };
        let write = Write {
            batch: Arc::clone(batch),
            index,
            offset: record.offset,
            size: record.value.map_or(0, <[u8]>::len),
            topic: next.topic().to_owned(),
            skipped,
        };
        self.bytes += write.size;
        self.writes.push_back(match self.sink.queue(next).await {
            Ok(sending) => async move { Landed { write, result: sending.acknowledged().await } }.boxed(),
            Err(failed) => ready(Landed { write, result: Err(failed) }).boxed(),
        });
        while !self.has_failed() && (self.writes.len() >= RECORDS || self.bytes >= BYTES) {
            let Some(landed) = self.writes.next().await else { return };
            self.settle(landed).await;
        }
    }

    /// Waits for something else while what is on its way lands; `None` when a write has failed.
    pub(super) async fn land_while<T>(&mut self, other: impl Future<Output = T>) -> Option<T> {
        let mut other = pin!(other);
        while !self.has_failed() {
            tokio::select! {
                done = &mut other => return Some(done),
                Some(landed) = self.writes.next() => self.settle(landed).await,
            }
        }
        None
    }

    /// Waits for all that is on its way; returns the first write that failed.
    pub(super) async fn land(mut self) -> Option<WriteFailure> {
        while let Some(landed) = self.writes.next().await {
            self.settle(landed).await;
        }
        self.failure
    }

    async fn settle(&mut self, Landed { write, mut result }: Landed) {
        self.bytes -= write.size;
        if let Err(failed) = result {
            // In a batch that was too large each record fails, also one that fits.
            result = if failed.error.is_too_large() { self.sink.send(*failed.record).await } else { Err(failed) };
        }
        match result {
            Ok(()) => {
                let mut report = self.shared.report();
                match write.skipped {
                    Some(skipped) => report.add_skipped(skipped),
                    None => report.add_redriven(&write.topic),
                }
                drop(report);
                self.finish(write.offset);
            }
            Err(SendError { error, .. }) => self.fail(write, error).await,
        }
    }

    async fn fail(&mut self, write: Write, error: KafkaError) {
        // Uncommitted it keeps its place, and is left to the next owner of the partition.
        if self.blocked || self.progress.is_stopped() {
            self.blocked = true;
            return;
        }
        let restored = match write.batch.get(write.index).map(|record| self.as_it_is(&record)) {
            Some(back) if write.skipped.is_none() => {
                self.shared.report().failed += 1;
                self.sink.send(back).await.map_err(|failed| failed.error)
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
            self.progress.finish(offset);
        }
    }
}
