//! Membership in a consumer group: what the client calls back while it is polled.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientContext, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext, Rebalance},
    error::{KafkaError as ClientError, RDKafkaErrorCode as Code},
};
use tokio::sync::mpsc::UnboundedSender;

use super::{
    commit_count::CommitCount,
    committer::Committer,
    errors,
    lanes::{Lane, Lanes},
    probe::Probe,
    source::{SourceEvent, SourceSettings},
    standing::Standing,
    troubles::Troubles,
    waker::Waker,
};
use crate::{event::Event, record::TopicPartition, time::deadline};

pub(super) type Client = BaseConsumer<Group>;

/// How long a rebalance may wait for the last commit of the partitions that go.
const REVOKE_COMMIT: Duration = Duration::from_secs(5);

/// How long a client that was told to close may take for it when nothing is left to do.
const CLOSING: Duration = Duration::from_millis(250);
const CLOSING_LOOK: Duration = Duration::from_millis(5);

/// State of the member, shared by the poll loop and the callbacks that run inside its polls.
pub(super) struct Group {
    name: String,
    topics: Vec<String>,
    standing: Arc<Standing>,
    waker: Arc<Waker>,
    committer: Mutex<Option<Committer>>,
    commit_count: Option<Arc<CommitCount>>,
    /// How long a rebalance may wait for the records at work on partitions that go.
    revoke_timeout: Duration,
    events: UnboundedSender<SourceEvent>,
    troubles: Mutex<Troubles>,
    probe: Arc<Probe>,
}

impl Group {
    pub(super) fn new(
        settings: &SourceSettings,
        standing: Arc<Standing>,
        commit_count: Option<Arc<CommitCount>>,
        waker: Arc<Waker>,
        events: UnboundedSender<SourceEvent>,
        probe: Arc<Probe>,
    ) -> Self {
        Self {
            name: settings.group.clone(),
            topics: settings.read.topics(),
            commit_count,
            revoke_timeout: settings.revoke_timeout,
            standing,
            waker,
            committer: Mutex::default(),
            events,
            troubles: Mutex::default(),
            probe,
        }
    }

    pub(super) fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.standing.lanes()
    }

    /// Set while the member runs. The committer's thread holds the client, which holds this: it has to be taken out
    /// before the client can be closed.
    pub(super) fn set_committer(&self, committer: Option<Committer>) {
        *self.committer() = committer;
    }

    /// Without one the member is leaving: it has waited and committed.
    fn committer(&self) -> MutexGuard<'_, Option<Committer>> {
        self.committer.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.standing.join();
        let mut lanes = self.lanes();
        let assigned: Vec<_> = partitions(list)
            .into_iter()
            .map(|partition| {
                if let Some(lane) = lanes.close(&partition.topic, partition.partition) {
                    lane.progress.close();
                }
                let (lane, assigned) = Lane::open(partition, Arc::clone(&self.waker), self.commit_count.clone());
                lanes.add(lane);
                assigned
            })
            .collect();
        drop(lanes);
        self.report(Event::Assigned { partitions: assigned.iter().map(|each| each.partition.clone()).collect() });
        self.send(SourceEvent::Assigned(assigned));
    }

    /// Ends a member that has never joined, if it turns out that no broker lets it in.
    fn find_out(&self) {
        let (standing, events) = (Arc::clone(&self.standing), self.events.clone());
        self.probe.start(move |refusal| {
            if let Some(refusal) = refusal.filter(|_| !standing.has_joined()) {
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
            closed.iter().for_each(|lane| lane.progress.close());
            self.report(Event::Lost { partitions });
            return;
        }
        let committer = self.committer().clone();
        if let Some(committer) = committer {
            let deadline = deadline(self.revoke_timeout);
            closed.iter().for_each(|lane| lane.progress.wait_until_idle(deadline));
            let offsets = closed.iter().filter_map(Lane::committable).collect();
            if let Err(error) = committer.commit_within(offsets, REVOKE_COMMIT) {
                self.report(Event::CommitFailed { error });
            }
        }
        closed.iter().for_each(|lane| lane.progress.close());
        self.report(Event::Revoked { partitions });
    }
}

/// An assignment that comes when the member leaves is mostly one of a group that it has left already. The client library
/// never answers who takes it up while it closes, and refuses it afterwards; if it goes on, the assignment is to be taken.
fn wait_until_closed(client: &BaseConsumer<Group>) {
    let until = deadline(CLOSING);
    while Instant::now() < until {
        let closed = client.closed();
        // Also when it is: it says so a moment before it refuses.
        thread::sleep(CLOSING_LOOK);
        if closed {
            return;
        }
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
        if error.is_fatal() || (error.is_about_a_right() && !self.standing.has_joined()) {
            self.send(SourceEvent::Ended(error));
            return;
        }
        if !self.standing.has_joined() && errors::is_of_the_connection(code) {
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
        match rebalance {
            Rebalance::Revoke(list) => self.revoked(list, client.assignment_lost()),
            Rebalance::Assign(_) if self.committer().is_none() => wait_until_closed(client),
            _ => {}
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
