//! The connection that publishers and consumers share.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

#[cfg(feature = "validate")]
use crate::validate::Schemas;
use crate::{
    config::{Config, ConfigError, Scope},
    kafka::{self, Sink},
    time::deadline,
};
#[cfg(feature = "testing")]
use crate::{lab::Lab, time::Clock};

/// The environment variable that [`Kafka::from_env`] reads.
const BROKERS: &str = "BABELQUEUE_BROKERS";

/// A connection to a Kafka cluster. Cheap to clone; clones share one sending client.
///
/// Making one does not touch the network: the clients connect when they are first used.
///
/// ```
/// use std::time::Duration;
///
/// use babelqueue::Kafka;
///
/// let kafka = Kafka::builder()
///     .brokers("localhost:9092")
///     .client_id("orders-service")
///     .delivery_timeout(Duration::from_secs(10))
///     .publisher_property("compression.type", "lz4")
///     .build()?;
/// # Ok::<(), babelqueue::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Kafka {
    shared: Arc<Shared>,
    #[cfg(feature = "validate")]
    schemas: Option<Arc<Schemas>>,
}

struct Shared {
    config: Config,
    sink: OnceLock<Result<Sink, ConfigError>>,
}

impl Shared {
    fn sink(&self) -> Result<&Sink, ConfigError> {
        self.sink.get_or_init(|| Sink::new(&self.config)).as_ref().map_err(Clone::clone)
    }
}

impl Kafka {
    /// A connection with default settings to these brokers: `host:port`, several separated by commas.
    ///
    /// # Errors
    ///
    /// No broker is named.
    pub fn connect(brokers: impl Into<String>) -> Result<Self, ConfigError> {
        Self::builder().brokers(brokers).build()
    }

    /// A connection with default settings to the brokers that the environment variable `BABELQUEUE_BROKERS` names.
    ///
    /// # Errors
    ///
    /// The variable is not set or names no broker.
    pub fn from_env() -> Result<Self, ConfigError> {
        match std::env::var(BROKERS) {
            Ok(brokers) if !brokers.trim().is_empty() => Self::connect(brokers),
            _ => Err(ConfigError::NoBrokers { hint: " in the environment variable BABELQUEUE_BROKERS" }),
        }
    }

    /// A connection with settings of your own.
    #[must_use]
    pub fn builder() -> KafkaBuilder {
        KafkaBuilder { config: Config::new(String::new()) }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    /// The sending side, started at the first use.
    pub(crate) fn sink(&self) -> Result<&Sink, ConfigError> {
        self.shared.sink()
    }

    /// The same connection, with every payload validated by these schemas: before it is published (also by
    /// [`Delivery::message`](crate::Delivery::message) and by generated publishers), and before it is handed to its
    /// handler. Clones and what is made from them validate too; the connection itself does not.
    ///
    /// An invalid payload is not sent: the error is [`PublishError::Invalid`](crate::PublishError::Invalid). An invalid
    /// record is treated as one that does not fit its type
    /// ([`Reason::PayloadMisfit`](crate::Reason::PayloadMisfit)): its error lists the JSON Pointer of each violation, and
    /// its handler is not called.
    ///
    /// ```no_run
    /// use babelqueue::{Kafka, Schemas};
    ///
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let schemas = Schemas::from_registry("schemas/registry.json")?;
    /// let kafka = Kafka::connect("localhost:9092")?.validated_by(schemas);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validated_by(&self, schemas: impl Into<Arc<Schemas>>) -> Self {
        Self { schemas: Some(schemas.into()), ..self.clone() }
    }

    #[cfg(feature = "validate")]
    pub(crate) fn schemas(&self) -> Option<&Schemas> {
        self.schemas.as_deref()
    }

    /// Waits until everything published has been acknowledged, at most `timeout`, then closes the sending side.
    ///
    /// What is still pending then is given up: each waiting `publish` gets an error that hands its record back, and the
    /// report says how many there were. Publishing after this is an error. End consumers and reinjectors first:
    /// without the sending side they end with an error as soon as a record has to go to another topic.
    ///
    /// ```no_run
    /// # async fn example(kafka: babelqueue::Kafka) {
    /// let report = kafka.close(std::time::Duration::from_secs(10)).await;
    /// if report.undelivered > 0 {
    ///     eprintln!("{} records were not delivered", report.undelivered);
    /// }
    /// # }
    /// ```
    pub async fn close(&self, timeout: Duration) -> CloseReport {
        let shared = Arc::clone(&self.shared);
        let deadline = deadline(timeout);
        // Nothing published yet is closed as well: publishing afterwards is an error in any case.
        let closing = tokio::task::spawn_blocking(move || match shared.sink() {
            Ok(sink) => sink.close(deadline),
            Err(_) => 0,
        });
        CloseReport { undelivered: closing.await.unwrap_or_default() }
    }
}

impl fmt::Debug for Kafka {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kafka").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// What [`Kafka::close`] left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseReport {
    /// Records that were not acknowledged in time.
    pub undelivered: usize,
}

/// Settings of a connection; see [`Kafka::builder`].
#[derive(Clone, Debug)]
pub struct KafkaBuilder {
    config: Config,
}

impl KafkaBuilder {
    /// The brokers to ask first: `host:port`, several separated by commas.
    #[must_use]
    pub fn brokers(mut self, brokers: impl Into<String>) -> Self {
        self.config.brokers = brokers.into();
        self
    }

    /// The name that brokers log for this client; `babelqueue` by default.
    #[must_use]
    pub fn client_id(mut self, client_id: impl Into<String>) -> Self {
        self.config.client_id = client_id.into();
        self
    }

    /// How long a record may take to be acknowledged, retries included; 30 s by default, at least 1 ms. Waiting for room
    /// while the local queue is full may take as long again.
    #[must_use]
    pub fn delivery_timeout(mut self, timeout: Duration) -> Self {
        self.config.delivery_timeout = timeout;
        self
    }

    /// A librdkafka property for publishers and consumers, such as `security.protocol`. Its value is never shown.
    #[must_use]
    pub fn property(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(Scope::Both, name, value)
    }

    /// A librdkafka property for publishers, such as `compression.type` or `linger.ms`.
    #[must_use]
    pub fn publisher_property(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(Scope::Publisher, name, value)
    }

    /// A librdkafka property for consumers, such as `session.timeout.ms`.
    #[must_use]
    pub fn consumer_property(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(Scope::Consumer, name, value)
    }

    fn set(mut self, scope: Scope, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.set(scope, name.into(), value.into());
        self
    }

    /// Lets a test kit move the clock of this connection, and see and change what its clients do.
    #[cfg(feature = "testing")]
    pub(crate) fn in_lab(mut self, clock: Clock, lab: Arc<Lab>) -> Self {
        self.config.clock = clock;
        self.config.lab = Some(lab);
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// No broker, a setting out of its range, a property that librdkafka does not take or that this crate owns (brokers,
    /// group, commits, acknowledgements, idempotence, partitioner, delivery timeout, transactions). The error names the
    /// setting, never its value. What only goes wrong with another setting shows when the client starts.
    pub fn build(self) -> Result<Kafka, ConfigError> {
        self.config.validate()?;
        kafka::check(&self.config)?;
        Ok(Kafka {
            shared: Arc::new(Shared { config: self.config, sink: OnceLock::new() }),
            #[cfg(feature = "validate")]
            schemas: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_property_is_named_and_its_value_is_not() {
        let refused = Kafka::builder().brokers("localhost:9092").property("sasl.pasword", "hunter2").build();
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("sasl.pasword") && !error.contains("hunter2"), "{error}");

        // The second one is an alias of another property.
        for name in ["session.timeout.ms", "linger.ms"] {
            let refused = Kafka::builder().brokers("localhost:9092").property(name, "hunter2").build();
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("hunter2"), "{error}");
        }
    }
}
