//! A reinjector at work: a member of its group, and a worker for each assigned partition.

use std::{
    collections::HashMap,
    future::Future,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::JoinSet;

use super::{
    ReinjectSummary, Reinjector,
    worker::{Turn, Worker},
};
use crate::{
    config::ConfigError,
    error::{Class, KafkaError},
    event::Event,
    kafka::{Assigned, Read, Source, SourceEvent, SourceSettings},
    record::TopicPartition,
    shutdown::ShutdownHandle,
    time::deadline,
};

/// Dropping it stops the workers and closes the member.
pub(super) struct Running<'a> {
    source: Source,
    workers: JoinSet<()>,
    /// Held by a worker while it works, so that one partition never has two.
    turns: HashMap<TopicPartition, Turn>,
    reinjected: Arc<AtomicU64>,
    /// By retry topic.
    tiers: HashMap<String, Duration>,
    settings: &'a Reinjector,
}

impl<'a> Running<'a> {
    pub(super) fn start(settings: &'a Reinjector) -> Result<Self, ConfigError> {
        let tiers = settings.tiers()?;
        // Starts the sending client, so that no record has to find out that it does not.
        settings.kafka.sink()?;
        let source = Source::start(
            settings.kafka.config(),
            &SourceSettings {
                group: settings.group.clone(),
                read: Read::Topics(tiers.keys().cloned().collect()),
                commit_interval: settings.commit_interval,
            },
        )?;
        Ok(Self { source, workers: JoinSet::new(), turns: HashMap::new(), reinjected: Arc::default(), tiers, settings })
    }

    /// Runs until it is asked to end, which is `Ok`, or cannot go on.
    pub(super) async fn until(
        &mut self,
        signal: impl Future<Output = ()>,
        shutdown: &ShutdownHandle,
    ) -> Result<(), KafkaError> {
        let mut signal = std::pin::pin!(signal);
        loop {
            tokio::select! {
                () = &mut signal => return Ok(()),
                () = shutdown.asked() => return Ok(()),
                event = self.source.next() => match event {
                    Some(SourceEvent::Assigned(assigned)) => assigned.into_iter().for_each(|each| self.work_on(each)),
                    Some(SourceEvent::Report(event)) => self.report(&event),
                    Some(SourceEvent::Ended(error)) => return Err(error),
                    None => return Err(KafkaError::new("PollThreadEnded", "polling ended", Class::Fatal)),
                },
                // Its assignment has ended, or a hook has panicked.
                Some(Err(error)) = self.workers.join_next() => {
                    if let Ok(panic) = error.try_into_panic() { resume_unwind(panic) }
                },
            }
        }
    }

    fn work_on(&mut self, assigned: Assigned) {
        let Assigned { partition, batches, progress } = assigned;
        // Only these were subscribed to.
        let Some(tier) = self.tiers.get(&*partition.topic).copied() else { return };
        let turn = Arc::clone(self.turns.entry(partition.clone()).or_default());
        let worker = Worker {
            partition,
            tier,
            batches,
            progress,
            kafka: self.settings.kafka.clone(),
            hook: self.settings.hook.clone(),
            reinjected: Arc::clone(&self.reinjected),
        };
        self.workers.spawn(worker.run(turn));
    }

    fn report(&self, event: &Event) {
        match event {
            Event::Assigned { .. } | Event::Revoked { .. } => tracing::info!("{event}"),
            _ => tracing::warn!("{event}"),
        }
        if let Some(hook) = &self.settings.hook {
            hook(event);
        }
    }

    /// Hears what is on its way, commits, leaves. A quarter of the time, 5 s at most, is kept for committing and leaving.
    pub(super) async fn shut_down(mut self) -> ReinjectSummary {
        let timeout = self.settings.shutdown_timeout;
        let deadline = deadline(timeout);
        let workers = deadline - (timeout / 4).min(Duration::from_secs(5));
        self.source.drain();
        let all = async { while self.workers.join_next().await.is_some() {} };
        // What is not acknowledged by then is left.
        let _ = tokio::time::timeout_at(workers.into(), all).await;
        self.workers.abort_all();
        let closed = self.source.close(deadline).await;
        while let Some(event) = self.source.try_next() {
            if let SourceEvent::Report(event) = event {
                self.report(&event);
            }
        }
        let summary = ReinjectSummary {
            reinjected: self.reinjected.load(Ordering::Relaxed),
            left_group: closed.is_some(),
            uncommitted: closed.and_then(|closed| closed.commit.err()),
        };
        tracing::info!(?summary, "reinjector ended");
        summary
    }
}
