//! Accounts.

use std::fmt;

use super::HIDDEN;
use crate::config::ConfigError;

/// An account, by user name and password (SASL).
///
/// Without [`Tls`](crate::Tls) the traffic is not encrypted, and with `PLAIN` neither is the password. The two kinds of SCRAM need
/// feature `tls` in any case, for OpenSSL's hashes.
///
/// What the brokers refuse ends in an error that says so within ten seconds ([`KafkaError::is_refused`]): wrong
/// credentials, certificates or protocols before the first record, and a missing right when it is needed. The rights
/// (ACLs) that an account needs, each with its operation:
///
/// - to publish: `Write` on the topic;
/// - to consume: `Read` on the topics and on the group; `Write` on retry topics and dead-letter topic, and
///   `DescribeConfigs` on them for [`Kafka::check_topics`](crate::Kafka::check_topics);
/// - to reinject: `Read` on the retry topics and on the group, `Write` on the work topics;
/// - to redrive: `Read` and `Write` on the dead-letter topic, `Read` on the group, `Write` on the topics written to.
///
/// No transactional id is used, so no right to one is needed.
///
/// [`KafkaError::is_refused`]: crate::KafkaError::is_refused
///
/// ```
/// use babelqueue::{Kafka, Sasl};
///
/// let kafka = Kafka::builder().brokers("localhost:9092").sasl(Sasl::plain("orders", "secret")).build()?;
/// assert!(!format!("{kafka:?}").contains("secret"));
/// # Ok::<(), babelqueue::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Sasl {
    pub(super) mechanism: Mechanism,
    user: String,
    password: String,
}

/// How the password is shown to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    Plain,
    ScramSha256,
    ScramSha512,
}

impl Mechanism {
    const ALL: [Self; 3] = [Self::Plain, Self::ScramSha256, Self::ScramSha512];
    pub(crate) const NAMES: &str = "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512";

    /// In any case of letters, as librdkafka takes them.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

impl Sasl {
    /// Mechanism `PLAIN`: the password itself is sent.
    #[must_use]
    pub fn plain(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Mechanism::Plain, user, password)
    }

    /// Mechanism `SCRAM-SHA-256`: the password is proved and not sent. Needs feature `tls`.
    #[must_use]
    pub fn scram_sha_256(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Mechanism::ScramSha256, user, password)
    }

    /// Mechanism `SCRAM-SHA-512`: the password is proved and not sent. Needs feature `tls`.
    #[must_use]
    pub fn scram_sha_512(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Mechanism::ScramSha512, user, password)
    }

    pub(crate) fn new(mechanism: Mechanism, user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { mechanism, user: user.into(), password: password.into() }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        for (name, text) in [("the user name of `sasl`", &self.user), ("the password of `sasl`", &self.password)] {
            if text.is_empty() {
                return Err(ConfigError::Setting { name, reason: "is empty" });
            }
        }
        Ok(())
    }

    pub(super) fn properties(&self) -> Vec<(&'static str, String)> {
        vec![
            ("sasl.mechanism", self.mechanism.name().to_owned()),
            ("sasl.username", self.user.clone()),
            ("sasl.password", self.password.clone()),
        ]
    }
}

impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sasl")
            .field("mechanism", &self.mechanism)
            .field("user", &self.user)
            .field("password", &HIDDEN)
            .finish()
    }
}
