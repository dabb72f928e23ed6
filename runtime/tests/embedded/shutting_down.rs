//! Every shutdown ends within its deadline and says what it left.

use std::{
    future::ready,
    time::{Duration, Instant},
};

use babelqueue::{Delivery, HandlerError, Kafka, ProcessingOrder, Publisher, RetryTopics, routes, testing::TestBroker};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::jobs::{OrderCreated, broker, committed, seen};

async fn hang(started: &UnboundedSender<()>, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    if job.order_id == 0 {
        return Ok(());
    }
    started.send(())?;
    std::future::pending().await
}

#[tokio::test]
async fn a_handler_that_never_returns_is_named_as_unfinished_and_what_came_before_it_is_committed() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    for number in [0, 1, 2] {
        publisher.publish(&OrderCreated::number(number)).await.unwrap();
    }
    let (sender, mut started) = unbounded_channel();
    let consumer =
        kafka.consumer("workers").shutdown_timeout(Duration::from_secs(4)).serve(routes![sender; OrderCreated => hang]);
    let mut asked = Instant::now();
    let signal = async {
        started.recv().await;
        asked = Instant::now();
    };
    let summary = consumer.run_until(signal).await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(summary.handled, 1);
    assert_eq!(summary.unfinished.len(), 1);
    assert_eq!((summary.unfinished[0].0.to_string().as_str(), summary.unfinished[0].1), ("orders[0]", 1));
    assert!(summary.left_group);
    assert_eq!(committed(&broker, "workers", 0), Some(1));
}

#[tokio::test]
async fn a_handler_that_gives_up_when_asked_to_leaves_its_record_to_the_next_owner_as_it_was() {
    async fn give_up(started: &UnboundedSender<()>, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        started.send(())?;
        cx.cancelled().await;
        Err(HandlerError::new("not now"))
    }
    let broker = TestBroker::start(&[("orders", 1), ("orders.retry.1", 1), ("orders.dlq", 1)]).unwrap();
    let kafka = broker.kafka().unwrap();
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    for order in [ProcessingOrder::Partition, ProcessingOrder::Key, ProcessingOrder::Unordered] {
        let (sender, mut started) = unbounded_channel();
        let consumer = kafka
            .consumer("workers")
            .order(order)
            .retry_topics(RetryTopics::for_topic("orders").tiers([Duration::from_secs(5)]))
            .serve(routes![sender; OrderCreated => give_up]);
        let summary = consumer.run_until(async { assert!(started.recv().await.is_some()) }).await.unwrap();
        assert_eq!((summary.retried, summary.dead_lettered, summary.handled), (0, 0, 0));
        assert_eq!(summary.unfinished.iter().map(|(_, offset)| *offset).collect::<Vec<_>>(), [0]);
        assert_eq!(committed(&broker, "workers", 0), None);
    }
    let (routes, mut handled) = seen();
    let next = kafka.consumer("workers").serve(routes);
    next.run_until(async { assert_eq!(handled.recv().await.unwrap().attempts, 0) }).await.unwrap();
}

#[tokio::test]
async fn with_the_broker_gone_it_ends_in_time_and_says_that_nothing_was_committed() {
    let (broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (routes, mut handled) = seen();
    let consumer = kafka
        .consumer("workers")
        .commit_interval(Duration::from_secs(3600))
        .shutdown_timeout(Duration::from_secs(3))
        .serve(routes);
    let mut asked = Instant::now();
    let signal = async {
        handled.recv().await;
        broker.down().unwrap();
        asked = Instant::now();
    };
    let summary = consumer.run_until(signal).await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    assert_eq!(summary.handled, 1);
    assert!(summary.uncommitted.is_some() || !summary.left_group, "{summary:?}");
}

#[tokio::test]
async fn during_the_first_join_it_ends_in_time() {
    for _ in 0..5 {
        let (_broker, kafka) = broker(1);
        let (routes, _handled) = seen();
        let consumer = kafka.consumer("workers").shutdown_timeout(Duration::from_secs(30)).serve(routes);
        let start = Instant::now();
        let summary = consumer.run_until(ready(())).await.unwrap();
        assert!(summary.left_group, "{summary:?}");
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }
}

#[tokio::test]
async fn without_any_broker_it_ends_in_time() {
    let kafka = Kafka::connect("127.0.0.1:1").unwrap();
    let (routes, _handled) = seen();
    let consumer = kafka.consumer("workers").shutdown_timeout(Duration::from_secs(2)).serve(routes);
    let start = Instant::now();
    consumer.run_until(ready(())).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn asking_twice_and_by_signal_at_once_is_asking_once() {
    let (_broker, kafka) = broker(1);
    let (routes, _handled) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    let (one, other) = (consumer.handle(), consumer.handle());
    one.shutdown();
    other.shutdown();
    let start = Instant::now();
    consumer.run_until(ready(())).await.unwrap();
    one.shutdown();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_dropped_consumer_commits_what_it_finished_and_leaves() {
    let (broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (routes, mut handled) = seen();
    let consumer = kafka.consumer("workers").commit_interval(Duration::from_secs(3600)).serve(routes);
    tokio::select! {
        result = consumer.run() => panic!("{result:?}"),
        seen = handled.recv() => assert!(seen.is_some()),
    }
    // The poll thread commits by itself, with nobody left to tell.
    let committing = async {
        while committed(&broker, "workers", 0) != Some(1) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), committing).await.expect("it commits");
    // The next member gets the partition, and nothing of what was handled.
    Publisher::new(&kafka).publish(&OrderCreated::number(2)).await.unwrap();
    let (routes, mut handled) = crate::jobs::seen();
    let next = kafka.consumer("workers").serve(routes);
    let signal = async { assert_eq!(handled.recv().await.unwrap().job.order_id, 2) };
    assert_eq!(next.run_until(signal).await.unwrap().handled, 1);
    assert_eq!(committed(&broker, "workers", 0), Some(2));
}

#[tokio::test]
async fn no_timeout_is_too_long() {
    let (broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (routes, mut handled) = seen();
    let consumer =
        kafka.consumer("workers").commit_interval(Duration::MAX).shutdown_timeout(Duration::MAX).serve(routes);
    consumer.run_until(async { assert!(handled.recv().await.is_some()) }).await.unwrap();
    assert_eq!(committed(&broker, "workers", 0), Some(1));
    assert_eq!(kafka.close(Duration::MAX).await.undelivered, 0);
}
