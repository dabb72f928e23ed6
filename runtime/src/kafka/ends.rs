//! Where the partitions of a topic end.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rdkafka::{
    ClientContext,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext},
    error::{KafkaError as ClientError, KafkaResult},
};

use super::{errors, settings};
use crate::{
    config::Config,
    error::{Class, KafkaError},
    time::deadline,
};

/// How long the broker may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// How long one question waits before what the connection says is looked at.
const ASK: Duration = Duration::from_secs(1);

/// The end of each partition of a topic: the offset that its next record gets. A reader of committed transactions does
/// not get past the first open one, so that is where the end is for it.
pub(crate) async fn ends(config: &Config, group: &str, topic: &str) -> Result<BTreeMap<i32, i64>, KafkaError> {
    let (config, group, topic) = (config.clone(), group.to_owned(), topic.to_owned());
    // The client library blocks, while it asks and when its client is dropped.
    match tokio::task::spawn_blocking(move || find(&config, &group, &topic)).await {
        Ok(answer) => answer,
        Err(error) => Err(KafkaError::new("Client", error.to_string(), Class::Permanent)),
    }
}

type Client = BaseConsumer<Trouble>;

/// What the connection said last.
#[derive(Default)]
struct Trouble(Mutex<Option<KafkaError>>);

impl ClientContext for Trouble {
    fn error(&self, error: ClientError, reason: &str) {
        let error = KafkaError::from(error).with_context(reason);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows a refusal says less.
        if !last.as_ref().is_some_and(KafkaError::is_refused) {
            *last = Some(error);
        }
    }
}

impl ConsumerContext for Trouble {}

fn find(config: &Config, group: &str, topic: &str) -> Result<BTreeMap<i32, i64>, KafkaError> {
    let asked = format!("asking {} where `{topic}` ends", config.brokers);
    let deadline = deadline(TIMEOUT);
    // It subscribes to nothing, so it does not become a member of the group.
    let client: Client = settings::consumer(config, group).create_with_context(Trouble::default())?;
    let failed = |error: KafkaError| error.with_context(&asked);
    let metadata = ask(&client, deadline, |wait| client.fetch_metadata(Some(topic), wait)).map_err(failed)?;
    let mut ends = BTreeMap::new();
    for found in metadata.topics() {
        if let Some(error) = found.error() {
            return Err(failed(errors::from_code(error.into())));
        }
        for partition in found.partitions() {
            let watermarks = |wait| client.fetch_watermarks(topic, partition.id(), wait);
            let (_, end) = ask(&client, deadline, watermarks).map_err(failed)?;
            ends.insert(partition.id(), end);
        }
    }
    Ok(ends)
}

/// Asks until there is an answer, the account is refused, or the time is up.
fn ask<T>(client: &Client, deadline: Instant, question: impl Fn(Duration) -> KafkaResult<T>) -> Result<T, KafkaError> {
    loop {
        let error = match question(ASK.min(deadline.saturating_duration_since(Instant::now()))) {
            Ok(answer) => return Ok(answer),
            Err(error) => KafkaError::from(error),
        };
        // What the connection has to say comes while polling.
        while client.poll(Duration::ZERO).is_some() {}
        let trouble = client.context().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match trouble {
            Some(trouble) if trouble.is_refused() => return Err(trouble),
            _ if error.is_retriable() && Instant::now() < deadline => {}
            Some(trouble) => return Err(error.because(&trouble)),
            None => return Err(error),
        }
    }
}
