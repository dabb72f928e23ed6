//! Creates what is missing of retry topics and dead-letter topics, and reports what is wrong with the rest.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use super::{
    check::{check, create_command},
    finding::{TopicFinding, TopicFindings},
    wanted::{Asked, names, purposes, work},
};
use crate::{
    client::Kafka,
    config::ConfigError,
    error::KafkaError,
    kafka::{Admin, Found, FoundTopics},
    retry_topics::RetryTopics,
};

/// How long a broker may take to describe the topics.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Settings of the topics that [`Kafka::ensure_topics`] creates. Await it.
#[derive(Clone, Debug)]
#[must_use = "nothing is created until it is awaited"]
pub struct EnsureTopics {
    kafka: Kafka,
    topics: RetryTopics,
    asked: Asked,
}

/// What [`Kafka::ensure_topics`] found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicReport {
    /// The topics that were created.
    pub created: Vec<String>,
    /// Those that existed, and were left as they are.
    pub existing: Vec<String>,
    /// What may break the promise of those; none of it is fatal.
    pub warnings: Vec<TopicFinding>,
}

/// Why retry and dead letters cannot rely on their topics.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnsureTopicsError {
    /// The retry topics or the settings asked for cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The broker did not answer.
    #[error("the topics could not be ensured: {0}")]
    Kafka(#[from] KafkaError),
    /// A topic exists with settings that break the promise, or could not be created. Topics beside it may have been.
    #[error(transparent)]
    Topics(#[from] TopicFindings),
}

impl EnsureTopics {
    pub(super) fn new(kafka: Kafka, topics: RetryTopics) -> Self {
        Self { kafka, topics, asked: Asked::default() }
    }

    /// The number of partitions; by default that of the work topic.
    pub fn partitions(mut self, partitions: i32) -> Self {
        self.asked.partitions = Some(partitions);
        self
    }

    /// The number of replicas; by default that of the work topic, or the broker's own default where that cannot be seen.
    pub fn replication(mut self, replicas: i32) -> Self {
        self.asked.replication = Some(replicas);
        self
    }

    /// How long every retry topic keeps a record; by default its tier's delay and 7 days, in which a reinjector that
    /// stands still can be mended. Longer than the longest tier.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.asked.retention = Some(retention);
        self
    }

    /// How long the dead-letter topic keeps a record; 30 days by default.
    pub fn dead_letter_retention(mut self, retention: Duration) -> Self {
        self.asked.dead_letter_retention = Some(retention);
        self
    }

    async fn run(self) -> Result<TopicReport, EnsureTopicsError> {
        self.asked.validate(&self.topics)?;
        let config = self.kafka.config();
        let admin = Admin::new(config)?;
        let mut found = admin.look(&names(&self.topics), TIMEOUT).await?;
        let (created, not_created) = self.create(&admin, &mut found).await?;
        let findings = [check(&self.topics, &found, &config.brokers), not_created].concat();
        let warnings = TopicFindings::refuse_fatal(findings)?;
        let existing = purposes(&self.topics).into_iter().map(|(topic, _)| topic);
        let existing = existing.filter(|topic| !created.contains(topic)).collect();
        Ok(TopicReport { created, existing, warnings })
    }

    /// Creates what was not found, and takes it out of what is to be checked. Returns what was created and why the rest
    /// was not.
    async fn create(
        &self,
        admin: &Admin,
        found: &mut FoundTopics,
    ) -> Result<(Vec<String>, Vec<TopicFinding>), KafkaError> {
        // What could not be seen may be missing as well, and creating never touches what exists.
        let absent = |topic: &str| !matches!(found.get(topic), Some(Found::There { .. }));
        let new: Vec<_> = purposes(&self.topics)
            .into_iter()
            .filter(|(topic, _)| absent(topic))
            .map(|(topic, purpose)| self.asked.new_topic(&topic, purpose, work(&self.topics, found)))
            .collect();
        if new.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        if new.iter().any(|topic| topic.partitions.is_none()) {
            return Ok((Vec::new(), vec![self.without_partitions()]));
        }
        let (mut created, mut not_created) = (Vec::new(), Vec::new());
        let brokers = &self.kafka.config().brokers;
        for (new, result) in new.iter().zip(admin.create(&new).await?) {
            match result {
                Ok(true) => {
                    tracing::info!(topic = new.topic, partitions = new.partitions, "created");
                    created.push(new.topic.clone());
                }
                // Another instance was faster.
                Ok(false) => {}
                Err(error) => not_created.push(TopicFinding {
                    topic: new.topic.clone(),
                    problem: format!("does not exist, and could not be created: {error}"),
                    remedy: create_command(new, brokers),
                    fatal: true,
                }),
            }
            if found.get(&new.topic) == Some(&Found::Missing) {
                found.remove(&new.topic);
            }
        }
        Ok((created, not_created))
    }

    fn without_partitions(&self) -> TopicFinding {
        let topic = self.topics.work_topic();
        TopicFinding {
            topic: topic.to_owned(),
            problem: "does not exist or cannot be seen, so the number of partitions is not known".to_owned(),
            remedy: format!(
                "call `kafka.create_topic_if_missing({topic:?}, …)` before, or name it by `.partitions(…)`"
            ),
            fatal: true,
        }
    }
}

impl IntoFuture for EnsureTopics {
    type Output = Result<TopicReport, EnsureTopicsError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
