//! The records of one assigned partition, in order, up to where the partition ended when the redrive started.

use std::sync::Arc;

use super::{
    Shared, Stop,
    flight::Flight,
    pace::Pace,
    report::{RedriveReport, Skipped},
};
use crate::{
    kafka::{Batches, OutgoingRecord, Progress},
    record::{Batch, Record, TopicPartition},
};

pub(super) struct Worker {
    pub(super) partition: TopicPartition,
    pub(super) batches: Batches,
    pub(super) progress: Arc<Progress>,
    pub(super) shared: Arc<Shared>,
}

/// Where a worker got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// There is nothing left for this run on the partition.
    End,
    /// The assignment ended before.
    Revoked,
}

/// What is next on the partition.
enum Step {
    Leave(Reached),
    Write(Result<OutgoingRecord, Skipped>),
}

impl Worker {
    pub(super) async fn run(mut self) -> Result<Reached, Stop> {
        if self.shared.settings.dry {
            return Ok(self.look().await);
        }
        let shared = Arc::clone(&self.shared);
        let (partition, progress) = (self.partition.clone(), Arc::clone(&self.progress));
        let mut flight = Flight::new(shared.settings.kafka.sink()?, &shared, &partition, &progress);
        let reached = self.write(&mut flight).await;
        match flight.land().await {
            Some(failure) => Err(Stop::Write(Box::new(failure))),
            None => Ok(reached),
        }
    }

    /// A dry run: counts.
    async fn look(&mut self) -> Reached {
        while let Some(batch) = self.batches.next().await {
            let mut seen = RedriveReport::default();
            let left = self.look_at(&batch, &mut seen);
            self.shared.report().add(seen);
            if let Some(reached) = left {
                return reached;
            }
        }
        self.behind_the_last()
    }

    /// Counts the records of a batch; says so when the worker is to leave.
    fn look_at(&self, batch: &Batch, seen: &mut RedriveReport) -> Option<Reached> {
        for record in (0..batch.len()).filter_map(|index| batch.get(index)) {
            match self.step(&record) {
                Step::Leave(reached) => return Some(reached),
                Step::Write(Ok(_)) if !self.shared.take_one() => return Some(Reached::End),
                Step::Write(Ok(next)) => seen.add_redriven(next.topic()),
                Step::Write(Err(skipped)) => seen.add_skipped(skipped),
            }
            seen.read += 1;
        }
        None
    }

    /// Sends each record on its way. When a write has failed it does not matter what this returns.
    async fn write(&mut self, flight: &mut Flight<'_>) -> Reached {
        while let Some(batch) = flight.land_while(self.batches.next()).await.flatten().map(Arc::new) {
            for index in 0..batch.len() {
                let Some(record) = batch.get(index) else { break };
                let next = match self.step(&record) {
                    Step::Leave(reached) => return reached,
                    Step::Write(next) => next,
                };
                if next.is_ok() {
                    if let Some(pace) = &self.shared.pace
                        && flight.land_while(self.turn(pace)).await != Some(true)
                    {
                        return Reached::Revoked;
                    }
                    if !self.shared.take_one() {
                        return Reached::End;
                    }
                }
                flight.send(&batch, index, next).await;
                if flight.has_failed() {
                    return Reached::End;
                }
            }
        }
        self.behind_the_last()
    }

    fn step(&self, record: &Record<'_>) -> Step {
        if self.progress.is_stopped() {
            return Step::Leave(Reached::Revoked);
        }
        if record.offset >= self.shared.end_of(self.partition.partition) || self.shared.is_maximum_reached() {
            return Step::Leave(Reached::End);
        }
        Step::Write(self.shared.settings.rules.next(record, self.shared.now))
    }

    /// Waits until the rate allows one more record; `false` when the assignment has ended instead.
    async fn turn(&self, pace: &Pace) -> bool {
        tokio::select! {
            () = self.progress.stopped() => false,
            () = pace.turn() => true,
        }
    }

    /// No further record comes.
    fn behind_the_last(&self) -> Reached {
        if self.progress.is_stopped() { Reached::Revoked } else { Reached::End }
    }
}
