//! A message that is held back before its first delivery (contract section 4).

use std::time::Duration;

use babelqueue::{
    ConfigError, DelayError, Delivery, HandlerError, PublishError, Publisher, RetryTopics, Uuid, babel_job, routes,
    testing::TestKit,
};
use rdkafka::Message as _;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{TIERS, broker, headers, lying_on, text, tiers};
use crate::jobs::{OrderCreated, header};

#[tokio::test]
async fn a_delayed_message_lies_on_the_shortest_tier_that_is_as_long() {
    let (broker, kafka) = broker();
    let publisher = Publisher::new(&kafka).retry_topics(tiers());
    let mut ids = Vec::new();
    for (order, ms) in [(1, 1), (2, 5000), (3, 5001), (4, 60_000)] {
        let order = OrderCreated::number(order);
        let message = publisher.message(&order).header("tenant", "acme").trace_id("trace-1");
        ids.push(message.delay(Duration::from_millis(ms)).await.unwrap().to_string());
    }
    let now = publisher.message(&OrderCreated::number(5)).delay(Duration::ZERO).await.unwrap().to_string();

    let records: Vec<_> =
        ["orders.retry.1", "orders.retry.2"].iter().flat_map(|topic| lying_on(&broker, topic)).collect();
    let found: Vec<_> = records.iter().map(|record| header(record, "bq-message-id").unwrap()).collect();
    assert_eq!(found, ids.iter().map(String::as_bytes).collect::<Vec<_>>());
    for (record, delay) in records.iter().zip(["1", "5000", "5001", "60000"]) {
        let names: Vec<_> = headers(record).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "bq-job",
                "bq-trace-id",
                "bq-message-id",
                "bq-schema-version",
                "bq-source-lang",
                "bq-attempts",
                "bq-delay",
                "bq-original-topic",
                "tenant"
            ]
        );
        assert_eq!(header(record, "bq-delay"), Some(delay.as_bytes()));
        assert_eq!(header(record, "bq-original-topic"), Some(&b"orders"[..]));
        assert_eq!(header(record, "bq-attempts"), Some(&b"0"[..]));
        assert!(text(record).contains(r#""queue":"orders""#), "{}", text(record));
    }
    assert_eq!(records[0].key(), Some(&b"1"[..]));

    let straight = lying_on(&broker, "orders");
    assert_eq!(straight.len(), 1);
    assert_eq!(header(&straight[0], "bq-message-id"), Some(now.as_bytes()));
    assert_eq!(header(&straight[0], "bq-delay"), None);
}

#[tokio::test]
async fn a_delay_that_no_tier_holds_is_an_error_and_nothing_is_sent() {
    let (broker, kafka) = broker();
    let order = OrderCreated::number(1);
    let too_long = Publisher::new(&kafka).retry_topics(tiers());
    let error = too_long.message(&order).delay(Duration::from_millis(60_001)).await;
    assert!(matches!(error, Err(PublishError::Delay(DelayError::TooLong { .. }))), "{error:?}");
    assert_eq!(error.unwrap_err().to_string(), "a delay of 60.001s is longer than the longest tier of `orders`, 60s");

    for publisher in [
        Publisher::new(&kafka),
        Publisher::new(&kafka).retry_topics(RetryTopics::for_topic("orders")),
        Publisher::new(&kafka).retry_topics(tiers()).topic("orders-of-a-test"),
    ] {
        let error = publisher.message(&order).delay(Duration::from_secs(1)).await;
        assert!(matches!(error, Err(PublishError::Delay(DelayError::NoTiers { .. }))), "{error:?}");
    }
    let cannot_work = Publisher::new(&kafka).retry_topics(tiers().tiers([5, 1].map(Duration::from_secs)));
    let error = cannot_work.message(&order).delay(Duration::from_secs(1)).await;
    assert!(matches!(error, Err(PublishError::Config(ConfigError::RetryTopics { .. }))), "{error:?}");
    for topic in ["orders", "orders.retry.1", "orders.retry.2", "orders.dlq"] {
        assert_eq!(lying_on(&broker, topic).len(), 0, "{topic}");
    }
}

#[babel_job("urn:babel:invoices:requested", topic = "invoices")]
#[derive(Serialize, Deserialize)]
struct InvoiceRequested {
    order_id: u64,
}

#[tokio::test]
async fn a_handler_delays_its_message_by_the_tiers_of_its_consumer() {
    async fn follow(sent: &UnboundedSender<Uuid>, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        if job.order_id == 1 {
            sent.send(cx.message(&OrderCreated::number(2)).delay(Duration::from_secs(6)).await?)?;
            let unknown = cx.message(&InvoiceRequested { order_id: 1 }).delay(Duration::from_secs(1)).await;
            assert!(matches!(unknown, Err(PublishError::Delay(DelayError::NoTiers { .. }))), "{unknown:?}");
        }
        Ok(())
    }
    let (sent, mut receiver) = unbounded_channel();
    let kit = TestKit::builder().consumer(|consumer| consumer.retry_topics(tiers()));
    let kit = kit.start(routes![sent; OrderCreated => follow]).await.unwrap();
    let publisher = Publisher::new(kit.kafka());
    let first = publisher.message(&OrderCreated::number(1)).trace_id("trace-1").await.unwrap();
    assert_eq!(kit.handled(first).await.unwrap(), 1);
    let delayed = lying_on(kit.broker(), "orders.retry.2");
    assert_eq!(header(&delayed[0], "bq-delay"), Some(&b"6000"[..]));
    assert_eq!(header(&delayed[0], "bq-trace-id"), Some(&b"trace-1"[..]));
    kit.advance(TIERS[1]);
    assert_eq!(kit.handled(receiver.recv().await.unwrap()).await.unwrap(), 1);
}
