//! Membership in a consumer group: what the client calls back while it is polled.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rdkafka::{
    ClientContext, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext, Rebalance},
    error::{KafkaError as ClientError, RDKafkaErrorCode as Code},
};
use tokio::sync::mpsc::UnboundedSender;

use super::{
    committer::Committer,
    errors,
    lanes::{Lane, Lanes},
    probe::Probe,
    source::SourceEvent,
    troubles::Troubles,
    waker::Waker,
};
use crate::{event::Event, record::TopicPartition};

pub(super) type Client = BaseConsumer<Group>;

/// How long a rebalance may wait for the last commit of the partitions that go.
const REVOKE_COMMIT: Duration = Duration::from_secs(5);

/// State of the member, shared by the poll loop and the callbacks that run inside its polls.
pub(super) struct Group {
    name: String,
    topics: Vec<String>,
    lanes: Mutex<Lanes>,
    waker: Arc<Waker>,
    committer: Mutex<Option<Committer>>,
    events: UnboundedSender<SourceEvent>,
    troubles: Mutex<Troubles>,
    /// Whether the group has taken this member once: its account is in order then, and a refusal may be a broker's
    /// passing trouble.
    joined: Arc<AtomicBool>,
    probe: Arc<Probe>,
}

impl Group {
    pub(super) fn new(
        name: &str,
        topics: Vec<String>,
        waker: Arc<Waker>,
        events: UnboundedSender<SourceEvent>,
        probe: Arc<Probe>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            topics,
            lanes: Mutex::default(),
            waker,
            committer: Mutex::default(),
            events,
            troubles: Mutex::default(),
            joined: Arc::default(),
            probe,
        }
    }

    pub(super) fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Set while the member runs. The committer's thread holds the client, which holds this: it has to be taken out
    /// before the client can be closed.
    pub(super) fn set_committer(&self, committer: Option<Committer>) {
        *self.committer.lock().unwrap_or_else(PoisonError::into_inner) = committer;
    }

    fn troubles(&self) -> MutexGuard<'_, Troubles> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn report(&self, event: Event) {
        self.send(SourceEvent::Report(event));
    }

    fn send(&self, event: SourceEvent) {
        // Nobody listens any more once the consumer has ended.
        let _ = self.events.send(event);
    }

    pub(super) fn assigned(&self, list: &TopicPartitionList) {
        self.joined.store(true, Ordering::Relaxed);
        let mut lanes = self.lanes();
        let assigned: Vec<_> = partitions(list)
            .into_iter()
            .map(|partition| {
                lanes.close(&partition.topic, partition.partition);
                let (lane, assigned) = Lane::open(partition, Arc::clone(&self.waker));
                lanes.open.push(lane);
                assigned
            })
            .collect();
        drop(lanes);
        self.report(Event::Assigned { partitions: assigned.iter().map(|each| each.partition.clone()).collect() });
        self.send(SourceEvent::Assigned(assigned));
    }

    /// Ends a member that has never joined, if it turns out that no broker lets it in.
    fn find_out(&self) {
        let (joined, events) = (Arc::clone(&self.joined), self.events.clone());
        self.probe.start(move |refusal| {
            if let Some(refusal) = refusal.filter(|_| !joined.load(Ordering::Relaxed)) {
                // Nobody listens any more once the consumer has ended.
                let _ = events.send(SourceEvent::Ended(refusal));
            }
        });
    }

    fn revoked(&self, list: &TopicPartitionList, lost: bool) {
        let partitions = partitions(list);
        let mut lanes = self.lanes();
        let closed: Vec<_> = partitions.iter().filter_map(|each| lanes.close(&each.topic, each.partition)).collect();
        drop(lanes);
        if lost {
            self.report(Event::Lost { partitions });
            return;
        }
        let offsets = closed.iter().filter_map(Lane::committable).collect();
        let committer = self.committer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(committer) = committer
            && let Err(error) = committer.commit_within(offsets, REVOKE_COMMIT)
        {
            self.report(Event::CommitFailed { error });
        }
        self.report(Event::Revoked { partitions });
    }
}

fn partitions(list: &TopicPartitionList) -> Vec<TopicPartition> {
    list.elements()
        .iter()
        .map(|each| TopicPartition { topic: each.topic().into(), partition: each.partition() })
        .collect()
}

impl ClientContext for Group {
    fn error(&self, error: ClientError, reason: &str) {
        let code = error.rdkafka_error_code();
        if code == Some(Code::PartitionEOF) {
            // The poll tells of it too.
            return;
        }
        let mut error = crate::error::KafkaError::from(error);
        if !reason.is_empty() {
            error = error.with_context(reason);
        }
        if error.is_refused() {
            error = error.with_context(&format!("group `{}` of {:?}", self.name, self.topics));
        }
        let joined = self.joined.load(Ordering::Relaxed);
        if error.is_fatal() || (error.is_about_a_right() && !joined) {
            self.send(SourceEvent::Ended(error));
            return;
        }
        if !joined && errors::is_of_the_connection(code) {
            self.find_out();
        }
        self.report(match code {
            Some(Code::PollExceeded) => Event::LeftGroup { error },
            Some(Code::UnknownTopic | Code::UnknownTopicOrPartition) => {
                // The longest one: `orders` is contained in the name of `orders.retry.1` too.
                let named = self.topics.iter().filter(|topic| reason.contains(topic.as_str()));
                let topic = named.max_by_key(|topic| topic.len()).cloned();
                Event::TopicMissing { topic: topic.unwrap_or_default(), error }
            }
            _ if self.troubles().are_new(error.code(), Instant::now()) => Event::Trouble { error },
            _ => return tracing::debug!(%error, "the same trouble"),
        });
    }
}

impl ConsumerContext for Group {
    fn pre_rebalance(&self, client: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(list) = rebalance {
            self.revoked(list, client.assignment_lost());
        }
    }

    fn post_rebalance(&self, client: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(list) => {
                self.assigned(list);
                // A partition that was paused when it was lost would stay paused when it comes back.
                if let Err(error) = client.resume(list) {
                    self.report(Event::Trouble { error: error.into() });
                }
            }
            Rebalance::Revoke(_) => {}
            Rebalance::Error(error) => {
                self.report(Event::Trouble { error: error.clone().into() });
            }
        }
    }
}
