//! Nothing is committed before the write that settles it is acknowledged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use babelqueue::{
    ConsumerError, Delivery, Exhausted, HandlerError, Kafka, Publisher, RetryTopics, Settled, routes,
    testing::TestBroker,
};
use rdkafka::Message as _;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{GROUP, Running, TIERS, broker, foreign, lying_on, text, tiers, told};
use crate::jobs::{Foreign, OrderCreated, committed};

/// Takes the broker off the network when it first meets the order 1, which fails.
struct Saboteur {
    broker: Arc<TestBroker>,
    down: AtomicBool,
    handled: UnboundedSender<u64>,
}

impl Saboteur {
    async fn handle(&self, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        if job.order_id != 1 {
            return Ok(self.handled.send(job.order_id)?);
        }
        if !self.down.swap(true, Ordering::SeqCst) {
            self.broker.down()?;
        }
        Err(HandlerError::new("the warehouse is closed"))
    }

    /// Orders 0 to 2, handled by a saboteur. The group outlives the broker's absence.
    async fn at_work() -> (Arc<TestBroker>, Kafka, Running) {
        let broker = broker().0;
        // In one batch, so that a consumer that has the first order has them all when the broker goes.
        let kafka = broker
            .builder()
            .publisher_property("batch.num.messages", "3")
            .publisher_property("linger.ms", "10000")
            .build()
            .unwrap();
        let publisher = Publisher::new(&kafka);
        let orders: Vec<_> = (0..3).map(OrderCreated::number).collect();
        for published in futures_util::future::join_all(orders.iter().map(|order| publisher.publish(order))).await {
            published.unwrap();
        }
        let kafka = broker
            .builder()
            .consumer_property("session.timeout.ms", "30000")
            .delivery_timeout(Duration::from_secs(1))
            .build()
            .unwrap();
        let (handled, receiver) = unbounded_channel();
        let broker = Arc::new(broker);
        let saboteur = Self { broker: Arc::clone(&broker), down: AtomicBool::new(false), handled };
        let consumer = kafka
            .consumer(GROUP)
            .retry_topics(tiers())
            .commit_interval(Duration::from_millis(10))
            .shutdown_timeout(Duration::from_secs(15));
        let running = Running::with(consumer, receiver, |consumer| {
            consumer.serve(routes![saboteur; OrderCreated => Self::handle])
        });
        (broker, kafka, running)
    }
}

fn now_ms() -> i64 {
    i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

#[tokio::test]
async fn a_retry_that_meets_no_broker_is_written_when_it_is_back_and_carries_the_time_of_the_write() {
    let (broker, kafka, mut running) = Saboteur::at_work().await;
    assert_eq!((running.handled().await, running.handled().await), (0, 2));
    assert_eq!(running.write_failed().await, (1, "orders.retry.1".to_owned()));
    let failed_at = now_ms();
    running.write_failed().await;
    assert!(running.errors.try_recv().is_err(), "it is reported as settled before it is");
    broker.up().unwrap();
    assert!(matches!(running.errors(1).await[0].settled, Settled::Retry { .. }));
    // The partition goes on.
    Publisher::new(&kafka).publish(&OrderCreated::number(3)).await.unwrap();
    assert_eq!(running.handled().await, 3);
    let summary = running.stop().await;
    assert_eq!((summary.handled, summary.retried), (3, 1));
    assert_eq!(committed(&broker, GROUP, 0), Some(4));
    let retries = lying_on(&broker, "orders.retry.1");
    assert!(!retries.is_empty());
    assert!(retries.iter().all(|record| record.timestamp().to_millis() >= Some(failed_at)), "an old time");
}

#[tokio::test]
async fn a_shutdown_while_a_write_is_on_its_way_commits_the_record_only_if_it_was_written() {
    let (broker, _kafka, mut running) = Saboteur::at_work().await;
    assert_eq!((running.handled().await, running.handled().await), (0, 2));
    running.handle.shutdown();
    broker.up().unwrap();
    let summary = running.end().await.unwrap();
    // The write was acknowledged, or the record is left to the next member.
    let settled = summary.retried == 1;
    assert_eq!(summary.unfinished.len(), usize::from(!settled), "{summary:?}");
    assert!(!settled || !lying_on(&broker, "orders.retry.1").is_empty());
    let passed = committed(&broker, GROUP, 0).is_some_and(|offset| offset > 1);
    assert!(settled || !passed, "{summary:?}");
}

/// A connection whose producer takes nothing larger than a kilobyte and more, so that a larger record cannot be written
/// anywhere while the broker is there.
fn narrow(broker: &TestBroker) -> Kafka {
    broker.builder().publisher_property("message.max.bytes", "1000").build().unwrap()
}

/// An order that fails, and is too large for [`narrow`] with its text.
fn large(order_id: u64, attempts: u32) -> Foreign {
    foreign(order_id, &format!("fail {}", "x".repeat(2000)), attempts)
}

#[tokio::test]
async fn an_unsettled_record_holds_the_commit_of_those_behind_it_and_is_named_at_the_end() {
    let (broker, kafka) = broker();
    foreign(0, "", 0).send(&broker).await;
    large(1, 0).send(&broker).await;
    foreign(2, "fail", 0).send(&broker).await;
    foreign(3, "", 0).send(&broker).await;
    let retry_topics = tiers().without_dead_letters();
    let consumer = narrow(&broker).consumer(GROUP).commit_interval(Duration::from_millis(10));
    let mut running = Running::start(consumer.retry_topics(retry_topics.clone()));
    assert_eq!((running.handled().await, running.handled().await), (0, 3));
    assert_eq!(running.errors(1).await[0].offset, 2);
    // Tried again and again, and meanwhile nothing behind it is committed.
    for _ in 0..3 {
        assert_eq!(running.write_failed().await, (1, "orders.retry.1".to_owned()));
    }
    assert_eq!(committed(&broker, GROUP, 0), Some(1));
    let summary = running.stop().await;
    assert_eq!((summary.handled, summary.retried), (2, 1));
    let unfinished: Vec<_> =
        summary.unfinished.iter().map(|(partition, offset)| (partition.to_string(), *offset)).collect();
    assert_eq!(unfinished, [("orders[0]".to_owned(), 1)]);
    assert!(summary.left_group && summary.uncommitted.is_none(), "{summary:?}");
    assert_eq!(committed(&broker, GROUP, 0), Some(1));

    // The next member starts with it.
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(retry_topics));
    assert_eq!(running.errors(2).await.iter().map(|error| error.offset).max(), Some(2));
    running.stop().await;
    assert_eq!(committed(&broker, GROUP, 0), Some(4));
    let again: Vec<_> = lying_on(&broker, "orders.retry.1").iter().map(|record| text(record).len() > 2000).collect();
    assert_eq!(again.iter().filter(|large| **large).count(), 1, "{again:?}");
}

#[tokio::test]
async fn what_a_retry_topic_cannot_hold_is_a_dead_letter_and_what_that_cannot_hold_either_says_where_it_lies() {
    let (broker, _) = broker();
    large(1, 0).header("bq-trace-id", Some(b"trace-1")).send(&broker).await;
    foreign(2, "", 0).send(&broker).await;
    let mut running = Running::start(narrow(&broker).consumer(GROUP).retry_topics(tiers()));
    assert_eq!(running.handled().await, 2);
    assert_eq!(running.errors(1).await[0].settled, Settled::DeadLetter { topic: "orders.dlq".to_owned() });
    let summary = running.stop().await;
    assert_eq!((summary.retried, summary.dead_lettered), (0, 1));
    assert_eq!(committed(&broker, GROUP, 0), Some(2));
    let dead = lying_on(&broker, "orders.dlq");
    assert_eq!(dead.len(), 1);
    let pointer: serde_json::Value = serde_json::from_str(text(&dead[0])).unwrap();
    let error = pointer["dead_letter"]["error"].as_str().unwrap();
    assert!(error.contains("orders[0] offset 0; the warehouse is closed"), "{error}");
    assert_eq!((pointer.get("data"), &pointer["dead_letter"]["attempts"]), (None, &serde_json::json!(1)));
    assert_eq!(crate::jobs::header(&dead[0], "bq-trace-id"), Some(&b"trace-1"[..]));
}

#[tokio::test]
async fn a_record_that_stops_the_consumer_does_not_commit_the_unwritten_one_before_it() {
    let (broker, _) = broker();
    large(1, 0).send(&broker).await;
    foreign(2, "fatal", 0).send(&broker).await;
    let retry_topics = RetryTopics::for_topic("orders").tiers(TIERS).without_dead_letters();
    let consumer = narrow(&broker).consumer(GROUP).retry_topics(retry_topics).exhausted(Exhausted::Stop);
    let Err(ConsumerError::Record { record, summary }) = Running::start(consumer).end().await else { panic!() };
    assert_eq!((record.offset, summary.retried), (1, 0));
    assert!(summary.unfinished.iter().any(|(_, offset)| *offset == 0), "{summary:?}");
    assert!(committed(&broker, GROUP, 0).is_none_or(|offset| offset == 0));
}

#[tokio::test]
async fn many_failures_at_once_are_each_written_and_committed() {
    let (broker, kafka) = broker();
    let publisher = Publisher::new(&kafka);
    let orders: Vec<_> = (0..1000).map(|order| told(order, if order % 2 == 0 { "fail" } else { "fatal" })).collect();
    futures_util::future::join_all(orders.iter().map(|order| publisher.publish(order))).await;
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    running.errors(1000).await;
    let summary = running.stop().await;
    assert_eq!((summary.retried, summary.dead_lettered), (500, 500));
    assert_eq!(committed(&broker, GROUP, 0), Some(1000));
    // In the order of their partition.
    for (topic, first) in [("orders.retry.1", 0), ("orders.dlq", 1)] {
        let keys: Vec<_> = lying_on(&broker, topic).iter().map(|record| record.key().unwrap().to_vec()).collect();
        let expected: Vec<_> = (0..500).map(|n| (first + 2 * n).to_string().into_bytes()).collect();
        assert_eq!(keys, expected, "{topic}");
    }
}

#[tokio::test]
async fn without_a_sending_client_the_consumer_ends_and_leaves_the_failed_record_uncommitted() {
    let (broker, kafka) = broker();
    foreign(1, "fail", 0).send(&broker).await;
    kafka.close(Duration::from_secs(5)).await;
    let running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    let Err(ConsumerError::Kafka { error, summary }) = running.end().await else { panic!("it goes on") };
    assert_eq!(error.code(), "Closed");
    assert_eq!((summary.retried, summary.handled), (0, 0));
    assert!(committed(&broker, GROUP, 0).is_none_or(|offset| offset == 0));
}
