//! What the live tests share: topics of their own, a numbered job, raw clients.

use std::{
    error::Error,
    ops::Range,
    process::Child,
    time::{Duration, Instant},
};

use babelqueue::{Kafka, Publisher, babel_job};
use futures_util::future::try_join_all;
use rdkafka::{
    ClientConfig, Message as _, TopicPartitionList,
    admin::{AdminClient, AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer as _},
    message::{Headers as _, OwnedMessage},
};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::Check;

/// The job of every test; each test has a topic of its own.
#[babel_job("urn:babel:live:numbered")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    #[serde(default)]
    pub(crate) text: String,
}

impl Numbered {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, text: String::new() }
    }
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime starts")
}

pub(crate) fn brokers() -> String {
    std::env::var("BABELQUEUE_BROKERS").unwrap_or_default()
}

pub(crate) fn kafka() -> Result<Kafka, babelqueue::ConfigError> {
    Kafka::connect(brokers())
}

/// A name that no earlier run has used either.
pub(crate) fn unique(name: &str) -> String {
    format!("live-{name}-{}", babelqueue::Uuid::new_v4().simple())
}

/// Creates a topic with these settings.
pub(crate) async fn create_topic(topic: &str, partitions: i32, settings: &[(&str, &str)]) -> Check {
    create_topic_on(&brokers(), topic, partitions, settings).await
}

/// The same on another broker than the shared one.
pub(crate) async fn create_topic_on(brokers: &str, topic: &str, partitions: i32, settings: &[(&str, &str)]) -> Check {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new().set("bootstrap.servers", brokers).create()?;
    let mut new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
    for (name, value) in settings {
        new = new.set(name, value);
    }
    let options = AdminOptions::new().operation_timeout(Some(Duration::from_secs(10)));
    for result in admin.create_topics([&new], &options).await? {
        result.map_err(|(topic, code)| format!("{topic}: {code}"))?;
    }
    Ok(())
}

/// Deletes a topic.
pub(crate) async fn delete_topic(topic: &str) -> Check {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    for result in admin.delete_topics(&[topic], &AdminOptions::new()).await? {
        result.map_err(|(topic, code)| format!("{topic}: {code}"))?;
    }
    Ok(())
}

/// Changes a setting of a topic.
pub(crate) async fn set_topic(topic: &str, name: &str, value: &str) -> Check {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    let change = AlterConfig::new(ResourceSpecifier::Topic(topic)).set(name, value);
    for result in admin.alter_configs([&change], &AdminOptions::new()).await? {
        result.map_err(|(_, code)| format!("{topic}: {code}"))?;
    }
    Ok(())
}

/// Reads `count` records from the start of a topic.
pub(crate) fn read(topic: &str, count: usize) -> Result<Vec<OwnedMessage>, Box<dyn std::error::Error>> {
    read_from(&brokers(), topic, count)
}

/// The same on another broker than the shared one.
pub(crate) fn read_from(
    brokers: &str,
    topic: &str,
    count: usize,
) -> Result<Vec<OwnedMessage>, Box<dyn std::error::Error>> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", format!("{topic}-reader"))
        .set("auto.offset.reset", "earliest")
        .create()?;
    consumer.subscribe(&[topic])?;
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut records = Vec::new();
    while records.len() < count {
        if Instant::now() > deadline {
            return Err(format!("{} records of {count} within 30 s", records.len()).into());
        }
        // `None` also stands for a rebalance that went by.
        if let Some(message) = consumer.poll(Duration::from_secs(1)) {
            records.push(message?.detach());
        }
    }
    Ok(records)
}

/// The offset that a group has committed.
pub(crate) fn committed(group: &str, topic: &str, partition: i32) -> Result<Option<i64>, Box<dyn std::error::Error>> {
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", brokers()).set("group.id", group).create()?;
    let mut list = TopicPartitionList::new();
    list.add_partition(topic, partition);
    let list = consumer.committed_offsets(list, Duration::from_secs(10))?;
    Ok(list.elements().first().and_then(|element| element.offset().to_raw()).filter(|offset| *offset >= 0))
}

/// The headers of a record, as text.
pub(crate) fn headers(record: &OwnedMessage) -> Vec<(String, String)> {
    record
        .headers()
        .into_iter()
        .flat_map(|headers| headers.iter())
        .map(|header| (header.key.to_owned(), String::from_utf8_lossy(header.value.unwrap_or_default()).into_owned()))
        .collect()
}

/// Publishes the numbers of a range, many at once.
pub(crate) async fn publish_numbers(kafka: &Kafka, topic: &str, numbers: Range<u64>) -> Check {
    publish(kafka, topic, numbers.map(|number| (Numbered::new(number), None))).await
}

/// As [`publish_numbers`], with so many keys: the remainders of the numbers.
pub(crate) async fn publish_keyed(kafka: &Kafka, topic: &str, numbers: Range<u64>, keys: u64) -> Check {
    publish(kafka, topic, numbers.map(|number| (Numbered::new(number), Some((number % keys).to_string())))).await
}

async fn publish(kafka: &Kafka, topic: &str, jobs: impl Iterator<Item = (Numbered, Option<String>)>) -> Check {
    let publisher = Publisher::<Numbered>::new(kafka).topic(topic);
    let jobs: Vec<_> = jobs.collect();
    for jobs in jobs.chunks(10_000) {
        let messages = jobs.iter().map(|(job, key)| match key {
            Some(key) => publisher.message(job).key(key),
            None => publisher.message(job),
        });
        try_join_all(messages.map(IntoFuture::into_future)).await?;
    }
    Ok(())
}

/// Waits until a process that a test has started has come so far. Neither a file nor the broker tells when it changes.
pub(crate) fn poll_until(child: &mut Child, mut done: impl FnMut() -> Result<bool, Box<dyn Error>>) -> Check {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !done()? {
        if let Some(status) = child.try_wait()? {
            return Err(format!("the process ended by itself: {status}").into());
        }
        if Instant::now() > deadline {
            return Err("no end within five minutes".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
