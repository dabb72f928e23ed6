//! Settings of a redrive.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    report::RedriveReport,
    rules::Rules,
    select::{DeadLettered, Selection},
};
use crate::{client::Kafka, config::ConfigError, retry_topics::is_topic_name};

/// The consumer group of a redrive that is given no other.
pub(crate) const GROUP: &str = "babelqueue-redrive";

/// Sends dead letters back to where they came from (contract section 5); made by [`Kafka::redrive`], started by
/// [`Redrive::run`].
///
/// Each record of the dead-letter topic is either redriven or skipped. A redriven record starts over: its `dead_letter`
/// block is gone and its `attempts` are 0; key, payload, ids, unknown members and other headers stay as they are. A
/// skipped one is written back to the end of the dead-letter topic byte for byte. Either way its place is committed once
/// the broker has acknowledged the write, and the run ends where the topic ended when it started. At least once: after a
/// crash or a rebalance some records may be written again, and none is lost.
///
/// Redrives of one group that run at once share the partitions. Each ends when its own share has ended; what another one
/// leaves undone waits for the next run.
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example(kafka: babelqueue::Kafka) -> Result<(), Box<dyn std::error::Error>> {
/// let invoices = || {
///     kafka
///         .redrive("orders.dlq")
///         .urn("urn:babel:orders:invoice.requested")
///         .error_contains("connection reset")
///         .younger_than(Duration::from_secs(24 * 60 * 60))
/// };
/// let plan = invoices().dry_run().run().await?;
/// println!("{} of {} would be redriven: {:?}", plan.redriven, plan.read, plan.targets);
///
/// let report = invoices()
///     .maximum(10_000)
///     .rate(100)
///     .replay_bypass()
///     .on_progress(|so_far| println!("{} redriven", so_far.redriven))
///     .run_until(babelqueue::shutdown_signal())
///     .await?;
/// println!("{} redriven, {} skipped", report.redriven, report.skipped());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a redrive does nothing until `.run()` is awaited"]
pub struct Redrive {
    pub(super) kafka: Kafka,
    pub(super) group: String,
    pub(super) rules: Rules,
    pub(super) maximum: Option<u64>,
    pub(super) rate: Option<u32>,
    pub(super) dry: bool,
    progress: Option<Hook>,
}

type Hook = Arc<dyn Fn(&RedriveReport) + Send + Sync>;

impl Kafka {
    /// A redrive of this dead-letter topic, such as `orders.dlq`.
    pub fn redrive(&self, dead_letter_topic: impl Into<String>) -> Redrive {
        Redrive {
            kafka: self.clone(),
            group: GROUP.to_owned(),
            rules: Rules {
                dead_letters: dead_letter_topic.into(),
                target: None,
                selection: Selection::default(),
                bypass: false,
            },
            maximum: None,
            rate: None,
            dry: false,
            progress: None,
        }
    }
}

impl Redrive {
    /// The consumer group whose offsets say how far the dead-letter topic has been redriven; `babelqueue-redrive` by
    /// default.
    ///
    /// Kafka keeps records that were redriven until their retention ends, so only a redrive in the same group continues
    /// where the last one stopped: another group begins with the oldest record, and redrives again what was redriven
    /// before. To continue after the redrive of another SDK give its group: that of the Python SDK uses the group of its
    /// transport, `babelqueue` unless it was given another. That one is not the default here because the workers of that
    /// transport are members of the same group, and one more member makes their partitions move.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// Writes to this topic, such as one to try a fix on, in place of each record's own. It must not be the dead-letter
    /// topic itself.
    pub fn to(mut self, topic: impl Into<String>) -> Self {
        self.rules.target = Some(topic.into());
        self
    }

    /// Redrives at most so many records, at least 1. What lies behind them is left for the next run; records that are
    /// skipped on the way do not count.
    pub fn maximum(mut self, records: u64) -> Self {
        self.maximum = Some(records);
        self
    }

    /// Changes nothing: reads from where the group is to where the topic ends, without becoming a member of the group,
    /// and reports what a run would do.
    pub fn dry_run(mut self) -> Self {
        self.dry = true;
        self
    }

    /// Only records of this URN; given again, of any of them.
    pub fn urn(mut self, urn: impl Into<String>) -> Self {
        self.rules.selection.urns.push(urn.into());
        self
    }

    /// Only records that were given up for this reason, `failed` or `unknown_urn`; given again, for any of them. A
    /// record that was given up as `poison` cannot be redriven.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.rules.selection.reasons.push(reason.into());
        self
    }

    /// Only records that were given up longer ago than this, when the run starts.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.rules.selection.older_than = Some(age);
        self
    }

    /// Only records that were given up less long ago than this, when the run starts.
    pub fn younger_than(mut self, age: Duration) -> Self {
        self.rules.selection.younger_than = Some(age);
        self
    }

    /// Only records whose error contains this text, in this case; given again, any of them.
    pub fn error_contains(mut self, text: impl Into<String>) -> Self {
        self.rules.selection.errors.push(text.into());
        self
    }

    /// Only records that this says yes to; given again, all of them. It is asked last, may be asked again about the same
    /// record, and must not block.
    pub fn select(mut self, choice: impl Fn(&DeadLettered<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.rules.selection.choices.push(Arc::new(choice));
        self
    }

    /// Marks each redriven record with the header `bq-replay-bypass`, so that handlers can tell
    /// ([`Delivery::is_replay`](crate::Delivery::is_replay)) and leave out what must not happen twice.
    pub fn replay_bypass(mut self) -> Self {
        self.rules.bypass = true;
        self
    }

    /// Redrives at most so many records a second, at least 1, evenly; without this as fast as the brokers take them.
    /// Skipped records and dry runs are not held back.
    pub fn rate(mut self, records_per_second: u32) -> Self {
        self.rate = Some(records_per_second);
        self
    }

    /// Is called about once a second with what was done so far. It must not block.
    pub fn on_progress(mut self, hook: impl Fn(&RedriveReport) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(hook));
        self
    }

    pub(super) fn tell(&self, report: &RedriveReport) {
        if let Some(hook) = &self.progress {
            hook(report);
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |name, reason| Err(ConfigError::Setting { name, reason });
        let Rules { dead_letters, target, .. } = &self.rules;
        if self.group.is_empty() {
            return refuse("group", "is empty");
        }
        if !is_topic_name(dead_letters) {
            return refuse("redrive", "names no topic");
        }
        match target.as_deref() {
            Some(target) if !is_topic_name(target) => return refuse("to", "names no topic"),
            Some(target) if target == dead_letters => return refuse("to", "is the dead-letter topic itself"),
            _ => {}
        }
        if self.maximum == Some(0) {
            return refuse("maximum", "has to be at least 1");
        }
        if self.rate == Some(0) {
            return refuse("rate", "has to be at least 1 record per second");
        }
        Ok(())
    }
}

impl fmt::Debug for Redrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redrive")
            .field("kafka", &self.kafka)
            .field("group", &self.group)
            .field("rules", &self.rules)
            .field("maximum", &self.maximum)
            .field("rate", &self.rate)
            .field("dry", &self.dry)
            .finish_non_exhaustive()
    }
}
