//! The raw client, as a careful user would write the same work by hand, with the settings that the SDK uses.

use std::{sync::Arc, time::Duration};

use rdkafka::{
    ClientConfig, Message as _,
    consumer::{BaseConsumer, Consumer as _},
    message::{Header, Headers as _, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
};
use serde::{Deserialize, Serialize};

use super::{
    Error, Stopwatch, Turn,
    payload::{Order, Size},
    sending::{self, Sending},
};

#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    job: &'a str,
    trace_id: &'a str,
    data: Order,
    meta: Meta<'a>,
    attempts: i64,
}

#[derive(Serialize, Deserialize)]
struct Meta<'a> {
    id: &'a str,
    queue: &'a str,
    lang: &'a str,
    schema_version: i64,
    created_at: i64,
}

/// Of a producer.
pub(super) fn settings(brokers: &str) -> ClientConfig {
    let mut settings = ClientConfig::new();
    settings
        .set("bootstrap.servers", brokers)
        .set("enable.idempotence", "true")
        .set("acks", "all")
        .set("partitioner", "murmur2_random");
    settings
}

pub(super) async fn publish(
    brokers: &str,
    topic: &str,
    size: Size,
    records: u64,
    sending: Sending,
) -> Result<Turn, Error> {
    let sender: Arc<(FutureProducer, String)> = Arc::new((settings(brokers).create()?, topic.to_owned()));
    let each = move |number| {
        let sender = Arc::clone(&sender);
        async move { send(&sender.0, &sender.1, size.order(number)).await }
    };
    sending::measure(sending, records, each).await
}

async fn send(producer: &FutureProducer, topic: &str, order: Order) -> Result<(), Error> {
    let (id, trace_id) = (uuid::Uuid::new_v4().to_string(), uuid::Uuid::new_v4().to_string());
    let created_at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis();
    let created_at = i64::try_from(created_at)?;
    let key = order.order_id.to_string();
    let body = serde_json::to_vec(&Envelope {
        job: "urn:babel:bench:order",
        trace_id: &trace_id,
        data: order,
        meta: Meta { id: &id, queue: topic, lang: "rust", schema_version: 1, created_at },
        attempts: 0,
    })?;
    let headers = [
        ("bq-job", "urn:babel:bench:order"),
        ("bq-trace-id", &trace_id),
        ("bq-message-id", &id),
        ("bq-schema-version", "1"),
        ("bq-source-lang", "rust"),
        ("bq-attempts", "0"),
    ]
    .into_iter()
    .fold(OwnedHeaders::new_with_capacity(6), |headers, (key, value)| {
        headers.insert(Header { key, value: Some(value) })
    });
    let record = FutureRecord::to(topic).key(&key).payload(&body).headers(headers).timestamp(created_at);
    producer.send(record, Duration::from_secs(30)).await.map_err(|(error, _)| error)?;
    Ok(())
}

pub(super) fn consumer(brokers: &str, group: &str) -> Result<BaseConsumer, Error> {
    Ok(ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", group)
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("fetch.queue.backoff.ms", "10")
        .set("fetch.wait.max.ms", "100")
        .set("queued.min.messages", "10000")
        .create()?)
}

pub(super) fn consume(brokers: &str, topic: &str, group: &str, count: u64) -> Result<Turn, Error> {
    let consumer = consumer(brokers, group)?;
    consumer.subscribe(&[topic])?;
    let mut watch = None;
    let mut seen = 0;
    while seen < count {
        let Some(message) = consumer.poll(Duration::from_secs(10)) else { continue };
        let message = message?;
        watch.get_or_insert_with(Stopwatch::start);
        let mut found = [None; 3];
        for header in message.headers().into_iter().flat_map(|headers| headers.iter()) {
            match header.key {
                "bq-job" => found[0] = header.value,
                "bq-schema-version" => found[1] = header.value,
                "bq-attempts" => found[2] = header.value,
                _ => {}
            }
        }
        std::hint::black_box(found);
        let envelope: Envelope<'_> = serde_json::from_slice(message.payload().unwrap_or_default())?;
        std::hint::black_box(envelope.data);
        seen += 1;
    }
    Ok(watch.unwrap_or_else(Stopwatch::start).stop())
}
