//! What becomes of a message.

use std::time::{Duration, Instant};

use babelqueue::{
    ConsumerError, Delivery, HandlerError, Publisher, Reason, RetryTopics, UnknownUrn, babel_job, routes,
    testing::{Outcome, TestKit, TestKitError},
};

use super::{TIERS, orders, settings, start, told};
use crate::jobs::{Foreign, OrderCreated};

#[babel_job("urn:babel:orders:cancelled")]
#[derive(serde::Serialize, serde::Deserialize)]
struct OrderCancelled {
    order_id: u64,
}

#[tokio::test]
async fn a_message_is_handled_retried_on_each_tier_and_dead_lettered_without_waiting_for_any() {
    let began = Instant::now();
    let kit = start().await;
    let handled = kit.publish(&told(1, "")).await.unwrap();
    let healed = kit.publish(&told(2, "fail 3")).await.unwrap();
    let dead = kit.publish(&told(3, "fail")).await.unwrap();
    assert_eq!(kit.handled(handled).await.unwrap(), 1);
    for (nth, (tier, delay)) in [(1, TIERS[0]), (2, TIERS[1]), (2, TIERS[1])].into_iter().enumerate() {
        for id in [healed, dead] {
            let retried = kit.retried(id, nth + 1).await.unwrap();
            assert_eq!((retried.topic, retried.delay), (format!("orders.retry.{tier}"), delay));
            assert_eq!((retried.reason, retried.error.as_str()), (Reason::Failed, "the warehouse is closed"));
        }
        kit.advance(delay);
    }
    assert_eq!(kit.handled(healed).await.unwrap(), 4);
    let letter = kit.dead_lettered(dead).await.unwrap();
    assert_eq!((letter.reason(), letter.error()), (Some("failed"), Some("the warehouse is closed")));
    assert_eq!((letter.attempts(), letter.topic(), letter.key()), (4, "orders.dlq", Some(&b"3"[..])));
    assert_eq!(letter.message_id(), Some(dead.to_string()));
    assert_eq!((letter.job(), letter.job::<OrderCancelled>().is_none()), (Some(told(3, "fail")), true));
    let summary = kit.shutdown().await.unwrap();
    assert_eq!((summary.handled, summary.retried, summary.dead_lettered), (2, 6, 1));
    assert!(began.elapsed() < TIERS[1], "it waited");
}

#[tokio::test]
async fn a_fatal_error_is_a_dead_letter_at_once() {
    let kit = start().await;
    let id = kit.publish(&told(1, "fatal")).await.unwrap();
    let Outcome::DeadLettered(letter) = kit.outcome(id).await.unwrap() else { panic!() };
    assert_eq!((letter.error(), letter.attempts()), (Some("no such warehouse (fatal)"), 1));
}

#[tokio::test]
async fn what_no_dead_letter_topic_takes_is_dropped_and_what_no_handler_takes_is_deleted() {
    let kit = TestKit::builder()
        .consumer(|consumer| {
            consumer
                .unknown_urn(UnknownUrn::Delete)
                .retry_topics(RetryTopics::for_topic("orders").tiers([Duration::from_secs(1)]).without_dead_letters())
        })
        .start(orders())
        .await
        .unwrap();
    let dropped = kit.publish(&told(1, "fatal")).await.unwrap();
    let deleted = kit.publish(&OrderCancelled { order_id: 2 }).await.unwrap();
    let Outcome::Dropped { reason, error } = kit.outcome(dropped).await.unwrap() else { panic!() };
    assert_eq!((reason, error.as_str()), (Reason::Failed, "no such warehouse (fatal)"));
    assert!(matches!(kit.outcome(deleted).await.unwrap(), Outcome::Deleted));
}

#[tokio::test]
async fn what_stops_the_consumer_is_told_of_it_and_of_all_others() {
    let kit = TestKit::builder().consumer(|consumer| consumer).start(orders()).await.unwrap();
    let stops = kit.publish(&told(1, "fail")).await.unwrap();
    let Outcome::Stopped { error, .. } = kit.outcome(stops).await.unwrap() else { panic!() };
    assert_eq!(error, "the warehouse is closed");
    let behind = kit.publish(&told(2, "")).await.unwrap();
    let unmet = kit.handled(behind).await.unwrap_err().to_string();
    assert!(
        unmet.starts_with(&format!(
            "message {behind} was not handled and will not be: the consumer has ended: stopped at orders[0] offset 0"
        )),
        "{unmet}"
    );
    let ended = kit.shutdown().await.unwrap_err();
    assert!(matches!(ended, TestKitError::Consumer(ConsumerError::Record { .. })), "{ended}");
}

#[tokio::test]
async fn a_message_of_another_producer_is_known_by_the_id_in_its_body() {
    let kit = start().await;
    Foreign::value(r#"{"job":"urn:babel:orders:created","data":{"order_id":1},"meta":{"id":"m-1"},"attempts":0}"#)
        .send(kit.broker())
        .await;
    Foreign::value(r#"{"job":"urn:babel:orders:created","data":{"order_id":"x"},"meta":{"id":"m-2"},"attempts":0}"#)
        .send(kit.broker())
        .await;
    assert_eq!(kit.handled("m-1").await.unwrap(), 1);
    assert_eq!(kit.dead_lettered("m-2").await.unwrap().reason(), Some("failed"));
}

#[tokio::test]
async fn what_a_handler_publishes_is_found_by_its_type_in_order_and_each_message_once() {
    async fn cancel(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        if cx.attempts() == 0 {
            return Err(HandlerError::new("not yet"));
        }
        cx.message(&OrderCancelled { order_id: job.order_id }).await?;
        Ok(())
    }
    async fn pass(_: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
    let kit = TestKit::builder().patience(Duration::from_secs(3)).consumer(settings);
    let kit = kit.start(routes![OrderCreated => cancel, OrderCancelled => pass]).await.unwrap();
    for order in [1, 2] {
        let id = kit.publish(&OrderCreated::number(order)).await.unwrap();
        kit.advance(kit.retried(id, 1).await.unwrap().delay);
        let (cancelled, job) = kit.published::<OrderCancelled>(usize::try_from(order).unwrap()).await.unwrap();
        assert_eq!(job.order_id, order);
        assert_eq!(kit.handled(cancelled).await.unwrap(), 1);
    }
    assert_eq!(kit.published::<OrderCreated>(2).await.unwrap().1, OrderCreated::number(2));
    // The retries are no messages of their own.
    let unmet = kit.published::<OrderCreated>(3).await.unwrap_err().to_string();
    assert!(unmet.starts_with("message 3 of `urn:babel:orders:created` was not published within 3s"), "{unmet}");
}

#[tokio::test]
async fn without_settings_each_topic_has_the_recommended_retry_topics() {
    let kit = TestKit::start(orders()).await.unwrap();
    let id = kit.publish(&told(1, "fail")).await.unwrap();
    for (nth, seconds) in [(1, 5), (2, 30)] {
        let retried = kit.retried(id, nth).await.unwrap();
        assert_eq!(retried.delay, Duration::from_secs(seconds));
        kit.advance(retried.delay);
    }
    assert_eq!(kit.dead_lettered(id).await.unwrap().attempts(), 3);
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_at_the_start() {
    let nothing = TestKit::builder().consumer(|consumer| consumer.topics([""; 0])).start(orders()).await;
    assert_eq!(nothing.unwrap_err().to_string(), "`topics` name no topic to read");
    let refused = TestKit::builder().consumer(|consumer| consumer.max_tries(0)).start(orders()).await.unwrap_err();
    assert_eq!(format!("{refused:?}"), "`max_tries` has to be at least 1");
}

#[tokio::test]
async fn the_hooks_of_the_user_are_called_before_the_test_goes_on() {
    let (sender, mut errors) = tokio::sync::mpsc::unbounded_channel();
    let (told_of, mut events) = tokio::sync::mpsc::unbounded_channel();
    let kit = TestKit::builder()
        .consumer(move |consumer| {
            settings(consumer)
                .on_error(move |error| drop(sender.send(error.to_string())))
                .on_event(move |event| drop(told_of.send(event.to_string())))
        })
        .start(orders())
        .await
        .unwrap();
    let id = kit.publish(&told(1, "fail")).await.unwrap();
    kit.retried(id, 1).await.unwrap();
    assert!(
        errors.try_recv().unwrap().starts_with("orders[0] offset 0 (urn:babel:orders:created): the handler failed")
    );
    assert_eq!(events.try_recv(), Ok("assigned: orders[0]".to_owned()));
}

#[tokio::test]
async fn a_publisher_of_ones_own_is_seen_too() {
    let kit = start().await;
    let publisher = Publisher::<OrderCreated>::new(kit.kafka());
    let id = publisher.message(&told(1, "")).header("tenant", "acme").await.unwrap();
    assert!(matches!(kit.outcome(id).await.unwrap(), Outcome::Handled { tries: 1 }));
}
