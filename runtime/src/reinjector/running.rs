//! A reinjector at work: a member of its group, and a worker for each assigned partition.

use std::{
    collections::HashMap,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{ReinjectSummary, Reinjector, tell, worker::Worker};
use crate::{
    config::ConfigError,
    error::KafkaError,
    kafka::{Assigned, Read, SourceSettings},
    member::{Happened, Left, Member},
    shutdown::ShutdownHandle,
};

pub(super) struct Running<'a> {
    /// A worker ends with an error when the sending client can send nothing more.
    member: Member<Option<KafkaError>>,
    reinjected: Arc<AtomicU64>,
    /// By retry topic.
    tiers: HashMap<String, Duration>,
    settings: &'a Reinjector,
}

impl<'a> Running<'a> {
    pub(super) fn start(settings: &'a Reinjector, tiers: HashMap<String, Duration>) -> Result<Self, ConfigError> {
        // Starts the sending client, so that no record has to find out that it does not.
        settings.kafka.sink()?;
        let member = Member::start(
            settings.kafka.config(),
            &SourceSettings::without_handlers(
                settings.group.clone(),
                Read::Topics(tiers.keys().cloned().collect()),
                settings.commit_interval,
            ),
            Arc::default(),
        )?;
        Ok(Self { member, reinjected: Arc::default(), tiers, settings })
    }

    /// Runs until it is asked to end, which is `Ok`, or cannot go on.
    pub(super) async fn until(
        &mut self,
        mut signal: impl Future<Output = ()> + Unpin,
        shutdown: &ShutdownHandle,
    ) -> Result<(), KafkaError> {
        loop {
            let happened = tokio::select! {
                () = &mut signal => return Ok(()),
                () = shutdown.asked() => return Ok(()),
                happened = self.member.next() => happened,
            };
            match happened {
                Happened::Assigned(assigned) => assigned.into_iter().for_each(|each| self.work_on(each)),
                Happened::Event(event) => tell(self.settings.hook.as_ref(), &event),
                // Its assignment has ended.
                Happened::WorkerEnded(None) => {}
                Happened::WorkerEnded(Some(error)) | Happened::Failed(error) => return Err(error),
            }
        }
    }

    fn work_on(&mut self, assigned: Assigned) {
        let Assigned { partition, batches, progress } = assigned;
        // Only these were subscribed to.
        let Some(tier) = self.tiers.get(&*partition.topic).copied() else { return };
        let worker = Worker {
            partition: partition.clone(),
            tier,
            batches,
            progress: Arc::clone(&progress),
            kafka: self.settings.kafka.clone(),
            hook: self.settings.hook.clone(),
            reinjected: Arc::clone(&self.reinjected),
        };
        self.member.work(&partition, &progress, worker.run());
    }

    /// Hears what is on its way, commits, leaves.
    pub(super) async fn shut_down(self) -> ReinjectSummary {
        let Self { member, settings, reinjected, .. } = self;
        let left = member.leave(settings.shutdown_timeout, |event| tell(settings.hook.as_ref(), event)).await;
        let Left { uncommitted, left_group, .. } = left;
        let summary = ReinjectSummary { reinjected: reinjected.load(Ordering::Relaxed), uncommitted, left_group };
        tracing::info!(?summary, "reinjector ended");
        summary
    }
}
