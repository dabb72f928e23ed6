//! Creates topics.

use std::time::Duration;

use rdkafka::{
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    error::RDKafkaErrorCode as Code,
};

use super::{errors, settings};
use crate::{config::Config, error::KafkaError};

/// How long a broker may take to answer, and to create.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The broker's own default.
const DEFAULT: i32 = -1;

/// Creates a topic with the broker's default settings; `false` when it exists.
pub(crate) async fn create_topic(config: &Config, topic: &str, partitions: i32) -> Result<bool, KafkaError> {
    let admin: AdminClient<DefaultClientContext> = settings::common(config).create()?;
    let asked = format!("creating topic `{topic}` on {}", config.brokers);
    let new = NewTopic::new(topic, partitions, TopicReplication::Fixed(DEFAULT));
    let options = AdminOptions::new().operation_timeout(Some(TIMEOUT)).request_timeout(Some(TIMEOUT));
    let answer = admin.create_topics([&new], &options).await;
    let mut answers = answer.map_err(|error| KafkaError::from(error).with_context(&asked))?;
    match answers.pop() {
        Some(Ok(_)) => Ok(true),
        Some(Err((_, Code::TopicAlreadyExists))) => Ok(false),
        Some(Err((_, code))) => Err(errors::from_code(code).with_context(&asked)),
        None => Err(errors::from_code(Code::Unknown)),
    }
}
