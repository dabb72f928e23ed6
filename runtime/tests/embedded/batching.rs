//! Handlers that take many jobs at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    BatchHandler, ConfigError, ConsumerBuilder, ConsumerError, Delivery, Failures, HandlerError, JobBatch, Kafka,
    ProcessingOrder, Publisher, RetryTopics, Summary, babel_job,
    idempotency::{Idempotency, MemoryStore, StoreFailure},
    routes,
    testing::TestBroker,
};
use rdkafka::Message as _;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::jobs::{Foreign, OrderCreated, committed, read};

const PATIENCE: Duration = Duration::from_secs(60);

/// Another job of the same topic, handled one at a time.
#[babel_job("urn:babel:orders:paid")]
#[derive(Serialize, Deserialize)]
struct OrderPaid {
    order_id: u64,
}

/// What was handled: the orders of a batch, or the one that was paid.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Batch(Vec<u64>),
    Paid(u64),
}

struct Store {
    seen: UnboundedSender<Seen>,
    /// The whole batch fails when it holds this order.
    poisons: Option<u64>,
    /// The order that fails alone.
    rejects: Option<u64>,
}

impl BatchHandler<OrderCreated> for Store {
    async fn handle(&self, batch: JobBatch<OrderCreated>) -> Result<Failures, HandlerError> {
        self.seen.send(Seen::Batch(batch.iter().map(|(order, _)| order.order_id).collect()))?;
        let mut failures = Failures::default();
        for (order, cx) in &batch {
            if self.poisons == Some(order.order_id) {
                panic!("no connection");
            }
            if self.rejects == Some(order.order_id) {
                failures.add(cx, HandlerError::fatal("no such customer"));
            }
        }
        Ok(failures)
    }
}

fn store(poisons: Option<u64>, rejects: Option<u64>) -> (Store, UnboundedReceiver<Seen>) {
    let (seen, receiver) = unbounded_channel();
    (Store { seen, poisons, rejects }, receiver)
}

/// A broker with `orders` of one partition, its retry topic and its dead-letter topic.
fn broker() -> (TestBroker, Kafka) {
    let broker = TestBroker::start(&["orders", "orders.retry.1", "orders.dlq"].map(|topic| (topic, 1))).unwrap();
    let kafka = broker.kafka().unwrap();
    (broker, kafka)
}

async fn publish(kafka: &Kafka, orders: std::ops::Range<u64>) {
    for order in orders {
        Publisher::new(kafka).publish(&OrderCreated::number(order)).await.unwrap();
    }
}

fn workers(kafka: &Kafka) -> ConsumerBuilder {
    let retry = RetryTopics::for_topic("orders").tiers([Duration::from_secs(5)]);
    kafka.consumer("workers").retry_topics(retry)
}

/// The batches until so many orders were handled.
async fn batches(receiver: &mut UnboundedReceiver<Seen>, orders: usize) -> Vec<Vec<u64>> {
    let mut batches: Vec<Vec<u64>> = Vec::new();
    while batches.iter().map(Vec::len).sum::<usize>() < orders {
        match receiver.recv().await {
            Some(Seen::Batch(batch)) => batches.push(batch),
            other => panic!("{other:?}"),
        }
    }
    batches
}

async fn run(consumer: babelqueue::Consumer, signal: impl Future<Output = ()>) -> Result<Summary, ConsumerError> {
    tokio::time::timeout(PATIENCE, consumer.run_until(signal)).await.expect("it goes on")
}

#[tokio::test]
async fn jobs_come_in_their_order_and_never_more_at_once_than_asked_for() {
    let (broker, kafka) = broker();
    publish(&kafka, 0..25).await;
    let (store, mut receiver) = store(None, None);
    let consumer = workers(&kafka).batch_wait(Duration::from_secs(1)).serve(routes![[OrderCreated; 10] => store]);
    let mut seen = Vec::new();
    let summary = run(consumer, async { seen = batches(&mut receiver, 25).await }).await.unwrap();
    assert_eq!(seen.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 5]);
    assert_eq!(seen.concat(), (0..25).collect::<Vec<_>>());
    assert_eq!((summary.handled, committed(&broker, "workers", 0)), (25, Some(25)));
}

#[tokio::test]
async fn a_batch_waits_to_fill_as_long_as_it_was_told_to() {
    let (_broker, kafka) = broker();
    publish(&kafka, 0..2).await;
    let (store, mut receiver) = store(None, None);
    let consumer = workers(&kafka).batch_wait(PATIENCE * 2).serve(routes![[OrderCreated; 3] => store]);
    let health = consumer.health();
    let signal = async {
        // The first two are taken, and wait.
        while health.report().partitions.first().and_then(|each| each.oldest.as_ref()).is_none() {
            tokio::task::yield_now().await;
        }
        assert!(receiver.try_recv().is_err());
        publish(&kafka, 2..3).await;
        assert_eq!(batches(&mut receiver, 3).await, [[0, 1, 2]]);
    };
    run(consumer, signal).await.unwrap();
}

#[tokio::test]
async fn a_job_that_fails_alone_is_settled_alone() {
    let (broker, kafka) = broker();
    publish(&kafka, 0..5).await;
    let (store, mut receiver) = store(None, Some(3));
    let consumer = workers(&kafka).serve(routes![[OrderCreated; 100] => store]);
    let summary = run(consumer, async { drop(batches(&mut receiver, 5).await) }).await.unwrap();
    assert_eq!((summary.handled, summary.dead_lettered, summary.retried), (4, 1, 0));
    let dead = read(&broker, "orders.dlq", 1).remove(0);
    let body = String::from_utf8_lossy(dead.payload().unwrap()).into_owned();
    assert!(body.contains("\"order_id\":3") && body.contains("no such customer"), "{body}");
    assert_eq!(committed(&broker, "workers", 0), Some(5));
}

#[tokio::test]
async fn a_batch_that_fails_fails_with_each_of_its_jobs() {
    let (broker, kafka) = broker();
    publish(&kafka, 0..4).await;
    let (store, mut receiver) = store(Some(2), None);
    let (told, mut errors) = unbounded_channel();
    let consumer = workers(&kafka)
        .batch_wait(PATIENCE * 2)
        .on_error(move |error| drop(told.send((error.offset, error.error.clone()))))
        .serve(routes![[OrderCreated; 4] => store]);
    let summary = run(consumer, async { drop(batches(&mut receiver, 4).await) }).await.unwrap();
    assert_eq!((summary.handled, summary.retried), (0, 4));
    let mut failed = Vec::new();
    while let Some((offset, error)) = errors.recv().await {
        assert_eq!(error, "the handler panicked: no connection");
        failed.push(offset);
    }
    failed.sort_unstable();
    assert_eq!(failed, [0, 1, 2, 3]);
    assert_eq!(read(&broker, "orders.retry.1", 4).len(), 4);
    assert_eq!(committed(&broker, "workers", 0), Some(4));
}

#[tokio::test]
async fn without_retry_topics_a_failed_job_stops_the_consumer_and_what_is_before_it_is_committed() {
    let (broker, kafka) = broker();
    publish(&kafka, 0..4).await;
    let (store, _receiver) = store(None, Some(2));
    let consumer = kafka.consumer("workers").batch_wait(PATIENCE * 2).serve(routes![[OrderCreated; 4] => store]);
    let Err(ConsumerError::Record { record, summary }) = run(consumer, std::future::pending()).await else {
        panic!("it goes on")
    };
    assert_eq!((record.offset, summary.handled), (2, 3));
    assert_eq!(committed(&broker, "workers", 0), Some(2));
}

/// An order whose decoding panics for number 1.
#[babel_job("urn:babel:orders:created")]
#[derive(Serialize)]
struct Touchy {
    order_id: u64,
}

impl<'de> Deserialize<'de> for Touchy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OrderCreated { order_id, .. } = OrderCreated::deserialize(deserializer)?;
        assert_ne!(order_id, 1, "not this one");
        Ok(Self { order_id })
    }
}

#[tokio::test]
async fn a_job_whose_decoding_panics_fails_alone() {
    let (broker, kafka) = broker();
    publish(&kafka, 0..3).await;
    async fn store(seen: &UnboundedSender<Seen>, batch: JobBatch<Touchy>) -> Result<(), HandlerError> {
        Ok(seen.send(Seen::Batch(batch.iter().map(|(order, _)| order.order_id).collect()))?)
    }
    let (seen, mut receiver) = unbounded_channel();
    let (told, mut errors) = unbounded_channel();
    let consumer = workers(&kafka)
        .on_error(move |error| drop(told.send((error.offset, error.error.clone()))))
        .serve(routes![seen; [Touchy; 2] => store]);
    let summary = run(consumer, async { assert_eq!(batches(&mut receiver, 2).await, [[0, 2]]) }).await.unwrap();
    assert_eq!((summary.handled, summary.retried), (2, 1));
    let (offset, error) = errors.recv().await.unwrap();
    assert_eq!(offset, 1);
    assert!(error.starts_with("the handler panicked:") && error.contains("not this one"), "{error}");
    assert_eq!(read(&broker, "orders.retry.1", 1).len(), 1);
    assert_eq!(committed(&broker, "workers", 0), Some(3));
}

#[tokio::test]
async fn jobs_of_another_kind_between_them_keep_their_place() {
    let (_broker, kafka) = broker();
    let (store, mut receiver) = store(None, None);
    let seen = store.seen.clone();
    let paid = move |job: OrderPaid| seen.send(Seen::Paid(job.order_id));
    struct Paid<F>(F);
    impl<F, E> babelqueue::Handler<OrderPaid> for Paid<F>
    where
        F: Fn(OrderPaid) -> Result<(), E> + Send + Sync + 'static,
        E: std::error::Error + Send + Sync + 'static,
    {
        async fn handle(&self, job: OrderPaid, _: &Delivery) -> Result<(), HandlerError> {
            Ok((self.0)(job)?)
        }
    }
    publish(&kafka, 0..2).await;
    Publisher::new(&kafka).publish(&OrderPaid { order_id: 7 }).await.unwrap();
    publish(&kafka, 2..3).await;
    let consumer = workers(&kafka)
        .batch_wait(Duration::from_millis(300))
        .serve(routes![[OrderCreated; 100] => store, OrderPaid => Paid(paid)]);
    let mut seen = Vec::new();
    let signal = async {
        while seen.len() < 3 {
            seen.push(receiver.recv().await.unwrap());
        }
    };
    assert_eq!(run(consumer, signal).await.unwrap().handled, 4);
    assert_eq!(seen, [Seen::Batch(vec![0, 1]), Seen::Paid(7), Seen::Batch(vec![2])]);
}

#[tokio::test]
async fn what_does_not_fit_or_was_handled_before_is_in_no_batch() {
    let (broker, kafka) = broker();
    let body = |order: &str, id: u64| {
        Foreign::value(format!(
            r#"{{"job":"urn:babel:orders:created","meta":{{"id":"{id}"}},"data":{{"order_id":{order}}}}}"#
        ))
    };
    for (order, id) in [("0", 0), ("\"one\"", 1), ("0", 0), ("2", 2)] {
        body(order, id).send(&broker).await;
    }
    let guard = Idempotency::new(MemoryStore::new(10, PATIENCE), StoreFailure::FailRecord);
    let (store, mut receiver) = store(None, None);
    // The first is a batch of its own, as it comes again.
    let wait = Duration::from_millis(300);
    let consumer = workers(&kafka).idempotency(guard).batch_wait(wait).serve(routes![[OrderCreated; 9] => store]);
    let mut seen = Vec::new();
    let summary = run(consumer, async { seen = batches(&mut receiver, 2).await }).await.unwrap();
    assert_eq!(seen, [[0], [2]]);
    assert_eq!((summary.handled, summary.duplicates, summary.dead_lettered), (3, 1, 1));
    assert_eq!(committed(&broker, "workers", 0), Some(4));
}

#[tokio::test]
async fn what_is_gathered_when_the_consumer_ends_is_left_to_the_next_one() {
    let (broker, kafka) = broker();
    publish(&kafka, 0..3).await;
    let (store_of_first, mut receiver) = store(None, None);
    let consumer = workers(&kafka).batch_wait(PATIENCE * 2).serve(routes![[OrderCreated; 2] => store_of_first]);
    let health = consumer.health();
    let signal = async {
        batches(&mut receiver, 2).await;
        while health.report().partitions.first().and_then(|each| each.watermark) != Some(2) {
            tokio::task::yield_now().await;
        }
    };
    let summary = run(consumer, signal).await.unwrap();
    assert_eq!((summary.handled, summary.unfinished.len()), (2, 0), "{summary:?}");
    assert_eq!(committed(&broker, "workers", 0), Some(2));
    let (store, mut receiver) = store(None, None);
    let consumer = workers(&kafka).serve(routes![[OrderCreated; 2] => store]);
    let mut seen = Vec::new();
    run(consumer, async { seen = batches(&mut receiver, 1).await }).await.unwrap();
    assert_eq!(seen, [[2]]);
}

#[tokio::test]
async fn functions_and_methods_take_batches_and_settle_them_whole() {
    async fn count(batch: JobBatch<OrderCreated>) -> Result<(), HandlerError> {
        assert_eq!(batch.len(), batch.into_jobs().len());
        Ok(())
    }
    struct Table {
        full: AtomicBool,
        stored: UnboundedSender<usize>,
    }
    impl Table {
        async fn insert(&self, batch: JobBatch<OrderCreated>) -> Result<(), HandlerError> {
            if self.full.load(Ordering::Relaxed) {
                return Err(HandlerError::fatal("the table is full"));
            }
            Ok(self.stored.send(batch.len())?)
        }
    }
    assert_eq!(routes![[OrderCreated; 10] => count].urns(), ["urn:babel:orders:created"]);
    let (_broker, kafka) = broker();
    publish(&kafka, 0..4).await;
    let (stored, mut receiver) = unbounded_channel();
    let table = Arc::new(Table { full: AtomicBool::new(false), stored });
    let consumer =
        workers(&kafka).batch_wait(PATIENCE * 2).serve(routes![Arc::clone(&table); [OrderCreated; 4] => Table::insert]);
    let signal = async { assert_eq!(receiver.recv().await, Some(4)) };
    assert_eq!(run(consumer, signal).await.unwrap().handled, 4);
}

#[tokio::test]
async fn what_does_not_go_with_batches_is_refused_at_the_start() {
    let kafka = Kafka::connect("localhost:9092").unwrap();
    let refused = |consumer: ConsumerBuilder, max: usize| {
        let consumer = consumer.serve(routes![[OrderCreated; max] => store(None, None).0]);
        async move {
            match consumer.run().await {
                Err(ConsumerError::Config(ConfigError::Setting { name, .. })) => name,
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(refused(kafka.consumer("workers").order(ProcessingOrder::Key), 10).await, "order");
    assert_eq!(refused(kafka.consumer("workers"), 0).await, "routes");
    // A batch that waits to fill would be taken for a record that holds up its partition.
    let as_long = kafka.consumer("workers").batch_wait(PATIENCE).stall_timeout(PATIENCE);
    assert_eq!(refused(as_long, 10).await, "batch_wait");
}
