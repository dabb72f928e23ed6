//! Reinjector and redrive.

use std::time::Duration;

use babelqueue::{Kafka, RetryTopics};
use rdkafka::{
    ClientConfig,
    consumer::{BaseConsumer, Consumer as _},
};

use super::{Error, PARTITIONS, Stopwatch, Turn};

/// How often the end of the target is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Over when the reinjector begins.
pub(crate) const TIER: Duration = Duration::from_millis(1);

pub(crate) fn retry_topics(topic: &str) -> RetryTopics {
    RetryTopics::for_topic(topic).tiers([TIER])
}

pub(super) async fn reinject(
    kafka: &Kafka,
    brokers: &str,
    topic: &str,
    group: &str,
    records: u64,
) -> Result<Turn, Error> {
    let watch = watch(brokers, topic, records).await?;
    let reinjector = kafka.reinjector([retry_topics(topic)]).group(group);
    let handle = reinjector.handle();
    let running = tokio::spawn(reinjector.run());
    let turn = watch.await??;
    handle.shutdown();
    running.await??;
    Ok(turn)
}

pub(super) async fn redrive(
    kafka: &Kafka,
    brokers: &str,
    topic: &str,
    group: &str,
    records: u64,
) -> Result<Turn, Error> {
    let watch = watch(brokers, topic, records).await?;
    kafka.redrive(format!("{topic}.dlq")).group(group).maximum(records).run().await?;
    watch.await?
}

/// Measures from the first of so many records that are appended to a topic to the last one.
pub(super) async fn watch(
    brokers: &str,
    topic: &str,
    records: u64,
) -> Result<tokio::task::JoinHandle<Result<Turn, Error>>, Error> {
    let (brokers, topic) = (brokers.to_owned(), topic.to_owned());
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let watching = tokio::task::spawn_blocking(move || {
        let client: BaseConsumer = ClientConfig::new().set("bootstrap.servers", brokers).create()?;
        let end = || -> Result<u64, Error> {
            (0..PARTITIONS).try_fold(0, |sum, partition| {
                let (_, high) = client.fetch_watermarks(&topic, partition, Duration::from_secs(10))?;
                Ok(sum + u64::try_from(high)?)
            })
        };
        let start = end()?;
        let _ = ready.send(());
        while end()? == start {
            std::thread::sleep(LOOK);
        }
        let stopwatch = Stopwatch::start();
        while end()? < start + records {
            std::thread::sleep(LOOK);
        }
        Ok(stopwatch.stop())
    });
    is_ready.await?;
    Ok(watching)
}
