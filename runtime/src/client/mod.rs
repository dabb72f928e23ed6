//! The connection that publishers and consumers share.

mod builder;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

pub use self::builder::KafkaBuilder;
#[cfg(feature = "validate")]
use crate::validate::Schemas;
use crate::{
    config::{Config, ConfigError},
    kafka::Sink,
    time::deadline,
};

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

    /// A connection as environment variables say; see [`KafkaBuilder::from_env`].
    ///
    /// # Errors
    ///
    /// `BABELQUEUE_BROKERS` is not set or names no broker, or another variable cannot be taken.
    pub fn from_env() -> Result<Self, ConfigError> {
        match Self::builder().from_env()?.build() {
            Err(ConfigError::NoBrokers { .. }) => {
                Err(ConfigError::NoBrokers { hint: " in the environment variable BABELQUEUE_BROKERS" })
            }
            result => result,
        }
    }

    /// A connection with settings of your own.
    #[must_use]
    pub fn builder() -> KafkaBuilder {
        KafkaBuilder::new()
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
