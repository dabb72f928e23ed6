//! Where the partitions of a topic end.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rdkafka::{
    consumer::{BaseConsumer, Consumer as _},
    error::KafkaError as ClientError,
};

use super::{errors, settings};
use crate::{
    config::Config,
    error::{Class, KafkaError},
    time::deadline,
};

/// How long the broker may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The end of each partition of a topic: the offset that its next record gets. A reader of committed transactions does
/// not get past the first open one, so that is where the end is for it.
pub(crate) async fn ends(config: &Config, group: &str, topic: &str) -> Result<BTreeMap<i32, i64>, KafkaError> {
    let (config, group, topic) = (config.clone(), group.to_owned(), topic.to_owned());
    // The client library blocks, while it asks and when its client is dropped.
    match tokio::task::spawn_blocking(move || ask(&config, &group, &topic)).await {
        Ok(answer) => answer,
        Err(error) => Err(KafkaError::new("Client", error.to_string(), Class::Permanent)),
    }
}

fn ask(config: &Config, group: &str, topic: &str) -> Result<BTreeMap<i32, i64>, KafkaError> {
    let asked = format!("asking {} where `{topic}` ends", config.brokers);
    let failed = |error: ClientError| KafkaError::from(error).with_context(&asked);
    let deadline = deadline(TIMEOUT);
    let remaining = || deadline.saturating_duration_since(Instant::now());
    // It subscribes to nothing, so it does not become a member of the group.
    let client: BaseConsumer = settings::consumer(config, group).create().map_err(failed)?;
    let metadata = client.fetch_metadata(Some(topic), remaining()).map_err(failed)?;
    let mut ends = BTreeMap::new();
    for found in metadata.topics() {
        if let Some(error) = found.error() {
            return Err(errors::from_code(error.into()).with_context(&asked));
        }
        for partition in found.partitions() {
            let (_, end) = client.fetch_watermarks(topic, partition.id(), remaining()).map_err(failed)?;
            ends.insert(partition.id(), end);
        }
    }
    Ok(ends)
}
