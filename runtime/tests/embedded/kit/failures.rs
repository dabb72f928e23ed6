//! What the kit says when something did not happen, and how it ends.

use std::{future::pending, time::Duration};

use babelqueue::{Delivery, HandlerError, RetryTopics, babel_job, routes, testing::TestKit};
use serde::{Deserialize, Serialize};

use super::{orders, settings, start, told};
use crate::jobs::OrderCreated;

async fn impatient(millis: u64) -> TestKit {
    TestKit::builder().patience(Duration::from_millis(millis)).consumer(settings).start(orders()).await.unwrap()
}

/// The lines of a text, without their times.
fn lines(text: &str) -> Vec<&str> {
    let timeless = |line| match str::split_once(line, "  ") {
        Some(("", rest)) => rest.trim_start().split_once("  ").map_or(line, |(_, what)| what),
        _ => line,
    };
    text.lines().map(timeless).collect()
}

#[tokio::test]
async fn an_end_of_another_kind_is_told_at_once_with_all_that_happened() {
    let kit = start().await;
    let id = kit.publish(&told(1, "fail")).await.unwrap();
    for nth in 1..=3 {
        kit.advance(kit.retried(id, nth).await.unwrap().delay);
    }
    let unmet = kit.handled(id).await.unwrap_err();
    assert_eq!(format!("{unmet:?}"), unmet.to_string());
    let text = unmet.to_string();
    let first = format!("message {id} will not be handled any more");
    let expected = [
        first.as_str(),
        "what happened, in seconds from the start of the kit:",
        "written to orders[0] offset 0, attempts 0",
        "try 1 of orders[0] offset 0 was not handled",
        "written to orders.retry.1[0] offset 0, attempts 1, delay in ms 30000",
        "orders[0] offset 0: the handler failed: the warehouse is closed (again in 30s, by `orders.retry.1`)",
        "the clock was put forward by 30s",
        "written to orders[0] offset 1, attempts 1",
    ];
    // A record may be delivered before its writer has heard that it was written.
    let found = lines(&text);
    assert_eq!(found[..2], expected[..2], "{text}");
    assert!(expected.iter().all(|line| found.contains(line)), "{text}");
    assert!(text.contains("(now on `orders.dlq`)"), "{text}");
    // Neither will it be retried once more.
    assert!(kit.retried(id, 4).await.unwrap_err().to_string().contains("will not be retried 4 times any more"));
}

#[tokio::test]
async fn what_waits_on_a_retry_topic_hints_at_the_clock() {
    let kit = impatient(2000).await;
    let id = kit.publish(&told(1, "fail")).await.unwrap();
    kit.retried(id, 1).await.unwrap();
    let text = kit.handled(id).await.unwrap_err().to_string();
    assert!(text.starts_with(&format!("message {id} was not handled within 2s\n")), "{text}");
    assert!(text.ends_with("\nit waits on `orders.retry.1`: `advance(30s)` lets that pass at once"), "{text}");
}

#[tokio::test]
async fn a_message_that_is_not_known_a_handler_that_does_not_return_and_a_topic_that_is_not_read() {
    #[babel_job("urn:babel:invoices:requested")]
    #[derive(Serialize, Deserialize)]
    struct InvoiceRequested {}

    async fn never(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        pending().await
    }
    let kit =
        TestKit::builder().patience(Duration::from_millis(300)).start(routes![OrderCreated => never]).await.unwrap();
    let hint = async |id: String| kit.outcome(id).await.unwrap_err().to_string().lines().last().unwrap().to_owned();
    assert!(hint("m-1".to_owned()).await.starts_with("nothing is known of it"));
    let stuck = kit.publish(&told(1, "")).await.unwrap();
    assert_eq!(hint(stuck.to_string()).await, "it was not delivered yet, or its handler has not returned");
    let elsewhere = kit.publish(&InvoiceRequested {}).await.unwrap();
    assert_eq!(hint(elsewhere.to_string()).await, "it lies on `invoices`; the consumer reads orders");
}

#[tokio::test]
async fn a_write_that_is_not_acknowledged_is_named() {
    let kit = impatient(3000).await;
    let held = kit.hold_acknowledgements("orders.dlq");
    let id = kit.publish(&told(1, "fatal")).await.unwrap();
    let text = kit.dead_lettered(id).await.unwrap_err().to_string();
    assert!(text.contains("acknowledgements of writes to `orders.dlq` are held back"), "{text}");
    assert!(text.contains("the write that settles it is not acknowledged"), "{text}");
    drop(held);
    kit.dead_lettered(id).await.unwrap();
}

#[tokio::test]
async fn a_panic_in_a_hook_of_the_test_is_told_and_passed_on() {
    let kit = TestKit::builder()
        .consumer(|consumer| settings(consumer).on_error(|_| panic!("not what was expected")))
        .start(orders())
        .await
        .unwrap();
    let id = kit.publish(&told(1, "fail")).await.unwrap();
    let text = kit.outcome(id).await.unwrap_err().to_string();
    assert!(text.contains("the consumer has panicked, in a hook of the test"), "{text}");
    let passed_on = tokio::spawn(kit.shutdown()).await.unwrap_err().into_panic();
    assert_eq!(passed_on.downcast_ref::<&str>(), Some(&"not what was expected"));
}

#[tokio::test]
async fn a_dropped_kit_ends_at_once_whatever_its_handlers_do() {
    async fn never(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        pending().await
    }
    let kit = TestKit::builder()
        .consumer(|consumer| consumer.retry_topics(RetryTopics::for_topic("orders").recommended_tiers()))
        .start(routes![OrderCreated => never])
        .await
        .unwrap();
    kit.publish(&told(1, "")).await.unwrap();
    let (dropped, has_dropped) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        drop(kit);
        let _ = dropped.send(());
    });
    tokio::time::timeout(Duration::from_secs(10), has_dropped).await.expect("it is dropped").unwrap();
}
