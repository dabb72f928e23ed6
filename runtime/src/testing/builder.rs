//! Settings of a kit.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use super::{TestBroker, TestKit, TestKitError, journal::Journal, kit::GROUP, task::Task};
use crate::{
    client::{Kafka, KafkaBuilder},
    config::ConfigError,
    consumer::ConsumerBuilder,
    event::Event,
    lab::Lab,
    retry_topics::RetryTopics,
    router::Routes,
    time::Clock,
};

/// Settings of a [`TestKit`]; made by [`TestKit::builder`].
///
/// ```
/// use std::time::Duration;
///
/// use babelqueue::{ConsumerBuilder, Delivery, HandlerError, ProcessingOrder, RetryTopics, babel_job, routes, testing::TestKit};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created", key = order_id)]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
///     Ok(())
/// }
///
/// // What the service calls, too.
/// fn settings(consumer: ConsumerBuilder) -> ConsumerBuilder {
///     consumer
///         .retry_topics(RetryTopics::for_topic("orders").tiers([Duration::from_secs(1), Duration::from_secs(1800)]))
///         .max_tries(5)
///         .order(ProcessingOrder::Key)
/// }
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let kit = TestKit::builder()
///     .partitions(4)
///     .consumer(settings)
///     .connection(|kafka| kafka.delivery_timeout(Duration::from_secs(2)).build())
///     .patience(Duration::from_secs(30))
///     .start(routes![OrderCreated => on_created])
///     .await?;
/// let id = kit.publish(&OrderCreated { order_id: 1042 }).await?;
/// assert_eq!(kit.handled(id).await?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a kit starts with `.start(routes).await`"]
pub struct TestKitBuilder {
    partitions: i32,
    patience: Duration,
    consumer: Option<ConsumerSettings>,
    connection: ConnectionSettings,
}

type ConsumerSettings = Box<dyn FnOnce(ConsumerBuilder) -> ConsumerBuilder + Send>;
type ConnectionSettings = Box<dyn FnOnce(KafkaBuilder) -> Result<Kafka, ConfigError> + Send>;

impl TestKitBuilder {
    pub(super) fn new() -> Self {
        Self {
            partitions: 1,
            patience: Duration::from_secs(15),
            consumer: None,
            connection: Box::new(KafkaBuilder::build),
        }
    }

    /// The number of partitions of each topic; 1 by default.
    pub fn partitions(mut self, partitions: i32) -> Self {
        self.partitions = partitions;
        self
    }

    /// How long the kit waits for what a test expects before it says that it did not happen; 15 s by default. Nothing
    /// takes longer because of it: a test goes on as soon as it does happen.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Settings of the consumer, best by the function that the service itself uses. The retry topics and dead-letter
    /// topics that it names are created, and the reinjector reads them.
    ///
    /// Without this, each topic has the recommended retry topics and a dead-letter topic, and all else is by default.
    pub fn consumer(mut self, settings: impl FnOnce(ConsumerBuilder) -> ConsumerBuilder + Send + 'static) -> Self {
        self.consumer = Some(Box::new(settings));
        self
    }

    /// Settings of the connection, on top of those of [`TestBroker::builder`].
    pub fn connection(
        mut self,
        settings: impl FnOnce(KafkaBuilder) -> Result<Kafka, ConfigError> + Send + 'static,
    ) -> Self {
        self.connection = Box::new(settings);
        self
    }

    /// Starts a broker with all topics, the consumer of these routes, and the reinjector of its retry topics. Must be
    /// called on a tokio runtime.
    ///
    /// # Errors
    ///
    /// The broker does not start, or the settings cannot work.
    pub async fn start(self, routes: Routes) -> Result<TestKit, TestKitError> {
        let broker = TestBroker::start(&[])?;
        let journal = Arc::new(Journal::new());
        let observed = Arc::clone(&journal);
        let (clock, lab) = (Clock::movable(), Arc::new(Lab::new(move |what| observed.observe(what))));
        let kafka = (self.connection)(broker.builder().in_lab(clock.clone(), Arc::clone(&lab)))?;

        let consumer = kafka.consumer(GROUP);
        let consumer = match self.consumer {
            Some(settings) => settings(consumer),
            None => with_recommended_retry_topics(consumer, &routes),
        };
        let topics = consumer.check(&routes)?;
        let retry_topics = consumer.all_retry_topics().to_vec();
        for topic in all_topics(&topics, &retry_topics) {
            broker.create_topic(&topic, self.partitions)?;
        }
        journal.reads(topics);

        let reinjector = if retry_topics.iter().any(RetryTopics::has_tiers) {
            let tiers = retry_topics.iter().filter(|topics| topics.has_tiers()).cloned();
            let told = Arc::clone(&journal);
            let reinjector = kafka.reinjector(tiers).on_event(move |event| told.event("reinjector", event));
            Some(Task::start("reinjector", &journal, reinjector.handle(), reinjector.run()))
        } else {
            None
        };
        let (failed, told) = (Arc::clone(&journal), Arc::clone(&journal));
        let event = move |event: &Event| {
            told.event("consumer", event);
            told.assignment(event);
        };
        let consumer = consumer.watched(move |error| failed.record_error(error), event).serve(routes);
        Ok(TestKit {
            consumer: Task::start("consumer", &journal, consumer.handle(), consumer.run()),
            reinjector,
            kafka,
            clock,
            lab,
            journal,
            partitions: self.partitions,
            retry_topics,
            patience: self.patience,
            broker,
        })
    }
}

fn with_recommended_retry_topics(consumer: ConsumerBuilder, routes: &Routes) -> ConsumerBuilder {
    let topics = consumer.topics_to_read(routes).into_iter();
    topics.fold(consumer, |consumer, topic| consumer.retry_topics(RetryTopics::for_topic(topic).recommended_tiers()))
}

/// Each once.
fn all_topics(work: &[String], retry: &[RetryTopics]) -> BTreeSet<String> {
    let dead_letters = retry.iter().filter_map(|topics| topics.dead_letter_topic_name().map(str::to_owned));
    work.iter().cloned().chain(retry.iter().flat_map(RetryTopics::retry_topic_names)).chain(dead_letters).collect()
}

impl fmt::Debug for TestKitBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestKitBuilder")
            .field("partitions", &self.partitions)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
