//! The records of one partition of a retry topic, in order: wait until due, write to the work topic, finish.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesOrdered};

use super::{
    Hook,
    due::Due,
    next_hop::{next_hop, size},
};
use crate::{
    client::Kafka,
    deliver::{Next, Undelivered, deliver},
    error::KafkaError,
    event::Event,
    kafka::{Batches, OutgoingRecord, Progress, SendError, Sink},
    record::{Record, TopicPartition},
    time::now_ms,
};

/// Records of a partition that may be on their way at a time.
const IN_FLIGHT_RECORDS: usize = 1000;
/// Bytes of a partition that may be on their way at a time; a single larger record is on its way alone.
const IN_FLIGHT_BYTES: usize = 4 * 1024 * 1024;

pub(super) struct Worker {
    pub(super) partition: TopicPartition,
    /// How long a record waits on this topic.
    pub(super) tier: Duration,
    pub(super) batches: Batches,
    pub(super) progress: Arc<Progress>,
    pub(super) kafka: Kafka,
    pub(super) hook: Option<Hook>,
    pub(super) reinjected: Arc<AtomicU64>,
}

impl Worker {
    /// Works until the assignment ends, or returns why the sending client can send nothing more.
    pub(super) async fn run(self) -> Option<KafkaError> {
        let Self { partition, tier, mut batches, progress, kafka, hook, reinjected } = self;
        // A client that does not start is found out before the first assignment.
        let Ok(sink) = kafka.sink() else { return None };
        let mut writes = Writes {
            partition: &partition,
            progress: &progress,
            sink,
            hook: hook.as_deref(),
            reinjected: &reinjected,
            in_flight: FuturesOrdered::new(),
            bytes: 0,
        };
        let ended = writes.forward(&mut batches, tier).await;
        // What is acknowledged counts; the rest is left to the next owner.
        writes.finish_acknowledged().await;
        match ended {
            Err(Undelivered::ClientEnded(error)) => Some(error),
            Err(Undelivered::AssignmentEnded) | Ok(()) => None,
        }
    }
}

/// The writes of one assignment. They finish in the order of their records.
struct Writes<'a> {
    partition: &'a TopicPartition,
    progress: &'a Progress,
    sink: &'a Sink,
    hook: Option<&'a (dyn Fn(&Event) + Send + Sync)>,
    reinjected: &'a AtomicU64,
    in_flight: FuturesOrdered<BoxFuture<'a, Written>>,
    bytes: usize,
}

/// A write that was acknowledged or failed.
struct Written {
    offset: i64,
    bytes: usize,
    result: Result<(), SendError>,
}

impl Writes<'_> {
    async fn forward(&mut self, batches: &mut Batches, tier: Duration) -> Result<(), Undelivered> {
        loop {
            let batch = tokio::select! {
                biased;
                Some(written) = self.in_flight.next() => {
                    self.settle(written).await?;
                    continue;
                }
                batch = batches.next() => batch.ok_or(Undelivered::AssignmentEnded)?,
            };
            for record in (0..batch.len()).filter_map(|index| batch.get(index)) {
                self.wait(Due::of(record.timestamp, tier, batch.arrived)).await?;
                self.write(&record).await?;
            }
        }
    }

    /// Waits until the record at the head is due; what was written before it goes on to be settled.
    async fn wait(&mut self, mut due: Due) -> Result<(), Undelivered> {
        while let Some(sleep) = due.sleep(now_ms()) {
            let (progress, timer) = (self.progress, tokio::time::sleep(sleep));
            let mut timer = std::pin::pin!(timer);
            let mut stopped = std::pin::pin!(progress.stopped());
            loop {
                tokio::select! {
                    () = &mut stopped => return Err(Undelivered::AssignmentEnded),
                    Some(written) = self.in_flight.next() => self.settle(written).await?,
                    () = &mut timer => break,
                }
            }
        }
        Ok(())
    }

    /// Puts the record on its way, once there is room for it.
    async fn write(&mut self, record: &Record<'_>) -> Result<(), Undelivered> {
        let bytes = size(record);
        while self.in_flight.len() >= IN_FLIGHT_RECORDS
            || (self.bytes + bytes > IN_FLIGHT_BYTES && !self.in_flight.is_empty())
        {
            let Some(written) = self.in_flight.next().await else { break };
            self.settle(written).await?;
        }
        if self.progress.is_stopped() {
            return Err(Undelivered::AssignmentEnded);
        }
        let queued = tokio::select! {
            queued = self.sink.queue(next_hop(record, self.partition)) => queued,
            () = self.progress.stopped() => return Err(Undelivered::AssignmentEnded),
        };
        let offset = record.offset;
        self.bytes += bytes;
        self.in_flight.push_back(match queued {
            Ok(sending) => async move { Written { offset, bytes, result: sending.acknowledged().await } }.boxed(),
            Err(failed) => std::future::ready(Written { offset, bytes, result: Err(failed) }).boxed(),
        });
        Ok(())
    }

    /// Finishes an acknowledged record. Behind a failed one nothing further is put on its way: once all the others have
    /// got their answer, those that failed are delivered one by one, in order, before anything else.
    async fn settle(&mut self, written: Written) -> Result<(), Undelivered> {
        let Written { offset, bytes, result } = written;
        self.bytes -= bytes;
        let Err(SendError { record, .. }) = result else {
            self.finish(offset);
            return Ok(());
        };
        let behind: Vec<_> = std::mem::take(&mut self.in_flight).collect().await;
        self.bytes = 0;
        self.deliver(offset, *record).await?;
        for Written { offset, result, .. } in behind {
            match result {
                Ok(()) => self.finish(offset),
                Err(SendError { record, .. }) => self.deliver(offset, *record).await?,
            }
        }
        Ok(())
    }

    async fn deliver(&mut self, offset: i64, record: OutgoingRecord) -> Result<(), Undelivered> {
        let failed = |error: &KafkaError, record: OutgoingRecord, again_in| {
            let event = Event::WriteFailed {
                partition: self.partition.clone(),
                offset,
                topic: record.topic().to_owned(),
                error: error.clone(),
                again_in,
            };
            event.trace();
            if let Some(hook) = self.hook {
                hook(&event);
            }
            Next::Again(record)
        };
        deliver(self.sink, record, self.progress, failed).await?;
        self.finish(offset);
        Ok(())
    }

    fn finish(&self, offset: i64) {
        self.reinjected.fetch_add(1, Ordering::Relaxed);
        self.progress.finish(offset);
    }

    /// At the end of the assignment: up to the first write that fails.
    async fn finish_acknowledged(&mut self) {
        while let Some(Written { offset, result: Ok(()), .. }) = self.in_flight.next().await {
            self.finish(offset);
        }
    }
}
