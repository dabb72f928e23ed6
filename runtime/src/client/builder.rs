//! Settings of a connection, checked before it is made.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{Kafka, Shared};
use crate::{
    config::{Config, ConfigError, Sasl, Scope, Tls, apply_environment, apply_file},
    kafka,
};
#[cfg(feature = "testing")]
use crate::{lab::Lab, time::Clock};

/// Settings of a connection; see [`Kafka::builder`].
#[derive(Clone, Debug)]
pub struct KafkaBuilder {
    config: Config,
}

impl KafkaBuilder {
    pub(super) fn new() -> Self {
        Self { config: Config::new(String::new()) }
    }

    /// Takes over what environment variables say. One that is not set, or blank, leaves what was set before; a later call
    /// of another method replaces what it said.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `BABELQUEUE_BROKERS` | as [`KafkaBuilder::brokers`] |
    /// | `BABELQUEUE_CLIENT_ID` | as [`KafkaBuilder::client_id`] |
    /// | `BABELQUEUE_SECURITY_PROTOCOL` | `PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL` |
    /// | `BABELQUEUE_SASL_MECHANISM` | `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512` |
    /// | `BABELQUEUE_SASL_USERNAME`, `BABELQUEUE_SASL_PASSWORD` | the account |
    /// | `BABELQUEUE_SSL_CA_FILE` | a PEM file of the trusted CAs; without it, those of the system |
    /// | `BABELQUEUE_SSL_CERTIFICATE_FILE`, `BABELQUEUE_SSL_KEY_FILE` | the client's own certificate and key, PEM |
    /// | `BABELQUEUE_SSL_KEY_PASSWORD` | of the key file |
    ///
    /// Accounts need one of the protocols with `SASL`, and files one with `SSL`; so nothing is sent in clear text because
    /// the protocol was forgotten.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use babelqueue::Kafka;
    ///
    /// let kafka = Kafka::builder()
    ///     .brokers("localhost:9092") // unless BABELQUEUE_BROKERS is set
    ///     .from_env()?
    ///     .delivery_timeout(Duration::from_secs(10))
    ///     .build()?;
    /// # Ok::<(), babelqueue::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value that is not one of those above, a combination that makes no sense, or a variable that begins with
    /// `BABELQUEUE_SECURITY_`, `BABELQUEUE_SASL_` or `BABELQUEUE_SSL_` and is not in the table. The error names the
    /// variable, never its value.
    pub fn from_env(mut self) -> Result<Self, ConfigError> {
        apply_environment(&mut self.config, std::env::vars_os())?;
        Ok(self)
    }

    /// Takes over a properties file as Java clients have it, so that one file serves both. A later call of another method
    /// replaces what it said.
    ///
    /// ```properties
    /// bootstrap.servers=kafka.example.com:9093
    /// security.protocol=SASL_SSL
    /// sasl.mechanism=SCRAM-SHA-512
    /// sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
    ///   username="orders-service" password="…";
    /// ssl.truststore.type=PEM
    /// ssl.truststore.location=/etc/kafka/ca.pem
    /// ```
    ///
    /// - The format is that of `java.util.Properties` (comments, continued lines, escapes), in UTF-8.
    /// - Security: `security.protocol`; `sasl.mechanism` and `sasl.jaas.config` for `PLAIN` and SCRAM; trust stores of type
    ///   PEM (`ssl.truststore.location` or `ssl.truststore.certificates`), key stores of type PEM
    ///   (`ssl.keystore.location`, or `ssl.keystore.key` with `ssl.keystore.certificate.chain`) and PKCS12, with
    ///   `ssl.keystore.password` and `ssl.key.password`; `ssl.endpoint.identification.algorithm`. Java's own kind of key
    ///   store (JKS) is refused, with the command that converts it.
    /// - Brokers, `client.id`, `delivery.timeout.ms`, and the usual keys of tuning (`linger.ms`, `compression.type`,
    ///   `batch.size`, `max.request.size`, `request.timeout.ms`, `session.timeout.ms`, `max.poll.interval.ms`,
    ///   `auto.offset.reset`, `fetch.max.bytes` and others like them), each for the client that has it in Java.
    /// - Without an effect here, which a warning says: serializers and deserializers, `metric.reporters` and other keys of
    ///   metrics, `max.poll.records`, `max.block.ms`, `default.api.timeout.ms`.
    /// - `acks=all`, `enable.idempotence=true` and `enable.auto.commit=false` are what this crate does anyway; other values
    ///   are refused as in [`KafkaBuilder::build`].
    ///
    /// ```no_run
    /// use babelqueue::Kafka;
    ///
    /// let kafka = Kafka::builder().properties_file("/etc/kafka/client.properties")?.build()?;
    /// # Ok::<(), babelqueue::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The file cannot be read; or a key is none of these or has a value that cannot be taken, which the error tells by
    /// file, line and key, never by its value ([`ConfigError::InFile`]).
    pub fn properties_file(mut self, path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        apply_file(&mut self.config, path.as_ref(), kafka::check_property)?;
        Ok(self)
    }

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

    /// Encrypts the connection, and trusts brokers as this says. Needs feature `tls`.
    ///
    /// ```no_run
    /// use babelqueue::{Kafka, Sasl, Tls};
    ///
    /// let kafka = Kafka::builder()
    ///     .brokers("kafka.example.com:9093")
    ///     .tls(Tls::ca_file("/etc/kafka/ca.pem"))
    ///     .sasl(Sasl::scram_sha_512("orders-service", std::env::var("KAFKA_PASSWORD")?))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.config.security.tls = Some(tls);
        self
    }

    /// Signs in with an account. Without [`KafkaBuilder::tls`] the traffic is not encrypted.
    #[must_use]
    pub fn sasl(mut self, sasl: Sasl) -> Self {
        self.config.security.sasl = Some(sasl);
        self
    }

    /// A librdkafka property for publishers and consumers, such as `socket.keepalive.enable`. Its value is never shown.
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

    #[test]
    fn a_value_that_the_client_library_does_not_take_is_found_while_the_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("client.properties");
        std::fs::write(&path, "# tuned\nlinger.ms=hunter2\n").unwrap();
        let refused = Kafka::builder().properties_file(&path);
        let Err(ConfigError::InFile { line: 2, error, .. }) = refused else { panic!("{refused:?}") };
        let error = error.to_string();
        assert!(error.contains("linger.ms") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn tls_without_its_feature_is_refused_by_the_name_of_the_feature() {
        let builder = || Kafka::builder().brokers("localhost:9093");
        for built in [
            builder().tls(Tls::system_roots()).build(),
            builder().sasl(Sasl::scram_sha_256("alice", "secret")).build(),
            builder().property("security.protocol", "SASL_SSL").build(),
            builder().property("ssl.endpoint.identification.algorithm", "none").build(),
        ] {
            match cfg!(feature = "tls") {
                true => assert!(built.is_ok(), "{built:?}"),
                false => assert!(matches!(built, Err(ConfigError::Feature { feature: "tls", .. })), "{built:?}"),
            }
        }
    }

    #[test]
    fn a_nul_in_a_setting_is_refused() {
        let builder = || Kafka::builder().brokers("localhost:9092");
        for built in [
            builder().client_id("a\0b").build(),
            builder().property("client.rack", "a\0b").build(),
            builder().sasl(Sasl::plain("alice", "a\0b")).build(),
        ] {
            assert!(built.is_err());
        }
    }
}
