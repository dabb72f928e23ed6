//! A member of a consumer group, with a worker for each partition that it is given: what consumer, reinjector and redrive
//! have in common.

use std::{
    collections::HashMap,
    future::Future,
    panic::resume_unwind,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::Mutex,
    task::{JoinError, JoinSet},
};

use crate::{
    config::{Config, ConfigError},
    error::{Class, KafkaError},
    event::Event,
    kafka::{Assigned, Progress, Source, SourceEvent, SourceSettings, Standing},
    record::TopicPartition,
    time::deadline,
};

/// Dropping it stops the workers and closes the member.
pub(crate) struct Member<T> {
    source: Source,
    workers: JoinSet<T>,
    /// The present assignments.
    progress: HashMap<TopicPartition, Arc<Progress>>,
    /// Held by a worker while it works, so that one partition never has two.
    turns: HashMap<TopicPartition, Arc<Mutex<()>>>,
}

/// What happened next to a member.
pub(crate) enum Happened<T> {
    /// New partitions, each to be worked on.
    Assigned(Vec<Assigned>),
    /// For the user's hook.
    Event(Event),
    /// A worker has ended.
    WorkerEnded(T),
    /// No record will come any more.
    Failed(KafkaError),
}

/// How a member left.
pub(crate) struct Left {
    /// The records that were started and are not finished, sorted.
    pub(crate) unfinished: Vec<(TopicPartition, i64)>,
    /// Why finished records could not be committed at the end.
    pub(crate) uncommitted: Option<KafkaError>,
    /// Whether the group was left in time.
    pub(crate) left_group: bool,
}

impl<T: Send + 'static> Member<T> {
    pub(crate) fn start(
        config: &Config,
        settings: &SourceSettings,
        standing: Arc<Standing>,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            source: Source::start(config, settings, standing)?,
            workers: JoinSet::new(),
            progress: HashMap::new(),
            turns: HashMap::new(),
        })
    }

    /// May be dropped while it waits.
    pub(crate) async fn next(&mut self) -> Happened<T> {
        loop {
            tokio::select! {
                event = self.source.next() => return match event {
                    Some(SourceEvent::Assigned(assigned)) => Happened::Assigned(assigned),
                    Some(SourceEvent::Report(event)) => {
                        self.forget_what_is_gone(&event);
                        Happened::Event(event)
                    }
                    Some(SourceEvent::Ended(error)) => Happened::Failed(error),
                    None => Happened::Failed(KafkaError::new("PollThreadEnded", "polling ended", Class::Fatal)),
                },
                Some(ended) = self.workers.join_next() => if let Some(ended) = ended_or_panicked(ended) {
                    return Happened::WorkerEnded(ended);
                },
            }
        }
    }

    /// Starts the worker of an assignment; it begins when the last one of its partition has ended.
    pub(crate) fn work(
        &mut self,
        partition: &TopicPartition,
        progress: &Arc<Progress>,
        worker: impl Future<Output = T> + Send + 'static,
    ) {
        self.progress.insert(partition.clone(), Arc::clone(progress));
        let turn = Arc::clone(self.turns.entry(partition.clone()).or_default());
        self.workers.spawn(async move {
            let _turn = turn.lock().await;
            worker.await
        });
    }

    /// Starts no further record, lets the workers finish, commits and leaves the group, within this time: a quarter of
    /// it, 5 s at most, is kept for committing and leaving. `report` is told what happens meanwhile.
    pub(crate) async fn leave(mut self, timeout: Duration, report: impl Fn(&Event)) -> Left {
        let deadline = deadline(timeout);
        self.source.drain();
        self.finish(deadline - (timeout / 4).min(Duration::from_secs(5))).await;
        let unfinished = self.unfinished();
        self.workers.abort_all();
        let closed = self.source.close(deadline).await;
        while let Some(event) = self.source.try_next() {
            if let SourceEvent::Report(event) = event {
                report(&event);
            }
        }
        let left_group = closed.as_ref().is_some_and(|closed| closed.left);
        let uncommitted = match closed {
            Some(closed) => closed.commit.err(),
            // Without a finished record there was nothing to commit.
            None if self.progress.values().all(|progress| progress.committable().is_none()) => None,
            None => Some(KafkaError::commit_timed_out(timeout)),
        };
        Left { unfinished, uncommitted, left_group }
    }

    /// Waits until all workers have ended, at most until then.
    async fn finish(&mut self, deadline: Instant) {
        let all = async { while self.workers.join_next().await.is_some() {} };
        let _ = tokio::time::timeout_at(deadline.into(), all).await;
    }

    /// What was left unfinished on partitions that are gone is their next owner's.
    fn forget_what_is_gone(&mut self, event: &Event) {
        if let Event::Revoked { partitions } | Event::Lost { partitions } = event {
            partitions.iter().for_each(|partition| drop(self.progress.remove(partition)));
        }
    }

    fn unfinished(&self) -> Vec<(TopicPartition, i64)> {
        let each = |(partition, progress): (&TopicPartition, &Arc<Progress>)| {
            progress.unfinished().into_iter().map(|offset| (partition.clone(), offset)).collect::<Vec<_>>()
        };
        let mut unfinished: Vec<_> = self.progress.iter().flat_map(each).collect();
        unfinished.sort();
        unfinished
    }
}

/// A task panics only where a hook of the user does: that panic is passed on.
pub(crate) fn ended_or_panicked<T>(ended: Result<T, JoinError>) -> Option<T> {
    match ended {
        Ok(ended) => Some(ended),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // It was aborted.
            Err(_) => None,
        },
    }
}
