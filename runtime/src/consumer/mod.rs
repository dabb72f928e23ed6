//! The consumer (contract section 3): process, then commit.
//!
//! Top to bottom: [`Consumer::run_until`] starts the member and gives each assigned partition a worker; a worker takes
//! its records in order through gate, route, decode and handle, and settles each one. What is finished is committed by
//! the member's own thread.

mod builder;
mod report;
mod worker;

use std::{
    collections::HashMap,
    fmt,
    future::{Future, pending},
    panic::resume_unwind,
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Notify, task::JoinSet};

pub use self::{
    builder::ConsumerBuilder,
    report::{ConsumerError, Reason, RecordError, Summary},
};
use self::{
    builder::Hooks,
    worker::{Counts, Turn, Worker},
};
use crate::{
    config::ConfigError,
    error::{Class, KafkaError},
    event::Event,
    kafka::{Assigned, Progress, Source, SourceEvent, SourceSettings},
    record::TopicPartition,
    router::Routes,
    time::deadline,
};

/// A consumer that is ready to run; made by [`ConsumerBuilder::serve`].
#[must_use = "a consumer does nothing until `.run_until(…)` is awaited"]
pub struct Consumer {
    settings: ConsumerBuilder,
    routes: Arc<Routes>,
    shutdown: Arc<Notify>,
}

/// Asks a running consumer to shut down. Cheap to clone; asking twice is asking once.
#[derive(Clone, Debug)]
pub struct ConsumerHandle {
    shutdown: Arc<Notify>,
}

impl ConsumerHandle {
    /// Starts the shutdown; the consumer's `run` then returns within its shutdown timeout.
    pub fn shutdown(&self) {
        self.shutdown.notify_one();
    }
}

/// Why the consumer ends.
enum Cause {
    Asked,
    Record(RecordError),
    Kafka(KafkaError),
}

impl Consumer {
    fn new(settings: ConsumerBuilder, routes: Routes) -> Self {
        Self { settings, routes: Arc::new(routes), shutdown: Arc::new(Notify::new()) }
    }

    /// A handle that shuts this consumer down from elsewhere.
    #[must_use]
    pub fn handle(&self) -> ConsumerHandle {
        ConsumerHandle { shutdown: Arc::clone(&self.shutdown) }
    }

    /// Runs until a [`ConsumerHandle`] asks it to shut down.
    ///
    /// # Errors
    ///
    /// As [`Consumer::run_until`].
    pub async fn run(self) -> Result<Summary, ConsumerError> {
        self.run_until(pending()).await
    }

    /// Runs until `signal` is ready (or a [`ConsumerHandle`] asks), then shuts down: running handlers finish, what is
    /// finished is committed, the group is left. All of it within the shutdown timeout; the summary says what was left.
    ///
    /// Dropping the future shuts down at once: what is finished is committed by the member's own thread.
    ///
    /// # Errors
    ///
    /// The settings are not usable, a record was not handled and may not be passed over, or the broker refused the
    /// account. What was finished until then is committed.
    pub async fn run_until(self, signal: impl Future<Output = ()>) -> Result<Summary, ConsumerError> {
        let topics = match &self.settings.topics {
            Some(topics) => topics.clone(),
            None => self.routes.topics().into_iter().map(str::to_owned).collect(),
        };
        if self.settings.group.is_empty() {
            return Err(ConfigError::Setting { name: "group", reason: "is empty" }.into());
        }
        if topics.is_empty() {
            return Err(ConfigError::Setting { name: "topics", reason: "name no topic to read" }.into());
        }
        let source = Source::start(
            self.settings.kafka.config(),
            &SourceSettings {
                group: self.settings.group.clone(),
                topics,
                commit_interval: self.settings.commit_interval,
            },
        )?;
        let mut running = Running {
            source,
            workers: JoinSet::new(),
            progress: HashMap::new(),
            turns: HashMap::new(),
            counts: Arc::default(),
            settings: &self.settings,
            routes: &self.routes,
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

/// A member of the group with its workers. Dropping it stops the workers and closes the member.
struct Running<'a> {
    source: Source,
    /// A worker ends with the record that it had to stop at.
    workers: JoinSet<Option<RecordError>>,
    /// The present assignments.
    progress: HashMap<TopicPartition, Arc<Progress>>,
    /// Held by a worker while it works, so that one partition never has two.
    turns: HashMap<TopicPartition, Turn>,
    counts: Arc<Counts>,
    settings: &'a ConsumerBuilder,
    routes: &'a Arc<Routes>,
}

impl Running<'_> {
    async fn until(&mut self, signal: impl Future<Output = ()>, shutdown: &Notify) -> Cause {
        let mut signal = std::pin::pin!(signal);
        loop {
            tokio::select! {
                () = &mut signal => return Cause::Asked,
                () = shutdown.notified() => return Cause::Asked,
                event = self.source.next() => match event {
                    Some(SourceEvent::Assigned(assigned)) => assigned.into_iter().for_each(|each| self.start(each)),
                    Some(SourceEvent::Report(event)) => self.report(&event),
                    Some(SourceEvent::Ended(error)) => return Cause::Kafka(error),
                    None => return Cause::Kafka(KafkaError::new("PollThreadEnded", "polling ended", Class::Fatal)),
                },
                Some(ended) = self.workers.join_next() => match ended {
                    Ok(Some(record)) => return Cause::Record(record),
                    // Its assignment has ended.
                    Ok(None) => {}
                    // A worker catches the panics of handlers, so this one is of a hook.
                    Err(error) => if let Ok(panic) = error.try_into_panic() { resume_unwind(panic) },
                },
            }
        }
    }

    fn start(&mut self, assigned: Assigned) {
        let Assigned { partition, batches, progress } = assigned;
        self.progress.insert(partition.clone(), Arc::clone(&progress));
        let turn = Arc::clone(self.turns.entry(partition.clone()).or_default());
        self.workers.spawn(
            Worker {
                partition,
                batches,
                progress,
                routes: Arc::clone(self.routes),
                kafka: self.settings.kafka.clone(),
                unknown_urn: self.settings.unknown_urn,
                idempotency: self.settings.idempotency.clone(),
                hooks: self.settings.hooks.clone(),
                counts: Arc::clone(&self.counts),
            }
            .run(turn),
        );
    }

    fn report(&mut self, event: &Event) {
        match event {
            Event::Assigned { .. } | Event::Revoked { .. } => tracing::info!("{event}"),
            _ => tracing::warn!("{event}"),
        }
        self.settings.hooks.event(event);
    }

    /// Finish, commit, leave. A quarter of the time, 5 s at most, is kept for committing and leaving.
    async fn shut_down(mut self) -> Summary {
        let timeout = self.settings.shutdown_timeout;
        let deadline = deadline(timeout);
        let handlers = deadline - (timeout / 4).min(Duration::from_secs(5));
        self.source.drain();
        let all = async { while self.workers.join_next().await.is_some() {} };
        let finished = tokio::time::timeout_at(handlers.into(), all).await.is_ok();
        let unfinished = if finished { Vec::new() } else { self.running() };
        self.workers.abort_all();
        let closed = self.source.close(deadline).await;
        while let Some(event) = self.source.try_next() {
            if let SourceEvent::Report(event) = event {
                self.report(&event);
            }
        }
        let left_group = closed.is_some();
        let uncommitted = closed.and_then(|closed| closed.commit.err());
        let summary = self.counts.summary(unfinished, uncommitted, left_group);
        tracing::info!(?summary, "consumer ended");
        summary
    }

    /// The records that are being handled, sorted.
    fn running(&self) -> Vec<(TopicPartition, i64)> {
        let mut running: Vec<_> = self
            .progress
            .iter()
            .filter_map(|(partition, progress)| Some((partition.clone(), progress.running()?)))
            .collect();
        running.sort();
        running
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
