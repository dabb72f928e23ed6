//! The idempotency guard in a consumer (contract section 6), and the shared test of its stores on the one in memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    ConsumerError, Delivery, HandlerError, Kafka, Reason, RetryTopics, Settled, Summary,
    idempotency::{Idempotency, IdempotencyStore, MemoryStore, StoreError, StoreFailure},
    routes,
    testing::TestKit,
};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::jobs::{Foreign, OrderCreated, Seen, broker, committed, seen};

#[path = "../stores/contract.rs"]
mod contract;

fn memory() -> Idempotency {
    Idempotency::new(MemoryStore::new(100, Duration::from_secs(3600)), StoreFailure::FailRecord)
}

/// A record of order `order_id` whose message has this id.
fn order(order_id: u64, message_id: &str) -> Foreign {
    Foreign::value(format!(
        r#"{{"job":"urn:babel:orders:created","meta":{{"id":"{message_id}"}},"data":{{"order_id":{order_id}}}}}"#
    ))
}

/// Runs a consumer until order 99 was handled, and says which were before it.
async fn handled(kafka: &Kafka, guard: &Idempotency) -> (Result<Summary, ConsumerError>, Vec<u64>) {
    let (routes, mut receiver) = seen();
    let consumer = kafka.consumer("workers").idempotency(guard.clone()).serve(routes);
    let mut orders = Vec::new();
    let last = until_order_99(&mut receiver, &mut orders);
    let ended = tokio::time::timeout(Duration::from_secs(30), consumer.run_until(last)).await.expect("it ends");
    (ended, orders)
}

async fn until_order_99(receiver: &mut UnboundedReceiver<Seen>, orders: &mut Vec<u64>) {
    while let Some(seen) = receiver.recv().await {
        if seen.job.order_id == 99 {
            return;
        }
        orders.push(seen.job.order_id);
    }
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn the_memory_store_keeps_the_contract_of_stores() {
    contract::keeps_the_contract(&MemoryStore::new(100, Duration::from_secs(3600))).await.unwrap();
}

#[tokio::test]
async fn a_message_that_comes_twice_is_handled_once_and_committed() {
    let (broker, kafka) = broker(1);
    order(1, "m-1").send(&broker).await;
    // The same message by its header, whatever its body.
    order(2, "").header("bq-message-id", Some(b"m-1")).send(&broker).await;
    order(3, "m-3").send(&broker).await;
    order(99, "m-99").send(&broker).await;
    let guard = memory();
    let (ended, orders) = handled(&kafka, &guard).await;
    let summary = ended.unwrap();
    assert_eq!(orders, [1, 3]);
    assert_eq!((summary.handled, summary.duplicates), (4, 1));
    assert_eq!(committed(&broker, "workers", 0), Some(4));

    // A later run of the consumer remembers; what was forgotten runs again.
    guard.forget("m-3").await.unwrap();
    for record in [order(1, "m-1"), order(3, "m-3"), order(99, "")] {
        record.send(&broker).await;
    }
    let (ended, orders) = handled(&kafka, &guard).await;
    assert_eq!((orders, ended.unwrap().duplicates), (vec![3], 1));
}

#[tokio::test]
async fn without_a_guard_a_message_that_comes_twice_is_handled_twice() {
    let (broker, kafka) = broker(1);
    order(1, "m-1").send(&broker).await;
    order(1, "m-1").send(&broker).await;
    let (routes, mut receiver) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    let twice = async {
        assert!(receiver.recv().await.is_some());
        assert!(receiver.recv().await.is_some());
    };
    let summary = consumer.run_until(twice).await.unwrap();
    assert_eq!((summary.handled, summary.duplicates), (2, 0));
}

#[tokio::test]
async fn a_message_that_failed_or_panicked_is_handled_again() {
    async fn refuse(panics: &bool, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        assert!(!panics || cx.attempts() > 0, "no stock");
        if cx.attempts() == 0 { Err(HandlerError::new("the warehouse is closed")) } else { Ok(()) }
    }
    for panics in [false, true] {
        let kit = TestKit::builder().consumer(|consumer| {
            consumer.idempotency(memory()).retry_topics(RetryTopics::for_topic("orders").recommended_tiers())
        });
        let kit = kit.start(routes![panics; OrderCreated => refuse]).await.unwrap();
        let id = kit.publish(&OrderCreated::number(1)).await.unwrap();
        kit.advance(kit.retried(id, 1).await.unwrap().delay);
        assert_eq!(kit.handled(id).await.unwrap(), 2);
        assert_eq!(kit.shutdown().await.unwrap().duplicates, 0);
    }
}

#[tokio::test]
async fn messages_without_an_id_are_all_handled() {
    let (broker, kafka) = broker(1);
    for record in [order(1, ""), order(2, ""), order(3, " "), order(4, " ")] {
        record.send(&broker).await;
    }
    Foreign::value(r#"{"job":"urn:babel:orders:created","data":{"order_id":5}}"#).send(&broker).await;
    order(99, "m-99").send(&broker).await;
    let (ended, orders) = handled(&kafka, &memory()).await;
    assert_eq!((orders, ended.unwrap().duplicates), (vec![1, 2, 3, 4, 5], 0));
}

/// A store that remembers nothing, and fails while it is down.
#[derive(Clone, Default)]
struct Unsteady {
    down: Arc<AtomicBool>,
    panics: bool,
}

impl Unsteady {
    fn answer<T>(&self, value: T) -> Result<T, StoreError> {
        assert!(!self.panics, "the store fell over");
        if self.down.load(Ordering::Relaxed) { Err(StoreError::new("unplugged")) } else { Ok(value) }
    }
}

impl IdempotencyStore for Unsteady {
    async fn is_done(&self, _: &str) -> Result<bool, StoreError> {
        self.answer(false)
    }

    async fn mark_done(&self, _: &str) -> Result<(), StoreError> {
        self.answer(())
    }

    async fn forget(&self, _: &str) -> Result<(), StoreError> {
        self.answer(())
    }
}

#[tokio::test]
async fn with_its_store_down_a_consumer_goes_on_if_so_chosen() {
    let (broker, kafka) = broker(1);
    order(1, "m-1").send(&broker).await;
    order(99, "m-99").send(&broker).await;
    let store = Unsteady { down: Arc::new(true.into()), ..Unsteady::default() };
    let (ended, orders) = handled(&kafka, &Idempotency::new(store, StoreFailure::RunAnyway)).await;
    assert_eq!((orders, ended.unwrap().handled), (vec![1], 2));
    assert_eq!(committed(&broker, "workers", 0), Some(2));
}

#[tokio::test]
async fn with_its_store_down_a_record_fails_if_so_chosen_and_is_handled_when_it_is_back() {
    let (broker, kafka) = broker(1);
    order(1, "m-1").send(&broker).await;
    order(99, "m-99").send(&broker).await;
    let store = Unsteady { down: Arc::new(true.into()), ..Unsteady::default() };
    let guard = Idempotency::new(store.clone(), StoreFailure::FailRecord);
    let (ended, orders) = handled(&kafka, &guard).await;
    let Err(ConsumerError::Record { record, .. }) = ended else { panic!("it goes on") };
    assert_eq!((record.offset, record.reason, &record.settled), (0, Reason::Failed, &Settled::Stopped));
    assert_eq!(record.error, "the idempotency store failed: unplugged");
    assert_eq!((orders, committed(&broker, "workers", 0)), (vec![], None));

    store.down.store(false, Ordering::Relaxed);
    let (ended, orders) = handled(&kafka, &guard).await;
    assert_eq!((orders, ended.unwrap().handled), (vec![1], 2));
}

#[tokio::test]
async fn a_store_that_panics_fails_the_record_and_not_the_process() {
    let (broker, kafka) = broker(1);
    order(1, "m-1").send(&broker).await;
    let store = Unsteady { panics: true, ..Unsteady::default() };
    let (ended, _) = handled(&kafka, &Idempotency::new(store, StoreFailure::RunAnyway)).await;
    let Err(ConsumerError::Record { record, .. }) = ended else { panic!("it goes on") };
    assert!(record.error.contains("the store fell over"), "{record}");
}
