//! Dead letters: read, redriven, handled.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use babelqueue::{Delivery, HandlerError, RetryTopics, routes, testing::TestKit};

use super::{start, told};
use crate::jobs::{Foreign, OrderCreated};

/// A warehouse that can be opened.
struct Warehouse {
    open: Arc<AtomicBool>,
}

impl Warehouse {
    async fn on_created(&self, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        match self.open.load(Ordering::SeqCst) {
            true => Ok(()),
            false => Err(HandlerError::new("the warehouse is closed")),
        }
    }
}

#[tokio::test]
async fn a_message_fails_is_dead_lettered_its_cause_is_mended_and_it_is_redriven_and_handled() {
    let open = Arc::new(AtomicBool::new(false));
    let warehouse = Warehouse { open: Arc::clone(&open) };
    let kit = TestKit::start(routes![warehouse; OrderCreated => Warehouse::on_created]).await.unwrap();
    let id = kit.publish(&told(1, "")).await.unwrap();
    for nth in 1..=2 {
        kit.advance(kit.retried(id, nth).await.unwrap().delay);
    }
    assert_eq!(kit.dead_lettered(id).await.unwrap().attempts(), 3);

    open.store(true, Ordering::SeqCst);
    let report = kit.redrive().await.unwrap();
    assert_eq!((report.redriven, report.skipped()), (1, 0));
    // It starts over.
    assert_eq!(kit.handled(id).await.unwrap(), 1);
    assert!(kit.dead_letters().await.unwrap().is_empty());
    assert_eq!(kit.redrive().await.unwrap().read, 0);
}

#[tokio::test]
async fn dead_letters_are_read_with_poison_and_with_what_another_client_has_written() {
    let kit = TestKit::builder()
        .partitions(3)
        .consumer(|consumer| {
            let retry_topics = |topic| RetryTopics::for_topic(topic).tiers([Duration::from_secs(1)]);
            // Both on one dead-letter topic, which is read once.
            consumer
                .topics(["orders", "orders.eu"])
                .retry_topics(retry_topics("orders"))
                .retry_topics(retry_topics("orders.eu").dead_letter_topic("orders.dlq"))
        })
        .start(super::orders())
        .await
        .unwrap();
    assert!(kit.dead_letters().await.unwrap().is_empty());
    let failed = kit.publish(&told(1, "fatal")).await.unwrap();
    kit.dead_lettered(failed).await.unwrap();
    Foreign::value("not JSON").send(kit.broker()).await;
    Foreign::value(r#"{"job":"urn:babel:orders:created","meta":{"id":"m-1","schema_version":2}}"#)
        .header("bq-message-id", Some(b"m-1"))
        .send(kit.broker())
        .await;
    // It lies there as it came.
    let quarantined = kit.dead_lettered("m-1").await.unwrap();
    assert_eq!((quarantined.reason(), quarantined.attempts()), (None, 0));
    let mut letters = kit.dead_letters().await.unwrap();
    while letters.len() < 3 {
        letters = kit.dead_letters().await.unwrap();
    }
    let mut reasons: Vec<_> = letters.iter().map(|letter| letter.reason()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, [None, Some("failed"), Some("poison")]);
    let poison = letters.iter().find(|letter| letter.reason() == Some("poison")).unwrap();
    assert_eq!((poison.message_id(), poison.job::<OrderCreated>()), (None, None));
}

#[tokio::test]
async fn age_goes_by_the_clock_of_the_kit() {
    let kit = start().await;
    let old = kit.publish(&told(1, "fatal")).await.unwrap();
    kit.dead_lettered(old).await.unwrap();
    kit.advance(Duration::from_secs(7200));
    let young = kit.publish(&told(2, "fatal")).await.unwrap();
    kit.dead_lettered(young).await.unwrap();
    let redrive = || kit.kafka().redrive("orders.dlq").dry_run();
    assert_eq!(redrive().older_than(Duration::from_secs(3600)).run().await.unwrap().redriven, 1);
    assert_eq!(redrive().younger_than(Duration::from_secs(3600)).run().await.unwrap().redriven, 1);
}
