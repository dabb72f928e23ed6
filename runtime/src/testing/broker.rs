//! The embedded broker: librdkafka's mock cluster.

use std::fmt;

use crate::{
    client::{Kafka, KafkaBuilder},
    config::ConfigError,
    error::KafkaError,
    kafka::mock::MockBroker,
};

/// A broker in this process. It ends when it is dropped.
///
/// Real protocol over a real socket, in memory. It keeps about 5 MB a partition and drops the oldest beyond that; it has
/// no retention, no security and no admin calls, and creates a topic that is asked for (with 4 partitions), where a real
/// broker answers that it is unknown. Test on a real broker what depends on those.
///
/// ```
/// use babelqueue::{Publisher, babel_job, testing::TestBroker};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created")]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let broker = TestBroker::start(&[("orders", 4)])?;
/// let kafka = broker.kafka()?;
/// Publisher::new(&kafka).publish(&OrderCreated { order_id: 1042 }).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TestBroker {
    broker: MockBroker,
}

/// Why the embedded broker does not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestBrokerError {
    /// It does not start.
    #[error("the embedded broker does not start: {0}")]
    Start(#[from] ConfigError),
    /// It does not take a topic or a state.
    #[error("the embedded broker refused: {0}")]
    Refused(#[from] KafkaError),
}

impl TestBroker {
    /// Starts a broker with these topics and their numbers of partitions.
    ///
    /// # Errors
    ///
    /// The broker does not start, or a topic cannot be created.
    pub fn start(topics: &[(&str, i32)]) -> Result<Self, TestBrokerError> {
        let broker = Self { broker: MockBroker::start()? };
        for (topic, partitions) in topics {
            broker.create_topic(topic, *partitions)?;
        }
        Ok(broker)
    }

    /// Creates a topic.
    ///
    /// # Errors
    ///
    /// The topic exists, or its name or number of partitions is not taken.
    pub fn create_topic(&self, topic: &str, partitions: i32) -> Result<(), TestBrokerError> {
        Ok(self.broker.create_topic(topic, partitions)?)
    }

    /// Its address, for [`Kafka::builder`] or another client.
    #[must_use]
    pub fn brokers(&self) -> String {
        self.broker.brokers()
    }

    /// A connection to it; for settings of your own see [`TestBroker::builder`].
    ///
    /// # Errors
    ///
    /// Never in practice: all settings are known to be taken.
    pub fn kafka(&self) -> Result<Kafka, ConfigError> {
        self.builder().build()
    }

    /// Settings of a connection to it, with a short session: when a group's members change, this broker lets a session go
    /// by before the next assignment, where a real one does not wait. That the broker is [up](Self::up) again is noticed
    /// within half a second.
    #[must_use]
    pub fn builder(&self) -> KafkaBuilder {
        Kafka::builder()
            .brokers(self.brokers())
            .consumer_property("session.timeout.ms", "2000")
            .consumer_property("heartbeat.interval.ms", "300")
            .property("reconnect.backoff.max.ms", "500")
    }

    /// Takes the broker off the network: connections break and new ones are refused, until [`TestBroker::up`].
    ///
    /// # Errors
    ///
    /// The broker does not answer.
    pub fn down(&self) -> Result<(), TestBrokerError> {
        Ok(self.broker.set_down(true)?)
    }

    /// Puts the broker back on the network.
    ///
    /// # Errors
    ///
    /// The broker does not answer.
    pub fn up(&self) -> Result<(), TestBrokerError> {
        Ok(self.broker.set_down(false)?)
    }
}

impl fmt::Debug for TestBroker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestBroker").field("brokers", &self.brokers()).finish()
    }
}
