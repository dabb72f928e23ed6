//! Reinjector and redrive against a loop that consumes and produces by hand, with the same settings, on the same records.

use std::time::Duration;

use babelqueue::{Delivery, HandlerError, Kafka, RetryTopics, routes};
use futures_util::stream::{self, StreamExt as _};
use rdkafka::{
    ClientConfig, Message as _,
    consumer::{BaseConsumer, CommitMode, Consumer as _},
    error::{KafkaError, RDKafkaErrorCode},
    message::{BorrowedMessage, Header, Headers as _, OwnedHeaders},
    producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer},
};
use tokio::sync::Notify;

use crate::{Error, Order, PARTITIONS, ROUNDS, Stopwatch, Turn, WINDOW, order, raw, report::Report, sdk};

/// How often the end of the target is looked at.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) async fn run(
    kafka: &Kafka,
    brokers: &str,
    work: &str,
    records: u64,
    report: &mut Report,
) -> Result<(), Error> {
    let topics = RetryTopics::for_topic(work).tiers([Duration::from_millis(1)]);
    let [retry, dead_letters] = [format!("{work}.retry.1"), format!("{work}.dlq")];
    for topic in [work, &retry, &dead_letters] {
        kafka.create_topic_if_missing(topic, PARTITIONS).await?;
    }
    delay(kafka, &topics, records).await?;
    let (mut by_hand, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        by_hand.push(move_by_hand(brokers, &retry, work, &format!("{work}-hand-{round}"), records).await?);
        ours.push(reinject(kafka, brokers, &topics, &format!("{work}-ours-{round}"), records).await?);
    }
    report.add("reinject", records, ("by hand", &by_hand), ("babelqueue", &ours));

    give_up(kafka, &topics, records).await?;
    let (mut by_hand, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        by_hand.push(move_by_hand(brokers, &dead_letters, work, &format!("{work}-by-hand-{round}"), records).await?);
        ours.push(redrive(kafka, brokers, &topics, &format!("{work}-redrive-{round}"), records).await?);
    }
    report.add("redrive", records, ("by hand", &by_hand), ("babelqueue", &ours));
    Ok(())
}

/// Publishes to the first tier.
async fn delay(kafka: &Kafka, topics: &RetryTopics, records: u64) -> Result<(), Error> {
    let publisher = sdk::publisher(kafka, topics.work_topic()).retry_topics(topics.clone());
    let each = |number| {
        let publisher = &publisher;
        async move { publisher.message(&order(number)).delay(Duration::from_millis(1)).await }
    };
    let mut sends = stream::iter(0..records).map(each).buffer_unordered(WINDOW);
    while let Some(sent) = sends.next().await {
        sent?;
    }
    Ok(())
}

/// Lets a consumer give up that many records of the work topic.
async fn give_up(kafka: &Kafka, topics: &RetryTopics, records: u64) -> Result<(), Error> {
    async fn fail(_: Order, _: &Delivery) -> Result<(), HandlerError> {
        Err(HandlerError::fatal("out of stock"))
    }
    let (given_up, mut seen) = (std::sync::Arc::new(Notify::new()), 0);
    let (sender, mut errors) = tokio::sync::mpsc::unbounded_channel();
    let consumer = kafka
        .consumer(format!("{}-give-up", topics.work_topic()))
        .topics([topics.work_topic()])
        .retry_topics(topics.clone())
        .on_error(move |_| {
            let _ = sender.send(());
        })
        .serve(routes![Order => fail]);
    let done = std::sync::Arc::clone(&given_up);
    tokio::spawn(async move {
        while seen < records && errors.recv().await.is_some() {
            seen += 1;
        }
        done.notify_one();
    });
    consumer.run_until(given_up.notified()).await?;
    Ok(())
}

async fn reinject(
    kafka: &Kafka,
    brokers: &str,
    topics: &RetryTopics,
    group: &str,
    records: u64,
) -> Result<Turn, Error> {
    let watch = watch(brokers, topics.work_topic(), records).await?;
    let reinjector = kafka.reinjector([topics.clone()]).group(group);
    let handle = reinjector.handle();
    let running = tokio::spawn(reinjector.run());
    let turn = watch.await??;
    handle.shutdown();
    running.await??;
    Ok(turn)
}

async fn redrive(kafka: &Kafka, brokers: &str, topics: &RetryTopics, group: &str, records: u64) -> Result<Turn, Error> {
    let watch = watch(brokers, topics.work_topic(), records).await?;
    let dead_letters = topics.dead_letter_topic_name().unwrap_or_default();
    kafka.redrive(dead_letters).group(group).maximum(records).run().await?;
    watch.await?
}

async fn move_by_hand(brokers: &str, from: &str, to: &str, group: &str, records: u64) -> Result<Turn, Error> {
    let watch = watch(brokers, to, records).await?;
    let [brokers, from, to, group] = [brokers, from, to, group].map(str::to_owned);
    tokio::task::spawn_blocking(move || copy(&brokers, &from, &to, &group, records)).await??;
    watch.await?
}

/// Measures from the first of so many records that are appended to a topic to the last one.
async fn watch(
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

/// As a careful user would write it: many writes in flight, the hop's headers left out, committed once acknowledged.
fn copy(brokers: &str, from: &str, to: &str, group: &str, records: u64) -> Result<(), Error> {
    let consumer: BaseConsumer = raw::consumer(brokers, group)?;
    consumer.subscribe(&[from])?;
    let producer: ThreadedProducer<DefaultProducerContext> = raw::settings(brokers).create()?;
    let mut copied = 0;
    while copied < records {
        let Some(message) = consumer.poll(Duration::from_secs(10)) else { continue };
        send(&producer, &message?, to)?;
        copied += 1;
    }
    producer.flush(Duration::from_secs(60))?;
    consumer.commit(&consumer.position()?, CommitMode::Sync)?;
    Ok(())
}

fn send(
    producer: &ThreadedProducer<DefaultProducerContext>,
    message: &BorrowedMessage<'_>,
    to: &str,
) -> Result<(), Error> {
    let mut headers = OwnedHeaders::new_with_capacity(6);
    for Header { key, value } in message.headers().into_iter().flat_map(|headers| headers.iter()) {
        if !matches!(key, "bq-delay" | "bq-original-topic") {
            headers = headers.insert(Header { key, value });
        }
    }
    let mut record =
        BaseRecord::to(to).key(message.key().unwrap_or_default()).payload(message.payload().unwrap_or_default());
    record = record.headers(headers);
    loop {
        match producer.send(record) {
            Ok(()) => return Ok(()),
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                record = back;
                std::thread::sleep(Duration::from_millis(1));
            }
            Err((error, _)) => return Err(error.into()),
        }
    }
}
