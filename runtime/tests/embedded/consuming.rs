//! Process, then commit (contract section 3), on one member.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use babelqueue::{
    ConsumerError, Delivery, HandlerError, Publisher, Reason, RecordError, Routes, Settled, UnknownUrn, babel_job,
    routes,
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::jobs::{Foreign, OrderCreated, broker, committed, seen};

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize)]
struct OrderCancelled {
    order_id: u64,
}

#[tokio::test]
async fn a_handler_sees_the_job_and_its_delivery_and_what_it_handled_is_committed() {
    let (broker, kafka) = broker(1);
    let order = OrderCreated { order_id: 7, note: Some("süß".to_owned()) };
    let publisher = Publisher::new(&kafka);
    let id = publisher.message(&order).trace_id("trace-1").await.unwrap();

    let (routes, mut handled) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    let seen = handled.recv().await.unwrap();
    handle.shutdown();
    let summary = running.await.unwrap().unwrap();

    assert_eq!(seen.job, order);
    assert_eq!((seen.partition, seen.offset, seen.attempts), (0, 0, 0));
    assert_eq!((seen.trace_id.as_str(), seen.message_id), ("trace-1", id.to_string()));
    assert_eq!(seen.key.as_deref(), Some(&b"7"[..]));
    assert_eq!((summary.handled, summary.dropped, summary.left_group), (1, 0, true));
    assert!(summary.unfinished.is_empty() && summary.uncommitted.is_none());
    assert_eq!(committed(&broker, "workers", 0), Some(1));
}

#[tokio::test]
async fn a_new_member_continues_where_the_last_one_stopped() {
    let (_broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    for number in 0..3 {
        publisher.publish(&OrderCreated::number(number)).await.unwrap();
        let (routes, mut handled) = seen();
        let consumer = kafka.consumer("workers").serve(routes);
        let handle = consumer.handle();
        let running = tokio::spawn(consumer.run());
        assert_eq!(handled.recv().await.unwrap().job.order_id, number);
        handle.shutdown();
        assert_eq!(running.await.unwrap().unwrap().handled, 1);
    }
}

#[tokio::test]
async fn records_of_a_partition_are_handled_in_order_and_partitions_side_by_side() {
    let (_broker, kafka) = broker(4);
    let publisher = Publisher::new(&kafka);
    let orders: Vec<_> = (0..2000).map(OrderCreated::number).collect();
    futures_util::future::join_all(orders.iter().map(|order| publisher.publish(order))).await;
    let (routes, mut handled) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    let mut next = [0; 4];
    for _ in 0..2000 {
        let seen = handled.recv().await.unwrap();
        let partition = usize::try_from(seen.partition).unwrap();
        assert_eq!(seen.offset, next[partition]);
        next[partition] += 1;
    }
    assert!(next.iter().all(|count| *count > 0));
    handle.shutdown();
    assert_eq!(running.await.unwrap().unwrap().handled, 2000);
}

/// Runs a consumer until it has seen `until` go by, and collects its error reports.
async fn errors_of(
    kafka: &babelqueue::Kafka,
    routes: Routes,
    unknown: UnknownUrn,
    mut handled: tokio::sync::mpsc::UnboundedReceiver<crate::jobs::Seen>,
    until: u64,
) -> (Result<babelqueue::Summary, ConsumerError>, Vec<RecordError>) {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let consumer = kafka
        .consumer("workers")
        .unknown_urn(unknown)
        .on_error({
            let errors = Arc::clone(&errors);
            move |error: &RecordError| errors.lock().unwrap().push(error.clone())
        })
        .serve(routes);
    let signal = async move {
        while let Some(seen) = handled.recv().await {
            if seen.job.order_id == until {
                return;
            }
        }
        std::future::pending::<()>().await;
    };
    let result = tokio::time::timeout(Duration::from_secs(30), consumer.run_until(signal)).await.expect("it ends");
    let errors = errors.lock().unwrap().clone();
    (result, errors)
}

#[tokio::test]
async fn poison_and_wrong_versions_are_reported_counted_and_committed() {
    let (broker, kafka) = broker(1);
    let fit = r#"{"job":"urn:babel:orders:created","trace_id":"t-9","data":{"order_id":1},"attempts":0}"#;
    let wrong = r#"{"job":"urn:babel:orders:created","meta":{"schema_version":2},"data":{"order_id":1}}"#;
    let records = [
        Foreign::value("not JSON"),
        Foreign::value(""),
        Foreign::default(),
        Foreign::value("{}"),
        Foreign::value("not JSON").header("bq-job", Some(b"urn:babel:orders:created")),
        Foreign::value(fit).header("bq-schema-version", Some(b"2")).header("bq-trace-id", Some(b"t-1")),
        Foreign::value("never decoded").header("bq-schema-version", Some(b"1 ")),
        Foreign::value(wrong),
    ];
    for record in &records {
        record.send(&broker).await;
    }
    Publisher::new(&kafka).publish(&OrderCreated::number(99)).await.unwrap();

    let (routes, handled) = seen();
    let (result, errors) = errors_of(&kafka, routes, UnknownUrn::Fail, handled, 99).await;
    let summary = result.unwrap();
    assert_eq!((summary.handled, summary.dropped), (1, 8));
    assert_eq!(committed(&broker, "workers", 0), Some(9));
    let reasons: Vec<_> = errors.iter().map(|error| error.reason).collect();
    use Reason::{Poison, WrongVersion};
    assert_eq!(reasons, [Poison, Poison, Poison, Poison, Poison, WrongVersion, WrongVersion, WrongVersion]);
    assert!(errors.iter().all(|error| error.settled == Settled::Dropped && &*error.partition.topic == "orders"));
    assert_eq!(errors.iter().map(|error| error.offset).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert_eq!(errors[4].urn.as_deref(), Some("urn:babel:orders:created"));
    assert_eq!((errors[5].trace_id.as_deref(), errors[5].error.as_str()), (Some("t-1"), "\"2\", expected 1"));
    assert!(errors[2].error.contains("no value"), "{}", errors[2]);
}

#[tokio::test]
async fn an_unknown_urn_stops_the_consumer_before_it_or_anything_behind_it_is_committed() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    publisher.publish(&OrderCreated::number(1)).await.unwrap();
    Foreign::value("never decoded").header("bq-job", Some(b"urn:babel:orders:archived")).send(&broker).await;
    publisher.publish(&OrderCreated::number(2)).await.unwrap();

    let (routes, handled) = seen();
    let (result, errors) = errors_of(&kafka, routes, UnknownUrn::Fail, handled, 2).await;
    let Err(ConsumerError::Record { record, summary }) = result else { panic!("{result:?}") };
    assert_eq!((record.offset, record.reason, &record.settled), (1, Reason::UnknownUrn, &Settled::Stopped));
    assert_eq!(record.urn.as_deref(), Some("urn:babel:orders:archived"));
    assert_eq!((summary.handled, errors.len()), (1, 1));
    assert_eq!(committed(&broker, "workers", 0), Some(1));
}

#[tokio::test]
async fn with_the_strategy_delete_an_unknown_urn_is_passed_over() {
    let (broker, kafka) = broker(1);
    Foreign::value("never decoded").header("bq-job", Some(b"urn:babel:orders:archived")).send(&broker).await;
    Foreign::value(r#"{"urn":"urn:babel:orders:archived"}"#).send(&broker).await;
    Publisher::new(&kafka).publish(&OrderCreated::number(2)).await.unwrap();
    let (routes, handled) = seen();
    let (result, errors) = errors_of(&kafka, routes, UnknownUrn::Delete, handled, 2).await;
    let summary = result.unwrap();
    assert_eq!((summary.handled, summary.deleted, errors.len()), (1, 2, 0));
    assert_eq!(committed(&broker, "workers", 0), Some(3));
}

async fn refuse_odd(_: &(), job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    match job.order_id {
        1 => Err(HandlerError::new("the warehouse is closed")),
        3 => panic!("no stock"),
        _ => Ok(()),
    }
}

#[tokio::test]
async fn a_failed_handler_ends_the_consumer_with_an_error_that_names_the_record() {
    for (number, text) in [(1, "the warehouse is closed"), (3, "the handler panicked: no stock")] {
        let (broker, kafka) = broker(1);
        let publisher = Publisher::new(&kafka);
        for order in [0, number, 2] {
            publisher.message(&OrderCreated::number(order)).trace_id("trace-5").await.unwrap();
        }
        let consumer = kafka.consumer("workers").serve(routes![(); OrderCreated => refuse_odd]);
        let result = consumer.run().await;
        let Err(ConsumerError::Record { record, summary }) = result else { panic!("{result:?}") };
        assert_eq!((record.offset, record.reason, summary.handled), (1, Reason::Failed, 1));
        assert_eq!((record.error.as_str(), record.trace_id.as_deref()), (text, Some("trace-5")));
        assert_eq!(committed(&broker, "workers", 0), Some(1));
        let shown = ConsumerError::Record { record, summary }.to_string();
        assert!(shown.contains("orders[0] offset 1 (urn:babel:orders:created)"), "{shown}");
    }
}

#[tokio::test]
async fn a_payload_that_does_not_fit_its_type_stops_the_consumer() {
    let (broker, kafka) = broker(1);
    Foreign::value(r#"{"job":"urn:babel:orders:created","data":{"order_id":"x"}}"#).send(&broker).await;
    let (routes, handled) = seen();
    let (result, _) = errors_of(&kafka, routes, UnknownUrn::Fail, handled, 0).await;
    let Err(ConsumerError::Record { record, .. }) = result else { panic!("{result:?}") };
    assert_eq!((record.offset, record.reason), (0, Reason::PayloadMisfit));
    assert_eq!(committed(&broker, "workers", 0), None);
}

#[tokio::test]
async fn two_job_types_on_one_topic_each_find_their_handler() {
    let (_broker, kafka) = broker(1);
    let (sender, mut receiver) = unbounded_channel();
    let created = sender.clone();
    struct Both {
        created: UnboundedSender<String>,
        cancelled: UnboundedSender<String>,
    }
    impl Both {
        async fn created(&self, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
            Ok(self.created.send(format!("created {}", job.order_id))?)
        }
        async fn cancelled(&self, job: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
            Ok(self.cancelled.send(format!("cancelled {}", job.order_id))?)
        }
    }
    let routes =
        routes![Both { created, cancelled: sender }; OrderCreated => Both::created, OrderCancelled => Both::cancelled];
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    Publisher::new(&kafka).publish(&OrderCancelled { order_id: 2 }).await.unwrap();
    let consumer = kafka.consumer("workers").serve(routes);
    let signal = async {
        assert_eq!(receiver.recv().await.unwrap(), "created 1");
        assert_eq!(receiver.recv().await.unwrap(), "cancelled 2");
    };
    assert_eq!(consumer.run_until(signal).await.unwrap().handled, 2);
}

#[tokio::test]
async fn a_message_published_by_a_handler_continues_the_trace() {
    async fn follow(_: &(), job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        if job.order_id == 1 {
            cx.message(&OrderCreated::number(2)).await?;
        }
        Ok(())
    }
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    publisher.message(&OrderCreated::number(1)).trace_id("trace-7").await.unwrap();
    let consumer = kafka.consumer("workers").serve(routes![(); OrderCreated => follow]);
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    let records = tokio::task::spawn_blocking(move || crate::jobs::read(&broker, "orders", 2)).await.unwrap();
    assert_eq!(crate::jobs::header(&records[1], "bq-trace-id"), Some(&b"trace-7"[..]));
    handle.shutdown();
    running.await.unwrap().unwrap();
}
