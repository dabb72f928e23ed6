//! The embedded broker: the client library's mock cluster.

use rdkafka::{
    ClientConfig, ClientContext,
    error::RDKafkaErrorCode as Code,
    producer::{BaseProducer, Producer as _, ProducerContext},
};

#[cfg(test)]
use std::time::Duration;

#[cfg(test)]
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};

use super::{errors, native, settings};
use crate::{config::ConfigError, error::KafkaError};

/// The client that owns the cluster; it sends nothing itself.
struct Owner;

impl ClientContext for Owner {
    fn error(&self, error: rdkafka::error::KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "embedded broker");
    }
}

impl ProducerContext for Owner {
    type DeliveryOpaque = ();

    fn delivery(&self, _: &rdkafka::message::DeliveryResult<'_>, (): ()) {}
}

/// An in-process broker that ends when it is dropped.
pub(crate) struct MockBroker {
    owner: BaseProducer<Owner>,
}

/// How a write fails; see `TestKit::fail_writes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// As when too few replicas are in sync: the same write may succeed later
    /// ([`KafkaError::is_retriable`]).
    Retriable,
    /// As when the account has no right to the topic ([`KafkaError::is_refused`]).
    Refused,
    /// As when the topic's policy forbids the record: the same write will not succeed.
    Permanent,
    /// The sending client can send nothing more ([`KafkaError::is_fatal`]): the consumer ends with an error.
    Fatal,
}

impl WriteError {
    pub(crate) fn error(self) -> KafkaError {
        errors::from_code(match self {
            Self::Retriable => Code::NotEnoughReplicas,
            Self::Refused => Code::TopicAuthorizationFailed,
            Self::Permanent => Code::PolicyViolation,
            Self::Fatal => Code::Fatal,
        })
    }
}

/// What a broker says of a record that is larger than its topic takes.
pub(crate) fn too_large() -> KafkaError {
    errors::from_code(Code::MessageSizeTooLarge)
}

impl MockBroker {
    pub(crate) fn start() -> Result<Self, ConfigError> {
        let owner: BaseProducer<Owner> = ClientConfig::new()
            .set("test.mock.num.brokers", "1")
            .create_with_context(Owner)
            .map_err(settings::refused)?;
        native::start_groups_at_once(owner.client());
        Ok(Self { owner })
    }

    pub(crate) fn brokers(&self) -> String {
        self.owner.client().mock_cluster().map(|cluster| cluster.bootstrap_servers()).unwrap_or_default()
    }

    pub(crate) fn create_topic(&self, topic: &str, partitions: i32) -> Result<(), KafkaError> {
        match self.owner.client().mock_cluster() {
            Some(cluster) => Ok(cluster.create_topic(topic, partitions, 1)?),
            None => Ok(()),
        }
    }

    /// The next request to write is answered as by a broker that is not the leader, and each after that long.
    #[cfg(test)]
    pub(super) fn refuse_next_write(&self, round_trip: Duration) -> Result<(), KafkaError> {
        let Some(cluster) = self.owner.client().mock_cluster() else { return Ok(()) };
        cluster.broker_round_trip_time(1, round_trip)?;
        cluster.request_errors(RDKafkaApiKey::Produce, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION]);
        Ok(())
    }

    /// Where the first partition of a topic ends.
    #[cfg(test)]
    pub(super) fn end_of(&self, topic: &str) -> Result<i64, KafkaError> {
        let client = self.owner.client();
        Ok(client.fetch_watermarks(topic, 0, Duration::from_secs(10))?.1)
    }

    /// Drops every connection and takes no new one, or takes connections again.
    pub(crate) fn set_down(&self, down: bool) -> Result<(), KafkaError> {
        match self.owner.client().mock_cluster() {
            Some(cluster) if down => Ok(cluster.broker_down(1)?),
            Some(cluster) => Ok(cluster.broker_up(1)?),
            None => Ok(()),
        }
    }
}
