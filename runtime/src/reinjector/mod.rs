//! The reinjector (contract section 4): moves records from their retry topic back to their work topic when their tier's
//! delay is over.
//!
//! Top to bottom: [`Reinjector::run_until`] starts the member and gives each assigned partition a worker; a worker waits
//! until the record at its head is due, writes it to its work topic and finishes it when that is acknowledged. What is
//! finished is committed by the member's own thread.

mod due;
mod next_hop;
mod report;
mod running;
mod worker;

use std::{
    collections::HashMap,
    fmt,
    future::{Future, pending},
    pin::pin,
    sync::Arc,
    time::Duration,
};

pub use self::report::{ReinjectSummary, ReinjectorError};
use self::running::Running;
use crate::{client::Kafka, config::ConfigError, event::Event, retry_topics::RetryTopics, shutdown::ShutdownHandle};

/// The group of the other SDKs' reinjectors too: whichever run share the partitions.
const GROUP: &str = "babelqueue-retry-reinject";

type Hook = Arc<dyn Fn(&Event) + Send + Sync>;

/// Moves records back to their work topics when their tiers' delays are over (contract section 4); made by
/// [`Kafka::reinjector`].
///
/// Value, key and headers travel as they are, but for `bq-delay` and `bq-original-topic`. Records of a partition go on in
/// their order, each at the earliest when its own delay is over by the clock of this machine and the timestamp of the
/// record. A timestamp from a clock that runs ahead holds a record for one tier at most, and with it those behind it: let
/// retry topics have `message.timestamp.type=LogAppendTime`, so that the timestamp is the broker's.
///
/// A record whose work topic does not exist, or does not take it, keeps its place and is tried again with growing pauses;
/// those behind it on its partition wait.
///
/// Tell it of every work topic that any service retries, in the tiers that this service uses. Several may run, of this
/// or another SDK: members of one group share the partitions.
///
/// ```no_run
/// use babelqueue::{Kafka, RetryTopics, shutdown_signal};
///
/// # async fn service() -> Result<(), Box<dyn std::error::Error>> {
/// let kafka = Kafka::connect("localhost:9092")?;
/// let orders = RetryTopics::for_topic("orders").recommended_tiers();
/// let summary = kafka.reinjector([orders]).run_until(shutdown_signal()).await?;
/// println!("{} records moved back", summary.reinjected);
/// # Ok(())
/// # }
/// ```
#[must_use = "a reinjector does nothing until `.run_until(…)` is awaited"]
pub struct Reinjector {
    kafka: Kafka,
    retry_topics: Vec<RetryTopics>,
    group: String,
    commit_interval: Duration,
    shutdown_timeout: Duration,
    hook: Option<Hook>,
    shutdown: ShutdownHandle,
}

fn tell(hook: Option<&Hook>, event: &Event) {
    event.trace();
    if let Some(hook) = hook {
        hook(event);
    }
}

impl Kafka {
    /// A reinjector of the retry topics of these work topics, in the consumer group `babelqueue-retry-reinject`.
    pub fn reinjector(&self, retry_topics: impl IntoIterator<Item = RetryTopics>) -> Reinjector {
        Reinjector {
            kafka: self.clone(),
            retry_topics: retry_topics.into_iter().collect(),
            group: GROUP.to_owned(),
            commit_interval: Duration::from_secs(1),
            shutdown_timeout: Duration::from_secs(30),
            hook: None,
            shutdown: ShutdownHandle::new(),
        }
    }
}

impl Reinjector {
    /// Another consumer group. Every retry topic should be read by one group only: each further one writes each record
    /// once more.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// How often finished records are committed; 1 s by default. After a crash at most this much is written again,
    /// together with what was on its way. A commit costs one request to the broker.
    pub fn commit_interval(mut self, interval: Duration) -> Self {
        self.commit_interval = interval;
        self
    }

    /// How long a shutdown may take: records on their way are acknowledged, offsets are committed, the group is left;
    /// 30 s by default.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }

    /// Is called when partitions come and go, when a write fails and when the connection has trouble. It must not block.
    pub fn on_event(mut self, hook: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// A handle that shuts this reinjector down from elsewhere.
    #[must_use]
    pub fn handle(&self) -> ShutdownHandle {
        self.shutdown.clone()
    }

    /// Runs until a [`ShutdownHandle`] asks it to shut down.
    ///
    /// # Errors
    ///
    /// As [`Reinjector::run_until`].
    pub async fn run(self) -> Result<ReinjectSummary, ReinjectorError> {
        self.run_until(pending()).await
    }

    /// Runs until `signal` is ready (or a [`ShutdownHandle`] asks), then shuts down: what is on its way is acknowledged,
    /// what is finished is committed, the group is left. Records that are not due keep their place.
    ///
    /// Dropping the future shuts down at once: what is finished is committed by the member's own thread.
    ///
    /// # Errors
    ///
    /// The settings are not usable, the topics would lose records ([`Kafka::check_topics`]), or the broker refused the
    /// account. What was finished until then is committed.
    pub async fn run_until(self, signal: impl Future<Output = ()>) -> Result<ReinjectSummary, ReinjectorError> {
        let tiers = self.tiers()?;
        let mut signal = pin!(signal);
        // Dead letters are none of its business.
        let topics: Vec<_> = self.retry_topics.iter().cloned().map(RetryTopics::without_dead_letters).collect();
        tokio::select! {
            checked = self.kafka.check_topics(&topics) => drop(checked?),
            () = &mut signal => return Ok(ReinjectSummary::default()),
            () = self.shutdown.asked() => return Ok(ReinjectSummary::default()),
        }
        let mut running = Running::start(&self, tiers)?;
        let ended = running.until(signal, &self.shutdown).await;
        let summary = running.shut_down().await;
        match ended {
            Ok(()) => Ok(summary),
            Err(error) => Err(ReinjectorError::Kafka { error, summary }),
        }
    }

    /// The retry topics to read, each with its delay.
    fn tiers(&self) -> Result<HashMap<String, Duration>, ConfigError> {
        if self.group.is_empty() {
            return Err(ConfigError::Setting { name: "group", reason: "is empty" });
        }
        RetryTopics::validate_all(&self.retry_topics)?;
        let all = self.retry_topics.iter().flat_map(RetryTopics::all_tiers);
        let tiers: HashMap<_, _> = all.map(|tier| (tier.topic, tier.delay)).collect();
        if tiers.is_empty() {
            return Err(ConfigError::Setting { name: "retry_topics", reason: "name no tier to read" });
        }
        Ok(tiers)
    }
}

impl fmt::Debug for Reinjector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reinjector")
            .field("kafka", &self.kafka)
            .field("retry_topics", &self.retry_topics)
            .field("group", &self.group)
            .field("commit_interval", &self.commit_interval)
            .field("shutdown_timeout", &self.shutdown_timeout)
            .finish_non_exhaustive()
    }
}
