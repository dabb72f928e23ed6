//! The clock that a test moves, and the time by which a retry topic is over.

use std::{
    future::Future,
    pin::pin,
    task::Poll,
    time::{Duration, SystemTime},
};

use babelqueue::{Delivery, HandlerError, Publisher, RetryTopics, routes, testing::TestKit};
use rdkafka::Message as _;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{TIERS, orders, settings, start, told};
use crate::jobs::{OrderCreated, read};

fn now_ms() -> i64 {
    i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

#[tokio::test]
async fn half_an_hour_passes_at_once_and_not_a_second_before_its_time() {
    let kit = start().await;
    let id = kit.publish(&told(1, "fail 2")).await.unwrap();
    kit.advance(kit.retried(id, 1).await.unwrap().delay);
    assert_eq!(kit.retried(id, 2).await.unwrap().delay, TIERS[1]);
    kit.advance(TIERS[1] - Duration::from_secs(60));
    // Whatever would go on now has, once something behind it has gone on.
    let behind = kit.publish(&told(2, "fail 1")).await.unwrap();
    kit.retried(behind, 1).await.unwrap();
    kit.advance(TIERS[0]);
    assert_eq!(kit.handled(behind).await.unwrap(), 2);
    {
        let mut waiting = pin!(kit.handled(id));
        let first = std::future::poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx))).await;
        assert!(first.is_pending(), "{first:?}");
    }
    kit.advance(Duration::from_secs(30));
    assert_eq!(kit.handled(id).await.unwrap(), 3);
}

#[tokio::test]
async fn a_record_that_is_written_after_a_move_waits_for_its_whole_tier_too() {
    let kit = start().await;
    kit.advance(Duration::from_secs(86_400));
    let id = kit.publish(&told(1, "fail 1")).await.unwrap();
    let retried = kit.retried(id, 1).await.unwrap();
    let written = read(kit.broker(), "orders.retry.1", 1)[0].timestamp().to_millis().unwrap();
    assert!(written > now_ms() + 86_000_000, "{written}");
    let unmet = async {
        let mut waiting = pin!(kit.handled(id));
        std::future::poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await
    };
    assert!(unmet.await, "it did not wait");
    kit.advance(retried.delay);
    assert_eq!(kit.handled(id).await.unwrap(), 2);
}

#[tokio::test]
async fn a_delayed_message_passes_too() {
    let tiers = || RetryTopics::for_topic("orders").tiers(TIERS);
    let kit = TestKit::builder().consumer(settings).start(orders()).await.unwrap();
    kit.advance(Duration::from_secs(3600));
    let publisher = Publisher::<OrderCreated>::new(kit.kafka()).retry_topics(tiers());
    let id = publisher.message(&told(1, "")).delay(TIERS[1]).await.unwrap();
    kit.advance(TIERS[1]);
    assert_eq!(kit.handled(id).await.unwrap(), 1);
}

#[tokio::test]
async fn the_envelope_and_the_record_tell_one_time() {
    async fn look(times: &UnboundedSender<Option<i64>>, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        Ok(times.send(cx.timestamp())?)
    }
    let (times, mut seen) = unbounded_channel();
    let kit = TestKit::start(routes![times; OrderCreated => look]).await.unwrap();
    kit.advance(Duration::from_secs(3600));
    kit.publish(&told(1, "")).await.unwrap();
    let record = &read(kit.broker(), "orders", 1)[0];
    let body: serde_json::Value = serde_json::from_slice(record.payload().unwrap()).unwrap();
    assert_eq!(seen.recv().await.unwrap(), body["meta"]["created_at"].as_i64());
    assert!(body["meta"]["created_at"].as_i64() > Some(now_ms() + 3_000_000));
}
