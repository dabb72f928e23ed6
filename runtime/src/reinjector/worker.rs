//! The records of one partition of a retry topic, in order: wait until due, write to the work topic, finish.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{Hook, due::Due, next_hop::next_hop, tell};
use crate::{
    client::Kafka,
    deliver::{Next, Undelivered, deliver},
    error::KafkaError,
    event::Event,
    kafka::{Batches, Landed, OutgoingRecord, Pipeline, Progress, SendError},
    record::{Record, TopicPartition},
    time::Clock,
};

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
            clock: &kafka.config().clock,
            partition: &partition,
            progress: &progress,
            hook: hook.as_ref(),
            reinjected: &reinjected,
            pipeline: Pipeline::new(sink),
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

/// The writes of one assignment, each known by the offset of its record. They finish in the order of their records.
struct Writes<'a> {
    clock: &'a Clock,
    partition: &'a TopicPartition,
    progress: &'a Progress,
    hook: Option<&'a Hook>,
    reinjected: &'a AtomicU64,
    pipeline: Pipeline<'a, i64>,
}

impl Writes<'_> {
    async fn forward(&mut self, batches: &mut Batches, tier: Duration) -> Result<(), Undelivered> {
        loop {
            let batch = tokio::select! {
                biased;
                batch = batches.next() => batch.ok_or(Undelivered::AssignmentEnded)?,
                landed = self.pipeline.land() => {
                    self.settle(landed).await?;
                    continue;
                }
            };
            for record in (0..batch.len()).filter_map(|index| batch.get(index)) {
                self.wait(Due::of(record.timestamp, tier, self.clock.of(batch.arrived))).await?;
                self.write(&record).await?;
            }
        }
    }

    /// Waits until the record at the head is due; what was written before it goes on to be settled.
    async fn wait(&mut self, mut due: Due) -> Result<(), Undelivered> {
        loop {
            let moment = self.clock.moment();
            let Some(sleep) = due.sleep(moment.ms) else { return Ok(()) };
            let (progress, timer) = (self.progress, moment.wait(sleep));
            let mut timer = std::pin::pin!(timer);
            let mut stopped = std::pin::pin!(progress.stopped());
            loop {
                tokio::select! {
                    () = &mut stopped => return Err(Undelivered::AssignmentEnded),
                    landed = self.pipeline.land() => self.settle(landed).await?,
                    () = &mut timer => break,
                }
            }
        }
    }

    /// Puts the record on its way, once there is room for it.
    async fn write(&mut self, record: &Record<'_>) -> Result<(), Undelivered> {
        let size = record.size();
        while let Some(landed) = self.pipeline.in_the_way(size).await {
            self.settle(landed).await?;
        }
        if self.progress.is_stopped() {
            return Err(Undelivered::AssignmentEnded);
        }
        let hop = next_hop(record, self.partition);
        tokio::select! {
            biased;
            () = self.pipeline.push(hop, size, record.offset) => Ok(()),
            () = self.progress.stopped() => Err(Undelivered::AssignmentEnded),
        }
    }

    /// Finishes acknowledged records. Those that failed are delivered one by one, in order, once all the others have got
    /// their answer, before anything else is put on its way.
    async fn settle(&mut self, landed: Vec<Landed<i64>>) -> Result<(), Undelivered> {
        let mut landed = VecDeque::from(landed);
        while let Some(Landed { write: offset, result }) = landed.pop_front() {
            if let Err(SendError { record, .. }) = result {
                landed.extend(self.pipeline.land_all().await);
                self.deliver(offset, *record).await?;
            }
            self.finish(offset);
        }
        Ok(())
    }

    async fn deliver(&mut self, offset: i64, record: OutgoingRecord) -> Result<(), Undelivered> {
        let failed = |error: &KafkaError, record: OutgoingRecord, again_in| {
            tell(self.hook, &Event::write_failed(self.partition, offset, record.topic(), error, again_in));
            Next::Again(record)
        };
        deliver(self.pipeline.sink(), record, self.progress, failed).await
    }

    fn finish(&self, offset: i64) {
        self.reinjected.fetch_add(1, Ordering::Relaxed);
        self.progress.finish_through(offset);
    }

    /// At the end of the assignment: up to the first write that fails.
    async fn finish_acknowledged(&mut self) {
        while !self.pipeline.is_empty() {
            for Landed { write: offset, result } in self.pipeline.land().await {
                if result.is_err() {
                    return;
                }
                self.finish(offset);
            }
        }
    }
}
