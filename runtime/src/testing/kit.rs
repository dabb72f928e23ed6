//! The kit: starts and ends what a test needs, and awaits what becomes of its messages.

use std::{
    fmt::{self, Display},
    sync::Arc,
    time::Duration,
};

use uuid::Uuid;

use super::{
    DeadLetter, Outcome, Retried, TestBroker, TestBrokerError, TestKitBuilder, Unmet,
    journal::{Journal, Look},
    story::Story,
    task::Task,
};
use crate::{
    client::Kafka,
    config::ConfigError,
    consumer::{ConsumerError, Summary},
    error::KafkaError,
    job::Job,
    lab::Lab,
    publisher::{PublishError, Publisher},
    redrive::RedriveError,
    reinjector::{ReinjectSummary, ReinjectorError},
    retry_topics::RetryTopics,
    router::Routes,
    time::Clock,
};

/// The consumer group of the consumer.
pub(super) const GROUP: &str = "test-kit";

/// The production consumer and the reinjector at work on an embedded broker, for tests of handlers.
///
/// A test publishes, and awaits what becomes of the message. It never sleeps: each wait goes on as soon as what it waits
/// for has happened, and fails with a text that says what happened instead when that is certain, or when the kit's
/// [patience](TestKitBuilder::patience) is over. The time that a record waits on a retry topic passes by
/// [`TestKit::advance`].
///
/// ```
/// use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::TestKit};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created")]
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// async fn on_created(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
///     match (job.order_id, cx.attempts()) {
///         (13, _) => Err(HandlerError::fatal("no such warehouse")),
///         (7, 0) => Err(HandlerError::new("the warehouse is closed")),
///         _ => Ok(()),
///     }
/// }
///
/// // In a test of your own: `#[tokio::test]`.
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
///
/// let good = kit.publish(&OrderCreated { order_id: 1 }).await?;
/// assert_eq!(kit.handled(good).await?, 1);
///
/// let late = kit.publish(&OrderCreated { order_id: 7 }).await?;
/// let retried = kit.retried(late, 1).await?;
/// assert_eq!((retried.topic.as_str(), retried.error.as_str()), ("orders.retry.1", "the warehouse is closed"));
/// kit.advance(retried.delay);
/// assert_eq!(kit.handled(late).await?, 2);
///
/// let bad = kit.publish(&OrderCreated { order_id: 13 }).await?;
/// let letter = kit.dead_lettered(bad).await?;
/// assert_eq!(letter.error(), Some("no such warehouse (fatal)"));
/// assert_eq!(letter.job(), Some(OrderCreated { order_id: 13 }));
///
/// let summary = kit.shutdown().await?;
/// assert_eq!((summary.handled, summary.retried, summary.dead_lettered), (2, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What the kit knows of is what its own connection writes, [`TestKit::kafka`], and what its consumer reads, whoever wrote
/// it. Dropping it ends everything at once.
pub struct TestKit {
    // Dropped in this order: the broker goes last.
    pub(super) consumer: Task<Summary, ConsumerError>,
    pub(super) reinjector: Option<Task<ReinjectSummary, ReinjectorError>>,
    pub(super) kafka: Kafka,
    pub(super) clock: Clock,
    pub(super) lab: Arc<Lab>,
    pub(super) journal: Arc<Journal>,
    pub(super) partitions: i32,
    pub(super) retry_topics: Vec<RetryTopics>,
    pub(super) patience: Duration,
    pub(super) broker: TestBroker,
}

/// Why a kit does not start, or what one of its services ended with.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TestKitError {
    /// The embedded broker.
    #[error(transparent)]
    Broker(#[from] TestBrokerError),
    /// The settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The consumer ended with an error.
    #[error(transparent)]
    Consumer(#[from] ConsumerError),
    /// The reinjector ended with an error.
    #[error(transparent)]
    Reinjector(#[from] ReinjectorError),
    /// The redrive ended with an error.
    #[error(transparent)]
    Redrive(#[from] RedriveError),
    /// The dead letters could not be read.
    #[error("the dead letters could not be read: {0}")]
    DeadLetters(#[from] KafkaError),
    /// The consumer's group did not change as it should.
    #[error(transparent)]
    Rebalance(#[from] Unmet),
    /// The runtime that the kit was started on has ended.
    #[error("the runtime that the kit was started on has ended")]
    RuntimeEnded,
}

impl fmt::Debug for TestKitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What `?` and `unwrap` in a test show.
        Display::fmt(self, f)
    }
}

impl TestKit {
    /// Starts a kit of these routes, with one partition a topic, the recommended retry topics and a dead-letter topic for
    /// each topic, and defaults otherwise; see [`TestKit::builder`] for others.
    ///
    /// # Errors
    ///
    /// The broker does not start, or nothing is to be handled.
    pub async fn start(routes: Routes) -> Result<Self, TestKitError> {
        Self::builder().start(routes).await
    }

    /// A kit with settings of your own.
    pub fn builder() -> TestKitBuilder {
        TestKitBuilder::new()
    }

    /// The connection that all in the kit share, for publishers of your own.
    #[must_use]
    pub fn kafka(&self) -> &Kafka {
        &self.kafka
    }

    /// The broker, to take it [off the network](TestBroker::down) and put it back, or for clients of your own.
    #[must_use]
    pub fn broker(&self) -> &TestBroker {
        &self.broker
    }

    /// Publishes a job to its topic and returns its `meta.id`.
    ///
    /// # Errors
    ///
    /// As [`Publisher::publish`].
    pub async fn publish<J: Job>(&self, job: &J) -> Result<Uuid, PublishError> {
        Publisher::new(&self.kafka).publish(job).await
    }

    /// Waits until the `nth` message of a type was published, counted from 1 and whoever published it, and returns its
    /// `meta.id` and its payload: what a handler has published by [`Delivery::message`](crate::Delivery::message), say.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::TestKit};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated { order_id: u64 }
    /// # #[babel_job("urn:babel:invoices:requested")]
    /// # #[derive(Debug, PartialEq, Serialize, Deserialize)]
    /// # struct InvoiceRequested { order_id: u64 }
    /// async fn on_created(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    ///     cx.message(&InvoiceRequested { order_id: job.order_id }).await?;
    ///     Ok(())
    /// }
    ///
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
    /// kit.publish(&OrderCreated { order_id: 1042 }).await?;
    /// let (_, invoice) = kit.published::<InvoiceRequested>(1).await?;
    /// assert_eq!(invoice, InvoiceRequested { order_id: 1042 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`TestKit::outcome`].
    pub async fn published<J: Job>(&self, nth: usize) -> Result<(String, J), Unmet> {
        self.journal.published(nth, self.patience).await
    }

    /// Puts the clock of the kit forward, and never back: by it records are stamped when they are published or written to another topic,
    /// and by it the reinjector says when a tier is over. What becomes due goes on at once. A record that another client
    /// writes is stamped by the system's clock, and seems to have been written as long ago as the kit's clock is ahead.
    pub fn advance(&self, by: Duration) {
        self.journal.note(format!("the clock was put forward by {by:?}"));
        self.clock.advance(by);
    }

    /// Waits until a message, by its `meta.id`, has ended: after a retry or a redrive the last end counts.
    ///
    /// # Errors
    ///
    /// It did not within the kit's patience, or the consumer or reinjector has ended.
    pub async fn outcome(&self, id: impl Display) -> Result<Outcome, Unmet> {
        self.wait_for(id, "settled for good", Some).await
    }

    /// Waits until a message was handled, and returns the try that did, counted from 1.
    ///
    /// # Errors
    ///
    /// It ended otherwise, or as [`TestKit::outcome`].
    pub async fn handled(&self, id: impl Display) -> Result<u32, Unmet> {
        let handled = |outcome| match outcome {
            Outcome::Handled { tries } => Some(tries),
            _ => None,
        };
        self.wait_for(id, "handled", handled).await
    }

    /// Waits until a message was written to a dead-letter topic.
    ///
    /// # Errors
    ///
    /// It ended otherwise, or as [`TestKit::outcome`].
    pub async fn dead_lettered(&self, id: impl Display) -> Result<DeadLetter, Unmet> {
        let dead_lettered = |outcome| match outcome {
            Outcome::DeadLettered(letter) => Some(letter),
            _ => None,
        };
        self.wait_for(id, "dead-lettered", dead_lettered).await
    }

    /// Waits until a message was written to a retry topic for the `nth` time, counted from 1, and says to which one then.
    ///
    /// # Errors
    ///
    /// It ended before, or as [`TestKit::outcome`].
    pub async fn retried(&self, id: impl Display, nth: usize) -> Result<Retried, Unmet> {
        let wanted = format!("retried {nth} times");
        let look = |story: &Story, reads: &[String]| match (
            story.retries().nth(nth.saturating_sub(1)),
            story.outcome(reads),
        ) {
            (Some(retried), _) => Look::Met(retried),
            (None, None) => Look::NotYet,
            (None, Some(_)) => Look::Never,
        };
        self.journal.wait_for(&id.to_string(), &wanted, self.patience, look).await
    }

    async fn wait_for<T>(
        &self,
        id: impl Display,
        wanted: &str,
        met: impl Fn(Outcome) -> Option<T>,
    ) -> Result<T, Unmet> {
        let look = |story: &Story, reads: &[String]| match story.outcome(reads) {
            None => Look::NotYet,
            Some(outcome) => met(outcome).map_or(Look::Never, Look::Met),
        };
        self.journal.wait_for(&id.to_string(), wanted, self.patience, look).await
    }

    /// Shuts consumer and reinjector down as a service does, and returns what the consumer did.
    ///
    /// # Errors
    ///
    /// One of them ended with an error, now or before. A panic of a hook is passed on.
    pub async fn shutdown(self) -> Result<Summary, TestKitError> {
        let Self { consumer, reinjector, broker, .. } = self;
        let reinjected = async {
            match reinjector {
                Some(reinjector) => reinjector.end().await.map(Some),
                None => Ok(None),
            }
        };
        let (summary, reinjected) = tokio::join!(consumer.end(), reinjected);
        drop(broker);
        let summary = summary?;
        reinjected?;
        Ok(summary)
    }
}

impl fmt::Debug for TestKit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestKit")
            .field("broker", &self.broker)
            .field("retry_topics", &self.retry_topics)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
