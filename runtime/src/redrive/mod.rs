//! Redrive (contract section 5): dead letters go back to where they came from.
//!
//! Top to bottom: [`Redrive::run_until`] asks where the dead-letter topic ends, joins the group and gives each assigned
//! partition a worker; a worker takes its records in order up to that end, asks the rules what to write, and finishes
//! each record when the broker has acknowledged the write. What is finished is committed by the member's own thread.

mod builder;
mod flight;
mod pace;
mod report;
mod rules;
mod select;
mod share;
mod worker;

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, MissedTickBehavior, interval_at};

#[cfg(feature = "testing")]
pub(crate) use self::builder::GROUP;
pub use self::{
    builder::Redrive,
    report::{RedriveError, RedriveReport, Skipped, WriteFailure},
    select::DeadLettered,
};
use self::{
    pace::Pace,
    share::Share,
    worker::{Reached, Worker},
};
use crate::{
    config::ConfigError,
    error::KafkaError,
    event::Event,
    kafka::{self, Assigned, Progress, Read, SourceSettings},
    member::{Happened, Member},
    record::TopicPartition,
};

/// How often finished records are committed: after a crash at most this much is redriven again.
const COMMIT_INTERVAL: Duration = Duration::from_millis(100);
/// How often progress is told.
const TELL_INTERVAL: Duration = Duration::from_secs(1);
/// How long the last commit and leaving the group may take.
const CLOSE: Duration = Duration::from_secs(10);

/// Why a redrive ends before it has seen everything.
enum Stop {
    Asked,
    Config(ConfigError),
    Write(Box<WriteFailure>),
    Kafka(KafkaError),
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// What the workers of a run share.
struct Shared {
    settings: Redrive,
    /// Where each partition ended at the start.
    ends: BTreeMap<i32, i64>,
    /// When that was, in Unix milliseconds.
    now: i64,
    /// How many more records may be redriven.
    left: Option<AtomicU64>,
    pace: Option<Pace>,
    report: Mutex<RedriveReport>,
}

impl Shared {
    fn report(&self) -> MutexGuard<'_, RedriveReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A partition that was added later had no record at the start.
    fn end_of(&self, partition: i32) -> i64 {
        self.ends.get(&partition).copied().unwrap_or_default()
    }

    fn is_maximum_reached(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }

    /// Whether one more record may be redriven; counts it.
    fn take_one(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        let Some(left) = &self.left else { return true };
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }
}

impl Redrive {
    /// Runs to the end of the dead-letter topic as it is now, or until the maximum is reached.
    ///
    /// # Errors
    ///
    /// As [`Redrive::run_until`].
    pub async fn run(self) -> Result<RedriveReport, RedriveError> {
        self.run_until(pending()).await
    }

    /// The same, until `signal` is ready: what is on its way is waited for then, at most the delivery timeout, and
    /// committed; the rest is left for the next run.
    ///
    /// Dropping the future stops at once; what is finished is committed by the member's own thread.
    ///
    /// # Errors
    ///
    /// The settings are not usable, the broker refused the account or does not know the dead-letter topic, or a record
    /// could not be written. What was done until then is committed.
    pub async fn run_until(self, signal: impl Future<Output = ()>) -> Result<RedriveReport, RedriveError> {
        self.validate()?;
        let report = RedriveReport { dry: self.dry, ..RedriveReport::default() };
        let mut signal = pin!(signal);
        let now = self.kafka.config().clock.now_ms();
        let ends = tokio::select! {
            () = &mut signal => return Ok(RedriveReport { interrupted: true, ..report }),
            ends = kafka::ends(self.kafka.config(), &self.group, &self.rules.dead_letters) => ends,
        };
        let ends = match ends {
            Ok(ends) => ends,
            Err(error) => return Err(RedriveError::Kafka { error, report: Box::new(report) }),
        };
        let member = Member::start(
            self.kafka.config(),
            &SourceSettings::without_handlers(self.group.clone(), self.read(&ends), COMMIT_INTERVAL),
            Arc::default(),
        )?;
        let shared = Shared {
            ends,
            now,
            left: self.maximum.map(AtomicU64::new),
            pace: self.rate.map(Pace::per_second),
            report: Mutex::new(report),
            settings: self,
        };
        let mut running = Running { member, share: Share::default(), shared: Arc::new(shared) };
        let result = running.until(signal).await;
        let report = running.close().await;
        match result {
            Ok(()) => Ok(report),
            Err(Stop::Asked) => Ok(RedriveReport { interrupted: true, ..report }),
            Err(Stop::Config(error)) => Err(error.into()),
            Err(Stop::Write(failure)) => Err(RedriveError::Write { failure, report: Box::new(report) }),
            Err(Stop::Kafka(error)) => Err(RedriveError::Kafka { error, report: Box::new(report) }),
        }
    }

    fn read(&self, ends: &BTreeMap<i32, i64>) -> Read {
        let topic = &self.rules.dead_letters;
        if !self.dry {
            return Read::TopicToEnd(topic.clone());
        }
        let partition = |partition: &i32| TopicPartition { topic: topic.as_str().into(), partition: *partition };
        Read::PartitionsToEnd(ends.keys().map(partition).collect())
    }
}

/// A worker that ended, and the assignment that it worked on.
struct Ended {
    partition: TopicPartition,
    progress: Arc<Progress>,
    reached: Result<Reached, Stop>,
}

/// A run at work.
struct Running {
    member: Member<Ended>,
    share: Share,
    shared: Arc<Shared>,
}

impl Running {
    /// Runs until every partition of an assignment has reached its end.
    async fn until(&mut self, mut signal: impl Future<Output = ()> + Unpin) -> Result<(), Stop> {
        let mut tell = interval_at(Instant::now() + TELL_INTERVAL, TELL_INTERVAL);
        tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.share.is_over() {
            let happened = tokio::select! {
                () = &mut signal => return Err(Stop::Asked),
                _ = tell.tick() => {
                    self.tell();
                    continue;
                }
                happened = self.member.next() => happened,
            };
            match happened {
                Happened::Assigned(assigned) => self.assign(assigned),
                Happened::Event(event) => self.see(event)?,
                Happened::WorkerEnded(ended) => self.end(ended)?,
                Happened::Failed(error) => return Err(Stop::Kafka(error)),
            }
        }
        Ok(())
    }

    fn assign(&mut self, assigned: Vec<Assigned>) {
        self.share.assign(assigned.iter().map(|each| (&each.partition, &each.progress)));
        for Assigned { partition, batches, progress } in assigned {
            let worker = Worker {
                partition: partition.clone(),
                batches,
                progress: Arc::clone(&progress),
                shared: Arc::clone(&self.shared),
            };
            let ended = (partition.clone(), Arc::clone(&progress));
            self.member.work(&partition, &progress, async move {
                let reached = worker.run().await;
                let (partition, progress) = ended;
                Ended { partition, progress, reached }
            });
        }
    }

    fn see(&mut self, event: Event) -> Result<(), Stop> {
        event.trace();
        match event {
            Event::Revoked { partitions } | Event::Lost { partitions } => self.share.revoke(&partitions),
            Event::Trouble { error } if error.is_refused() => return Err(Stop::Kafka(error)),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, ended: Ended) -> Result<(), Stop> {
        self.share.end(&ended.partition, &ended.progress, ended.reached?);
        Ok(())
    }

    fn tell(&self) {
        let report = self.shared.report().clone();
        self.shared.settings.tell(&report);
    }

    /// Waits for what is on its way, commits, leaves the group.
    async fn close(self) -> RedriveReport {
        // A write is answered within the delivery timeout.
        let timeout = self.shared.settings.kafka.config().delivery_timeout.saturating_add(CLOSE);
        let left = self.member.leave(timeout, Event::trace).await;
        let mut report = self.shared.report().clone();
        report.uncommitted = left.uncommitted.filter(|_| !report.dry);
        if let Some(error) = &report.uncommitted {
            tracing::warn!(%error, "what was redriven last is not committed, and will be redriven again");
        }
        tracing::info!(?report, "redrive ended");
        report
    }
}
