//! The consumer (contract section 3): process, then commit.
//!
//! Top to bottom: [`Consumer::run_until`] starts the member and gives each assigned partition a worker; a worker takes
//! its records, one after another or side by side, through gate, route, decode and handle, and settles each one. What is
//! finished is committed by the member's own thread.

mod builder;
mod health;
mod hop;
mod in_batches;
mod pool;
mod process;
mod report;
mod settlement;
mod side_by_side;
mod worker;

use std::{
    fmt,
    future::{Future, pending},
    pin::pin,
    sync::{Arc, atomic::AtomicUsize},
};

use tokio::sync::Semaphore;

pub use self::{
    builder::{CommitPolicy, ConsumerBuilder, ProcessingOrder},
    health::Health,
    report::{ConsumerError, Reason, RecordError, Settled, Summary},
};
use self::{
    health::UntilTheEnd,
    pool::Pool,
    process::Processor,
    settlement::{Counts, Settlement},
    worker::Worker,
};
use crate::{
    delivery::Assignment,
    error::KafkaError,
    kafka::{Assigned, Read, SourceSettings, Standing},
    member::{Happened, Member},
    retry_topics::RetryTopics,
    router::Routes,
    shutdown::ShutdownHandle,
};

/// A consumer that is ready to run; made by [`ConsumerBuilder::serve`].
#[must_use = "a consumer does nothing until `.run_until(…)` is awaited"]
pub struct Consumer {
    settings: ConsumerBuilder,
    routes: Arc<Routes>,
    shutdown: ShutdownHandle,
    standing: Arc<Standing>,
}

/// Why the consumer ends.
enum Cause {
    Asked,
    Record(RecordError),
    Kafka(KafkaError),
}

impl Consumer {
    fn new(settings: ConsumerBuilder, routes: Routes) -> Self {
        Self { settings, routes: Arc::new(routes), shutdown: ShutdownHandle::new(), standing: Arc::default() }
    }

    /// A handle that shuts this consumer down from elsewhere.
    #[must_use]
    pub fn handle(&self) -> ShutdownHandle {
        self.shutdown.clone()
    }

    /// Tells how this consumer fares, for the health and readiness answers of a service.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::of(&self.standing)
    }

    /// Runs until a [`ShutdownHandle`] asks it to shut down.
    ///
    /// # Errors
    ///
    /// As [`Consumer::run_until`].
    pub async fn run(self) -> Result<Summary, ConsumerError> {
        self.run_until(pending()).await
    }

    /// Runs until `signal` is ready (or a [`ShutdownHandle`] asks), then shuts down: running handlers finish, what is
    /// finished is committed, the group is left. All of it within the shutdown timeout; the summary says what was left.
    ///
    /// Dropping the future shuts down at once: what is finished is committed by the member's own thread.
    ///
    /// # Errors
    ///
    /// The settings are not usable, the retry topics or the dead-letter topic would lose records
    /// ([`Kafka::check_topics`](crate::Kafka::check_topics)), a record was not handled and may not be passed over, or the
    /// broker refused the account. What was finished until then is committed.
    pub async fn run_until(self, signal: impl Future<Output = ()>) -> Result<Summary, ConsumerError> {
        let _standing = UntilTheEnd(&self.standing);
        let topics = self.settings.check(&self.routes)?;
        let mut signal = pin!(signal);
        if !self.settings.retry_topics.is_empty() {
            tokio::select! {
                checked = self.settings.kafka.check_topics(&self.settings.retry_topics) => drop(checked?),
                () = &mut signal => return Ok(Summary::default()),
                () = self.shutdown.asked() => return Ok(Summary::default()),
            }
            // Starts the sending client, so that no record has to find out that it does not.
            self.settings.kafka.sink()?;
        }
        let member = Member::start(
            self.settings.kafka.config(),
            &SourceSettings {
                group: self.settings.group.clone(),
                read: Read::Topics(topics),
                from_oldest: false,
                commit_interval: self.settings.commit_interval,
                commit_count: self.settings.commit_policy.count(),
                revoke_timeout: self.settings.revoke_timeout,
                stall_timeout: self.settings.stall_timeout,
            },
            Arc::clone(&self.standing),
        )?;
        let processor = Arc::new(Processor {
            routes: Arc::clone(&self.routes),
            idempotency: self.settings.idempotency.clone(),
            unknown_urn: self.settings.rules.unknown_urn,
            counts: Arc::<Counts>::default(),
        });
        let mut running = Running {
            member,
            settings: &self.settings,
            pool: Arc::new(Pool::new(Arc::clone(&processor))),
            processor,
            handlers: Arc::new(Semaphore::new(self.settings.concurrency)),
            bytes_side_by_side: Arc::default(),
            retry_topics: self.settings.retry_topics.clone().into(),
        };
        let cause = running.until(signal, &self.shutdown).await;
        let summary = running.shut_down().await;
        match cause {
            Cause::Asked => Ok(summary),
            Cause::Record(record) => Err(ConsumerError::Record { record, summary }),
            Cause::Kafka(error) => Err(ConsumerError::Kafka { error, summary }),
        }
    }
}

/// A consumer at work.
struct Running<'a> {
    /// A worker ends with the cause for all to end, if it had one.
    member: Member<Option<Cause>>,
    settings: &'a ConsumerBuilder,
    processor: Arc<Processor>,
    pool: Arc<Pool>,
    handlers: Arc<Semaphore>,
    bytes_side_by_side: Arc<AtomicUsize>,
    retry_topics: Arc<[RetryTopics]>,
}

impl Running<'_> {
    async fn until(&mut self, mut signal: impl Future<Output = ()> + Unpin, shutdown: &ShutdownHandle) -> Cause {
        loop {
            let happened = tokio::select! {
                () = &mut signal => return Cause::Asked,
                () = shutdown.asked() => return Cause::Asked,
                happened = self.member.next() => happened,
            };
            match happened {
                Happened::Assigned(assigned) => assigned.into_iter().for_each(|each| self.start(each)),
                Happened::Event(event) => self.settings.hooks.event(&event),
                Happened::WorkerEnded(Some(cause)) => return cause,
                // Its assignment has ended.
                Happened::WorkerEnded(None) => {}
                Happened::Failed(error) => return Cause::Kafka(error),
            }
        }
    }

    fn start(&mut self, assigned: Assigned) {
        let Assigned { partition, batches, progress } = assigned;
        let assignment = Assignment {
            kafka: self.settings.kafka.clone(),
            retry_topics: Arc::clone(&self.retry_topics),
            partition: partition.clone(),
            progress: Arc::clone(&progress),
        };
        let worker = Worker {
            order: self.settings.order,
            processor: Arc::clone(&self.processor),
            pool: Arc::clone(&self.pool),
            handlers: Arc::clone(&self.handlers),
            bytes_side_by_side: Arc::clone(&self.bytes_side_by_side),
            batches,
            commit_policy: self.settings.commit_policy,
            batch_wait: self.processor.routes.batch_sizes().next().map(|_| self.settings.batch_wait),
            settlement: Settlement::new(self.settings, assignment, Arc::clone(&self.processor.counts)),
        };
        self.member.work(&partition, &progress, worker.run());
    }

    async fn shut_down(self) -> Summary {
        let left = self.member.leave(self.settings.shutdown_timeout, |event| self.settings.hooks.event(event)).await;
        let summary = self.processor.counts.summary(left);
        tracing::info!(?summary, "consumer ended");
        summary
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("settings", &self.settings)
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}
