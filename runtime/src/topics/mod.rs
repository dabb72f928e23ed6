//! Topics: their creation, and whether they can keep what is promised of them (contract section 4).

mod check;
mod ensure;
mod finding;
mod wanted;

use std::{collections::BTreeSet, time::Duration};

pub use self::{
    ensure::{EnsureTopics, EnsureTopicsError, TopicReport},
    finding::{TopicFinding, TopicFindings},
};
use crate::{
    client::Kafka,
    error::{Class, KafkaError},
    kafka::{Admin, Found, FoundTopics, NewTopic, is_without_admin_calls},
    retry_topics::RetryTopics,
};

/// A check holds up a start for no longer than this.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

impl Kafka {
    /// Creates a work topic if it does not exist, with the broker's default settings; returns whether it was created. A
    /// topic that exists is left as it is, whatever its number of partitions.
    ///
    /// For development and tests: production topics are better created by those who run the cluster.
    ///
    /// ```no_run
    /// # async fn example(kafka: babelqueue::Kafka) -> Result<(), babelqueue::KafkaError> {
    /// if kafka.create_topic_if_missing("orders", 4).await? {
    ///     println!("created `orders` with 4 partitions");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No broker answers within 15 s, or it refuses.
    pub async fn create_topic_if_missing(&self, topic: &str, partitions: i32) -> Result<bool, KafkaError> {
        let new =
            NewTopic { topic: topic.to_owned(), partitions: Some(partitions), replication: None, settings: Vec::new() };
        let mut created = Admin::new(self.config())?.create(&[new]).await?;
        created.pop().unwrap_or_else(|| Err(KafkaError::new("NoAnswer", "the broker said nothing", Class::Permanent)))
    }

    /// Creates the retry topics and the dead-letter topic that do not exist, and checks those that do, as
    /// [`Kafka::check_topics`]. It never changes a topic that exists.
    ///
    /// They get as many partitions, replicas and in-sync replicas as the work topic has, `LogAppendTime` (contract
    /// section 4), no cleanup but by a retention that is longer than the tier, and room for the work topic's largest
    /// record with what the hop adds to it. The work topic itself is not created.
    ///
    /// ```no_run
    /// use babelqueue::RetryTopics;
    ///
    /// # async fn example(kafka: babelqueue::Kafka) -> Result<(), babelqueue::EnsureTopicsError> {
    /// let report = kafka.ensure_topics(&RetryTopics::for_topic("orders").recommended_tiers()).replication(3).await?;
    /// println!("created {:?}", report.created);
    /// for warning in &report.warnings {
    ///     eprintln!("{warning}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When awaited: the settings cannot work, no broker answers within 15 s, a topic could not be created, or one that
    /// exists would lose records. The last two say everything that is wrong, each with what mends it.
    pub fn ensure_topics(&self, topics: &RetryTopics) -> EnsureTopics {
        EnsureTopics::new(self.clone(), topics.clone())
    }

    /// Checks whether retry topics and dead-letter topics exist with settings that keep the promise: nothing is lost, and
    /// nothing is due at a time that depends on a writer's clock (contract section 4). Returns the warnings, which are
    /// also told by `tracing`.
    ///
    /// Where the account may not read the settings, or no broker answers within 5 s, that is a warning. On the embedded
    /// broker of feature `testing` nothing is checked: it takes no such questions, and creates topics by itself.
    ///
    /// ```no_run
    /// use babelqueue::RetryTopics;
    ///
    /// # async fn example(kafka: babelqueue::Kafka) -> Result<(), babelqueue::TopicFindings> {
    /// kafka.check_topics(&[RetryTopics::for_topic("orders").recommended_tiers()]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A topic is missing, or would lose records or refuse them, or the account has no right to it at all. The error says
    /// everything that is wrong, the warnings too, each with the command or call that mends it.
    pub async fn check_topics(&self, topics: &[RetryTopics]) -> Result<Vec<TopicFinding>, TopicFindings> {
        let brokers = &self.config().brokers;
        let names: BTreeSet<_> = topics.iter().flat_map(wanted::names).collect();
        let names: Vec<_> = names.into_iter().collect();
        let found = match self.look(&names).await {
            Ok(found) => found,
            Err(error) if is_without_admin_calls(&error) => {
                tracing::debug!(%error, "topics are not checked");
                return Ok(Vec::new());
            }
            Err(error) => names.into_iter().map(|topic| (topic, Found::Unseen(error.clone()))).collect(),
        };
        let mut findings = Vec::new();
        let all = |topics| [check::forbidden(topics, &found, brokers), check::check(topics, &found, brokers)].concat();
        for finding in topics.iter().flat_map(all) {
            // Work topics may share a dead-letter topic.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        let warnings = TopicFindings::refuse_fatal(findings)?;
        for TopicFinding { topic, problem, remedy, .. } in &warnings {
            tracing::warn!(topic, remedy, "`{topic}` {problem}");
        }
        Ok(warnings)
    }

    async fn look(&self, topics: &[String]) -> Result<FoundTopics, KafkaError> {
        if topics.is_empty() {
            return Ok(FoundTopics::new());
        }
        Admin::new(self.config())?.look(topics, CHECK_TIMEOUT).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::testing::TestBroker;

    #[tokio::test]
    async fn the_embedded_broker_is_not_checked_and_holds_up_no_start() {
        let broker = TestBroker::start(&[("orders", 4)]).unwrap();
        let kafka = broker.kafka().unwrap();
        let topics = RetryTopics::for_topic("orders").recommended_tiers();
        let start = Instant::now();
        assert_eq!(kafka.check_topics(std::slice::from_ref(&topics)).await, Ok(Vec::new()));
        let refused = kafka.ensure_topics(&topics).await;
        assert!(
            matches!(&refused, Err(EnsureTopicsError::Kafka(error)) if is_without_admin_calls(error)),
            "{refused:?}"
        );
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn a_broker_that_does_not_answer_is_a_warning_after_a_few_seconds() {
        let broker = TestBroker::start(&[]).unwrap();
        let kafka = broker.kafka().unwrap();
        broker.down().unwrap();
        let start = Instant::now();
        let warnings = kafka.check_topics(&[RetryTopics::for_topic("orders").recommended_tiers()]).await.unwrap();
        assert!(start.elapsed() < CHECK_TIMEOUT + Duration::from_secs(2), "{:?}", start.elapsed());
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(warning.problem.contains("could not be checked, nor could `orders.retry.1`, "), "{warning}");
    }
}
