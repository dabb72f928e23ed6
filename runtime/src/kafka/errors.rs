//! Classifies what the client library reports.

use rdkafka::error::{KafkaError as ClientError, RDKafkaErrorCode as Code};

use crate::error::{Class, KafkaError};

impl From<ClientError> for KafkaError {
    fn from(error: ClientError) -> Self {
        let code = match &error {
            ClientError::AdminOp(code) => Some(*code),
            error => error.rdkafka_error_code(),
        };
        match code {
            Some(code) => from_code(code),
            // The other variants are misuse of the client; their text holds names, and values in `ClientConfig` alone.
            None => match error {
                ClientError::ClientConfig(_, description, name, _) => {
                    KafkaError::new("ClientConfig", format!("property `{name}`: {description}"), Class::Permanent)
                }
                other => KafkaError::new("Client", other.to_string(), Class::Permanent),
            },
        }
    }
}

pub(super) fn from_code(code: Code) -> KafkaError {
    KafkaError::new(format!("{code:?}"), text(code), class(code)).with_hint(hint(code))
}

/// Whether it tells that a connection failed, whatever the reason.
pub(super) fn is_of_the_connection(code: Option<Code>) -> bool {
    matches!(code, Some(Code::AllBrokersDown | Code::BrokerTransportFailure | Code::SSL | Code::Authentication))
}

/// What to check when something was refused.
fn hint(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::Authentication | Code::SaslAuthenticationFailed => "the user name, the password and the SASL mechanism",
        Code::TopicAuthorizationFailed => {
            "that a rule (ACL) allows this account to do this with the topic: `Write` to publish, retry or give up, `Read` to consume"
        }
        Code::GroupAuthorizationFailed => "that a rule (ACL) allows this account to `Read` the consumer group",
        Code::ClusterAuthorizationFailed => {
            "that a rule (ACL) allows this account to `Write` a topic, or `IdempotentWrite` on the cluster"
        }
        _ => return None,
    })
}

/// The client library's own words, without the name that `Display` puts in front.
fn text(code: Code) -> String {
    let text = code.to_string();
    match text.split_once('(') {
        Some((_, description)) => description.trim_end_matches(')').to_owned(),
        None => text,
    }
}

fn class(code: Code) -> Class {
    match code {
        Code::Fatal | Code::Fenced | Code::FencedInstanceId => Class::Fatal,
        Code::Authentication
        | Code::SaslAuthenticationFailed
        | Code::TopicAuthorizationFailed
        | Code::GroupAuthorizationFailed
        | Code::ClusterAuthorizationFailed
        | Code::TransactionalIdAuthorizationFailed => Class::Refused,
        Code::BrokerTransportFailure
        | Code::AllBrokersDown
        | Code::OperationTimedOut
        | Code::MessageTimedOut
        | Code::QueueFull
        | Code::Resolve
        | Code::TimedOutQueue
        | Code::WaitingForCoordinator
        | Code::LeaderNotAvailable
        | Code::NotLeaderForPartition
        | Code::RequestTimedOut
        | Code::NetworkException
        | Code::CoordinatorLoadInProgress
        | Code::CoordinatorNotAvailable
        | Code::NotCoordinator
        | Code::NotEnoughReplicas
        | Code::NotEnoughReplicasAfterAppend
        | Code::RebalanceInProgress
        | Code::IllegalGeneration
        | Code::UnknownMemberId
        | Code::UnknownTopic
        | Code::UnknownTopicOrPartition
        | Code::PurgeQueue
        | Code::PurgeInflight => Class::Retriable,
        _ => Class::Permanent,
    }
}
