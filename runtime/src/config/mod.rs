//! Connection settings: validated once, across fields, before anything starts. Values never appear in errors.

mod env;
mod error;
mod file;
mod security;

#[cfg(feature = "testing")]
use std::sync::Arc;
use std::{fmt, time::Duration};

use self::security::Security;
pub(crate) use self::{env::apply as apply_environment, file::apply as apply_file};
pub use self::{
    error::ConfigError,
    security::{Sasl, Tls},
};
#[cfg(feature = "testing")]
use crate::lab::Lab;
use crate::time::Clock;

/// librdkafka properties that this crate owns: at-least-once, key placement or the group stands on them.
const OWNED: [(&str, &str); 18] = [
    ("bootstrap.servers", "give the brokers to the builder"),
    ("metadata.broker.list", "give the brokers to the builder"),
    ("client.id", "use `client_id`"),
    ("group.id", "give the group to `Kafka::consumer`"),
    ("enable.auto.commit", "offsets are committed when records are finished"),
    ("auto.commit.enable", "offsets are committed when records are finished"),
    ("auto.commit.interval.ms", "use `commit_interval` of the consumer"),
    ("enable.auto.offset.store", "offsets are committed when records are finished"),
    ("enable.idempotence", "the publisher is always idempotent"),
    ("acks", "the publisher always waits for all in-sync replicas"),
    ("request.required.acks", "the publisher always waits for all in-sync replicas"),
    ("partitioner", "it is murmur2, as in the Java client, so that one key lands on one partition in every language"),
    ("message.timeout.ms", "use `delivery_timeout`"),
    ("delivery.timeout.ms", "use `delivery_timeout`"),
    ("transactional.id", "transactions are not used"),
    ("delivery.report.only.error", "every delivery is reported"),
    ("enable.partition.eof", "the end of a partition is no event here"),
    ("produce.offset.report", "the offset of a delivery is always reported"),
];

/// Which of the two clients a property is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Both,
    Publisher,
    Consumer,
}

/// Connection settings as they were given.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) brokers: String,
    pub(crate) client_id: String,
    pub(crate) delivery_timeout: Duration,
    pub(crate) clock: Clock,
    #[cfg(feature = "testing")]
    pub(crate) lab: Option<Arc<Lab>>,
    pub(crate) security: Security,
    properties: Vec<(Scope, String, String)>,
}

impl Config {
    pub(crate) fn new(brokers: String) -> Self {
        Self {
            brokers,
            client_id: "babelqueue".to_owned(),
            delivery_timeout: Duration::from_secs(30),
            clock: Clock::default(),
            #[cfg(feature = "testing")]
            lab: None,
            security: Security::default(),
            properties: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, scope: Scope, name: String, value: String) {
        self.properties.push((scope, name, value));
    }

    /// The properties that were given for this scope, in order: a later one replaces an earlier one.
    pub(crate) fn properties(&self, scope: Scope) -> impl Iterator<Item = (&str, &str)> {
        self.properties
            .iter()
            .filter(move |(of, _, _)| *of == scope)
            .map(|(_, name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.brokers.split(',').all(|broker| broker.trim().is_empty()) {
            return Err(ConfigError::NoBrokers { hint: "" });
        }
        // librdkafka counts milliseconds in an i32, and 0 would mean for ever.
        if !(1..=i32::MAX as u128).contains(&self.delivery_timeout.as_millis()) {
            return Err(ConfigError::Setting {
                name: "delivery_timeout",
                reason: "has to be between 1 ms and 24 days",
            });
        }
        self.security.validate()?;
        let typed = self.security.properties();
        for (_, name, _) in &self.properties {
            if let Some((_, reason)) = OWNED.iter().find(|(owned, _)| owned == name) {
                return Err(ConfigError::Owned { name: name.clone(), reason });
            }
            // By one of its two names it would win or lose by chance.
            let same = if name == "sasl.mechanisms" { "sasl.mechanism" } else { name };
            if typed.iter().any(|(set, _)| *set == same) {
                return Err(ConfigError::Owned { name: name.clone(), reason: "`tls` or `sasl` has set it" });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.properties.iter().map(|(_, name, _)| name).collect();
        f.debug_struct("Config")
            .field("brokers", &self.brokers)
            .field("client_id", &self.client_id)
            .field("delivery_timeout", &self.delivery_timeout)
            .field("security", &self.security)
            .field("properties", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_would_break_at_least_once_are_refused() {
        for (name, _) in OWNED {
            let mut config = Config::new("localhost:9092".to_owned());
            config.set(Scope::Both, name.to_owned(), "x".to_owned());
            assert!(matches!(config.validate(), Err(ConfigError::Owned { .. })), "{name}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut config = Config::new("localhost:9092".to_owned());
        config.set(Scope::Both, "sasl.password".to_owned(), "hunter2".to_owned());
        assert!(config.validate().is_ok());
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn a_property_that_contradicts_a_typed_setting_is_refused() {
        for name in ["security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.password", "ssl.ca.pem"] {
            let mut config = Config::new("localhost:9092".to_owned());
            config.set(Scope::Both, name.to_owned(), "x".to_owned());
            assert_eq!(config.validate(), Ok(()), "{name}");
            config.security =
                Security { tls: Some(Tls::ca_pem("x")), sasl: Some(Sasl::scram_sha_256("alice", "secret")) };
            assert!(matches!(config.validate(), Err(ConfigError::Owned { .. })), "{name}");
        }
        let mut config = Config::new("localhost:9092".to_owned());
        config.security.tls = Some(Tls::ca_pem("x"));
        config.set(Scope::Both, "ssl.endpoint.identification.algorithm".to_owned(), "none".to_owned());
        assert_eq!(config.validate(), Ok(()));
    }

    #[test]
    fn a_property_belongs_to_the_client_that_it_was_given_for() {
        let mut config = Config::new("localhost:9092".to_owned());
        config.set(Scope::Both, "socket.keepalive.enable".to_owned(), "true".to_owned());
        config.set(Scope::Publisher, "linger.ms".to_owned(), "1".to_owned());
        config.set(Scope::Consumer, "fetch.min.bytes".to_owned(), "1".to_owned());
        let names = |scope| config.properties(scope).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(Scope::Both), ["socket.keepalive.enable"]);
        assert_eq!(names(Scope::Publisher), ["linger.ms"]);
        assert_eq!(names(Scope::Consumer), ["fetch.min.bytes"]);
    }

    #[test]
    fn without_brokers_or_with_a_timeout_out_of_range_nothing_starts() {
        for brokers in ["", " , "] {
            let config = Config::new(brokers.to_owned());
            assert!(matches!(config.validate(), Err(ConfigError::NoBrokers { .. })), "{brokers:?}");
        }
        for timeout in [Duration::from_micros(999), Duration::from_secs(60 * 60 * 24 * 25)] {
            let mut config = Config::new("localhost:9092".to_owned());
            config.delivery_timeout = timeout;
            assert!(matches!(config.validate(), Err(ConfigError::Setting { .. })), "{timeout:?}");
        }
    }
}
