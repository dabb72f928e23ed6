//! Settings of a consumer.

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use super::{Consumer, RecordError};
use crate::{
    client::Kafka,
    config::ConfigError,
    event::Event,
    idempotency::Idempotency,
    retry_topics::{RetryTopics, is_topic_name},
    router::Routes,
    settle::{Exhausted, Rules, UnknownUrn},
};

/// Which records of a partition a consumer may handle at the same time. Partitions are always handled side by side, and
/// offsets are committed up to the first unfinished record in every order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessingOrder {
    /// One after another, in the order of the partition.
    #[default]
    Partition,
    /// Records with one key one after another, in the order of the partition; those with different keys, or with none, at
    /// the same time.
    Key,
    /// Any at the same time.
    Unordered,
}

/// When finished records are committed, besides at the [commit interval](ConsumerBuilder::commit_interval) and when a
/// partition or the consumer goes. What a crash finds finished and uncommitted is handled again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommitPolicy {
    /// At nothing else. Costs one request to the broker an interval, whatever the throughput.
    #[default]
    Interval,
    /// As soon as so many records are finished, over all partitions of the consumer. Costs one request for as many
    /// records; while one is on its way no other is sent.
    Count(u64),
    /// After each record. Where the order is that of the partition the next record of the partition begins once the broker
    /// has acknowledged the commit, so a crash repeats one record a partition at most; that costs each record a round trip
    /// to the broker, and most of the throughput. In the other orders records that finish during a commit share the next.
    EachRecord,
}

impl CommitPolicy {
    /// After how many records a commit is due.
    pub(super) fn count(self) -> Option<u64> {
        match self {
            Self::Interval => None,
            Self::Count(records) => Some(records),
            Self::EachRecord => Some(1),
        }
    }
}

/// Settings of a consumer; start it by [`ConsumerBuilder::serve`].
#[derive(Clone)]
#[must_use = "a consumer starts with `.serve(routes).run_until(…)`"]
pub struct ConsumerBuilder {
    pub(super) kafka: Kafka,
    pub(super) group: String,
    pub(super) topics: Option<Vec<String>>,
    pub(super) retry_topics: Vec<RetryTopics>,
    pub(super) rules: Rules,
    pub(super) idempotency: Option<Idempotency>,
    pub(super) order: ProcessingOrder,
    pub(super) concurrency: usize,
    pub(super) batch_wait: Duration,
    pub(super) commit_interval: Duration,
    pub(super) commit_policy: CommitPolicy,
    pub(super) revoke_timeout: Duration,
    pub(super) stall_timeout: Duration,
    pub(super) shutdown_timeout: Duration,
    pub(super) hooks: Hooks,
}

/// What the user is told through; each call happens on the thread of the consumer and should be short.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    error: Option<Hook<RecordError>>,
    event: Option<Hook<Event>>,
}

type Hook<T> = Arc<dyn Fn(&T) + Send + Sync>;

impl Hooks {
    pub(super) fn error(&self, error: &RecordError) {
        if let Some(hook) = &self.error {
            hook(error);
        }
    }

    pub(super) fn event(&self, event: &Event) {
        event.trace();
        if let Some(hook) = &self.event {
            hook(event);
        }
    }
}

#[cfg(feature = "testing")]
fn both<T: 'static>(first: Option<Hook<T>>, then: impl Fn(&T) + Send + Sync + 'static) -> Hook<T> {
    Arc::new(move |told| {
        if let Some(first) = &first {
            first(told);
        }
        then(told);
    })
}

impl Kafka {
    /// A consumer in this consumer group. Members of one group share the partitions of their topics.
    ///
    /// A new group starts with the oldest record. Tuned for throughput (see DESIGN.md), each to be replaced by
    /// [`KafkaBuilder::consumer_property`](crate::KafkaBuilder::consumer_property): `auto.offset.reset=earliest`,
    /// `fetch.queue.backoff.ms=10`, `fetch.wait.max.ms=100`, `queued.min.messages=10000`,
    /// `queued.max.messages.kbytes=16384`, `topic.metadata.refresh.interval.ms=5000`.
    pub fn consumer(&self, group: impl Into<String>) -> ConsumerBuilder {
        ConsumerBuilder {
            kafka: self.clone(),
            group: group.into(),
            topics: None,
            retry_topics: Vec::new(),
            rules: Rules { max_tries: 3, unknown_urn: UnknownUrn::default(), exhausted: Exhausted::default() },
            idempotency: None,
            order: ProcessingOrder::default(),
            concurrency: 256,
            batch_wait: Duration::ZERO,
            commit_interval: Duration::from_secs(1),
            commit_policy: CommitPolicy::default(),
            revoke_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(5 * 60),
            shutdown_timeout: Duration::from_secs(30),
            hooks: Hooks::default(),
        }
    }
}

impl ConsumerBuilder {
    /// Reads these topics in place of the jobs' own, such as those of a region or of a test environment. One that is named
    /// twice is read once.
    pub fn topics(mut self, topics: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut topics: Vec<_> = topics.into_iter().map(Into::into).collect();
        topics.sort_unstable();
        topics.dedup();
        self.topics = Some(topics);
        self
    }

    /// Where the records of a work topic go when they are not handled; call it once for each work topic. Without it a
    /// failed handler ends the consumer, and a record that is no envelope is reported and let go by.
    ///
    /// The retry topics and the dead-letter topic have to exist, and a [`Reinjector`](crate::Reinjector) has to run.
    pub fn retry_topics(mut self, topics: RetryTopics) -> Self {
        self.retry_topics.push(topics);
        self
    }

    /// How often a record is delivered before it is a dead letter, the first delivery included; 3 by default.
    pub fn max_tries(mut self, tries: u32) -> Self {
        self.rules.max_tries = tries;
        self
    }

    /// What to do with a record whose tries are used up or that failed for good, on a work topic with retry topics and
    /// [without a dead-letter topic](RetryTopics::without_dead_letters); by default it is reported and let go by. A record
    /// that is no envelope, or of another version, is let go by in any case (contract section 3).
    pub fn exhausted(mut self, policy: Exhausted) -> Self {
        self.rules.exhausted = policy;
        self
    }

    /// What to do with a record whose URN has no handler; by default the consumer stops.
    pub fn unknown_urn(mut self, strategy: UnknownUrn) -> Self {
        self.rules.unknown_urn = strategy;
        self
    }

    /// Skips messages that were handled before; none by default. [`Summary::duplicates`](crate::Summary::duplicates)
    /// counts them. The guard's store remembers for this consumer group alone: do not share it with another one.
    pub fn idempotency(mut self, guard: Idempotency) -> Self {
        self.idempotency = Some(guard);
        self
    }

    /// Which records of a partition may be handled at the same time; by default none.
    ///
    /// Where some are, each handler is a task of its own. A failed record holds up no other one, in every order: what has
    /// its key goes on while it waits on its retry topic. At most 16,384 records of a partition are taken from the first
    /// unfinished one on, so a handler that does not end holds up its partition sooner or later.
    pub fn order(mut self, order: ProcessingOrder) -> Self {
        self.order = order;
        self
    }

    /// How many handlers may run at the same time in this consumer, over all its partitions; 256 by default.
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.concurrency = handlers;
        self
    }

    /// How long a [batch](crate::BatchHandler) waits to fill; by default it does not: what is there is handled. The wait
    /// begins with the batch's first record, and ends early where a record of another job follows. It has to be shorter
    /// than [`stall_timeout`](ConsumerBuilder::stall_timeout).
    pub fn batch_wait(mut self, wait: Duration) -> Self {
        self.batch_wait = wait;
        self
    }

    /// How often finished records are committed; 1 s by default. After a crash at most this much is handled again,
    /// together with what was being handled. A commit costs one request to the broker.
    pub fn commit_interval(mut self, interval: Duration) -> Self {
        self.commit_interval = interval;
        self
    }

    /// When finished records are committed besides at the commit interval; by default at nothing else.
    pub fn commit_policy(mut self, policy: CommitPolicy) -> Self {
        self.commit_policy = policy;
        self
    }

    /// How long the handlers of a partition that is revoked may run on before its next owner gets it; 5 s by default.
    /// They [are told](crate::Delivery::cancelled) at once, and no further one is started. What they return within this
    /// time is settled and committed; after it, the partition's next owner handles their records again. The whole group
    /// waits meanwhile, so stay well below `max.poll.interval.ms` (5 minutes).
    pub fn revoke_timeout(mut self, timeout: Duration) -> Self {
        self.revoke_timeout = timeout;
        self
    }

    /// For how long one record may hold up its partition before that is told by [`Event::Stalled`] and
    /// [`HealthReport::is_live`](crate::HealthReport::is_live) turns bad; 5 minutes by default. Choose more than the slowest
    /// handler takes.
    pub fn stall_timeout(mut self, timeout: Duration) -> Self {
        self.stall_timeout = timeout;
        self
    }

    /// How long a shutdown may take: running handlers finish, offsets are committed, the group is left; 30 s by default.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }

    /// Is called for each record that was not handled, once it is known what was done with it, but for those that
    /// [`UnknownUrn::Delete`] lets go by. It must not block.
    pub fn on_error(mut self, hook: impl Fn(&RecordError) + Send + Sync + 'static) -> Self {
        self.hooks.error = Some(Arc::new(hook));
        self
    }

    /// Is called when partitions come and go, and when the connection has trouble. It must not block.
    pub fn on_event(mut self, hook: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.hooks.event = Some(Arc::new(hook));
        self
    }

    pub(crate) fn topics_to_read(&self, routes: &Routes) -> Vec<String> {
        match &self.topics {
            Some(topics) => topics.clone(),
            None => routes.topics().into_iter().map(str::to_owned).collect(),
        }
    }

    /// The topics to read, or what cannot work with these settings.
    pub(crate) fn check(&self, routes: &Routes) -> Result<Vec<String>, ConfigError> {
        let refuse = |name, reason| Err(ConfigError::Setting { name, reason });
        let topics = self.topics_to_read(routes);
        if self.group.is_empty() {
            return refuse("group", "is empty");
        }
        if topics.is_empty() {
            return refuse("topics", "name no topic to read");
        }
        if !topics.iter().all(|topic| is_topic_name(topic)) {
            return refuse("topics", "hold a name that Kafka takes for no topic; patterns are not supported");
        }
        if !(1..=Semaphore::MAX_PERMITS).contains(&self.concurrency) {
            return refuse("concurrency", "has to be at least 1, and a number of handlers that can run at once");
        }
        if self.commit_policy == CommitPolicy::Count(0) {
            return refuse("commit_policy", "has to count at least 1 record");
        }
        if routes.batch_sizes().any(|max| max == 0) {
            return refuse("routes", "hold a handler of batches of 0 jobs");
        }
        if self.order != ProcessingOrder::Partition && routes.batch_sizes().next().is_some() {
            return refuse("order", "has to be that of the partition where a handler takes batches");
        }
        if self.batch_wait >= self.stall_timeout && routes.batch_sizes().next().is_some() {
            return refuse(
                "batch_wait",
                "has to be shorter than `stall_timeout`, or a batch that waits to fill is a stall",
            );
        }
        if self.rules.max_tries == 0 {
            return refuse("max_tries", "has to be at least 1");
        }
        RetryTopics::validate_all(&self.retry_topics)?;
        for retry in &self.retry_topics {
            let refuse = |reason| Err(ConfigError::RetryTopics { topic: retry.work_topic().to_owned(), reason });
            if !topics.iter().any(|topic| topic == retry.work_topic()) {
                return refuse("this consumer does not read that topic");
            }
            if topics.iter().any(|topic| retry.writes_to(topic)) {
                return refuse("this consumer reads a topic that it would write to");
            }
        }
        let every =
            |has: fn(&RetryTopics) -> bool| topics.iter().all(|topic| self.retry_topics_of(topic).is_some_and(has));
        match self.rules.unknown_urn {
            UnknownUrn::Release if !every(RetryTopics::has_tiers) => {
                refuse("unknown_urn", "`Release` needs retry topics for every topic that is read")
            }
            UnknownUrn::DeadLetter if !every(|topics| topics.dead_letter_topic_name().is_some()) => {
                refuse("unknown_urn", "`DeadLetter` needs a dead-letter topic for every topic that is read")
            }
            _ => Ok(topics),
        }
    }

    pub(super) fn retry_topics_of(&self, topic: &str) -> Option<&RetryTopics> {
        self.retry_topics.iter().find(|topics| topics.work_topic() == topic)
    }

    /// Tells a test kit what the user's hooks are told, after them.
    #[cfg(feature = "testing")]
    pub(crate) fn watched(
        mut self,
        error: impl Fn(&RecordError) + Send + Sync + 'static,
        event: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.error = Some(both(self.hooks.error, error));
        self.hooks.event = Some(both(self.hooks.event, event));
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn all_retry_topics(&self) -> &[RetryTopics] {
        &self.retry_topics
    }

    /// The consumer of these routes, on the topics of their jobs unless others were named.
    pub fn serve(self, routes: Routes) -> Consumer {
        Consumer::new(self, routes)
    }
}

impl fmt::Debug for ConsumerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsumerBuilder")
            .field("kafka", &self.kafka)
            .field("group", &self.group)
            .field("topics", &self.topics)
            .field("retry_topics", &self.retry_topics)
            .field("rules", &self.rules)
            .field("idempotency", &self.idempotency)
            .field("order", &self.order)
            .field("concurrency", &self.concurrency)
            .field("batch_wait", &self.batch_wait)
            .field("commit_interval", &self.commit_interval)
            .field("commit_policy", &self.commit_policy)
            .field("revoke_timeout", &self.revoke_timeout)
            .field("stall_timeout", &self.stall_timeout)
            .field("shutdown_timeout", &self.shutdown_timeout)
            .finish_non_exhaustive()
    }
}
