//! What fails: writes, acknowledgements, the group, the broker.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    ConsumerError, Delivery, Event, Failures, HandlerError, JobBatch, PublishError, babel_job, routes,
    testing::{Outcome, TestKit, TestKitError, WriteError},
};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::{
    Semaphore,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use super::{orders, settings, start, told};
use crate::jobs::{OrderCreated, committed};

/// A kit whose consumer commits at once, and the writes that its consumer reports as failed: of which offset, to which
/// topic, with which error.
async fn watched() -> (TestKit, UnboundedReceiver<(i64, String, String)>) {
    let (sender, failures) = unbounded_channel();
    let kit = TestKit::builder()
        .consumer(move |consumer| {
            settings(consumer).commit_interval(Duration::from_millis(10)).on_event(move |event| {
                if let Event::WriteFailed { offset, topic, error, .. } = event {
                    let _ = sender.send((*offset, topic.clone(), error.code().to_owned()));
                }
            })
        })
        .start(orders())
        .await
        .unwrap();
    (kit, failures)
}

#[tokio::test]
async fn the_nth_write_to_a_topic_fails_once_and_is_tried_again() {
    let (kit, mut failures) = watched().await;
    kit.fail_writes("orders.dlq", [2, 3], WriteError::Retriable);
    for order in 0..3 {
        let id = kit.publish(&told(order, "fatal")).await.unwrap();
        let letter = kit.dead_lettered(id).await.unwrap();
        assert_eq!(letter.offset(), i64::try_from(order).unwrap(), "nothing is written twice");
    }
    assert_eq!(kit.shutdown().await.unwrap().dead_lettered, 3);
    let failed = |offset| (offset, "orders.dlq".to_owned(), "NotEnoughReplicas".to_owned());
    // The second write and the one that repeats it.
    assert_eq!((failures.try_recv(), failures.try_recv()), (Ok(failed(1)), Ok(failed(1))));
    assert!(failures.try_recv().is_err());
}

#[tokio::test]
async fn a_failed_write_has_the_class_that_was_asked_for() {
    let kit = start().await;
    let classes = [
        (WriteError::Retriable, [true, false, false]),
        (WriteError::Refused, [false, true, false]),
        (WriteError::Permanent, [false, false, false]),
        (WriteError::Fatal, [false, false, true]),
    ];
    for (error, expected) in classes {
        kit.fail_writes("orders", [1], error);
        let Err(PublishError::NotDelivered { error, .. }) = kit.publish(&told(1, "")).await else { panic!() };
        assert_eq!([error.is_retriable(), error.is_refused(), error.is_fatal()], expected, "{error}");
    }
    // And no other topic's, and no later one.
    kit.fail_writes("orders.dlq", [1], WriteError::Permanent);
    let id = kit.publish(&told(1, "")).await.unwrap();
    kit.handled(id).await.unwrap();
}

#[tokio::test]
async fn a_client_that_can_send_nothing_more_ends_the_consumer_with_an_error() {
    let kit = start().await;
    kit.fail_writes("orders.dlq", [1], WriteError::Fatal);
    let id = kit.publish(&told(1, "fatal")).await.unwrap();
    let unmet = kit.outcome(id).await.unwrap_err().to_string();
    assert!(unmet.contains("was not settled for good and will not be: the consumer has ended"), "{unmet}");
    assert!(matches!(kit.shutdown().await, Err(TestKitError::Consumer(ConsumerError::Kafka { .. }))));
}

/// What a batch handler publishes, to take as long as the broker does.
#[babel_job("urn:babel:audit:noted")]
#[derive(Serialize, Deserialize)]
struct Noted {}

struct Gated {
    open: Arc<Semaphore>,
    handled: Arc<AtomicUsize>,
}

impl Gated {
    /// The order 0 fails for good.
    async fn store(&self, batch: JobBatch<OrderCreated>) -> Result<Failures, HandlerError> {
        drop(self.open.acquire().await?);
        let mut failures = Failures::default();
        for (order, cx) in &batch {
            if order.order_id == 0 {
                failures.add(cx, HandlerError::fatal("no such warehouse"));
            }
        }
        if let Some((_, cx)) = batch.iter().next() {
            cx.message(&Noted {}).await?;
        }
        self.handled.fetch_add(batch.iter().count(), Ordering::Relaxed);
        Ok(failures)
    }
}

#[tokio::test]
async fn a_client_that_can_send_nothing_more_ends_a_consumer_of_batches_that_has_a_backlog() {
    const BACKLOG: usize = 3000;
    let (open, handled) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let gated = Gated { open: Arc::clone(&open), handled: Arc::clone(&handled) };
    let routes = routes![gated; [OrderCreated; 10] => Gated::store];
    let kit = TestKit::builder().consumer(settings).patience(Duration::from_secs(60)).start(routes).await.unwrap();
    kit.fail_writes("orders.dlq", [1], WriteError::Fatal);
    let first = kit.publish(&told(0, "")).await.unwrap();
    let orders: Vec<_> = (1..=BACKLOG).map(|order| told(order as u64, "")).collect();
    try_join_all(orders.iter().map(|order| kit.publish(order))).await.unwrap();
    open.add_permits(1);
    kit.outcome(first).await.unwrap_err();
    assert!(matches!(kit.shutdown().await, Err(TestKitError::Consumer(ConsumerError::Kafka { .. }))));
    let handled = handled.load(Ordering::Relaxed);
    assert!(handled < BACKLOG / 2, "{handled}");
}

#[tokio::test]
async fn what_a_retry_topic_cannot_hold_is_a_dead_letter() {
    let kit = start().await;
    kit.limit_values("orders.retry.1", 200);
    let id = kit.publish(&told(1, &format!("fail{}", " ".repeat(200)))).await.unwrap();
    let Outcome::DeadLettered(letter) = kit.outcome(id).await.unwrap() else { panic!() };
    assert_eq!((letter.attempts(), letter.message_id()), (1, Some(id.to_string())));
}

#[tokio::test]
async fn what_is_not_acknowledged_is_not_committed() {
    let (kit, _) = watched().await;
    let held = kit.hold_acknowledgements("orders.dlq");
    let dead = kit.publish(&told(1, "fatal")).await.unwrap();
    let handled = kit.publish(&told(2, "")).await.unwrap();
    assert_eq!(kit.handled(handled).await.unwrap(), 1);
    // It lies there, and nobody has heard of it.
    while kit.dead_letters().await.unwrap().is_empty() {}
    assert_eq!(committed(kit.broker(), "test-kit", 0), None);
    drop(held);
    kit.dead_lettered(dead).await.unwrap();
    assert_eq!(kit.shutdown().await.unwrap().unfinished, []);
}

#[tokio::test]
async fn a_shutdown_while_an_acknowledgement_is_held_leaves_the_record_uncommitted() {
    let kit = TestKit::builder()
        .consumer(|consumer| settings(consumer).shutdown_timeout(Duration::from_millis(500)))
        .start(orders())
        .await
        .unwrap();
    let _held = kit.hold_acknowledgements("orders.retry.1");
    let failed = kit.publish(&told(1, "fail")).await.unwrap();
    let behind = kit.publish(&told(2, "")).await.unwrap();
    kit.handled(behind).await.unwrap();
    assert_eq!(kit.shutdown().await.unwrap().unfinished.len(), 1, "{failed}");
}

/// Tells of each delivery; the first one takes until it is asked to end.
struct Slow {
    deliveries: UnboundedSender<i64>,
    began: AtomicBool,
}

impl Slow {
    async fn on_created(&self, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        self.deliveries.send(cx.offset())?;
        if !self.began.swap(true, Ordering::SeqCst) {
            cx.cancelled().await;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_handler_whose_partition_is_revoked_is_told_and_its_record_is_delivered_again() {
    let (deliveries, mut delivered) = unbounded_channel();
    let slow = Slow { deliveries, began: AtomicBool::new(false) };
    let kit = TestKit::start(routes![slow; OrderCreated => Slow::on_created]).await.unwrap();
    kit.publish(&told(1, "")).await.unwrap();
    assert_eq!(delivered.recv().await, Some(0));
    kit.rebalance().await.unwrap();
    assert_eq!(delivered.recv().await, Some(0));
    assert_eq!(kit.shutdown().await.unwrap().unfinished, []);
}

#[tokio::test]
async fn with_several_partitions_all_come_back_after_a_rebalance() {
    let kit = TestKit::builder().partitions(3).consumer(settings).start(orders()).await.unwrap();
    kit.rebalance().await.unwrap();
    kit.rebalance().await.unwrap();
    let mut ids = Vec::new();
    for order in 0..12 {
        ids.push(kit.publish(&told(order, "")).await.unwrap());
    }
    for id in ids {
        assert_eq!(kit.handled(id).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn while_the_broker_is_away_nothing_is_lost() {
    let kit = TestKit::builder()
        .consumer(settings)
        .connection(|kafka| {
            kafka.delivery_timeout(Duration::from_secs(3)).consumer_property("session.timeout.ms", "30000").build()
        })
        .patience(Duration::from_secs(60))
        .start(orders())
        .await
        .unwrap();
    let first = kit.publish(&told(1, "")).await.unwrap();
    kit.handled(first).await.unwrap();
    kit.broker().down().unwrap();
    assert!(
        matches!(kit.publish(&told(2, "")).await, Err(PublishError::NotDelivered { error, .. }) if error.is_retriable())
    );
    kit.broker().up().unwrap();
    // The client notices a little later that the broker is back.
    let third = loop {
        if let Ok(id) = kit.publish(&told(3, "fail 1")).await {
            break id;
        }
    };
    kit.advance(kit.retried(third, 1).await.unwrap().delay);
    assert_eq!(kit.handled(third).await.unwrap(), 2);
}
