//! Process, then commit (contract section 3), on one member.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use babelqueue::{
    ConsumerError, Delivery, Event, HandlerError, Publisher, Reason, RecordError, Routes, UnknownUrn, babel_job, routes,
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
    assert_eq!((summary.handled, summary.rejected, summary.left_group), (1, 0, true));
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
    assert_eq!((summary.handled, summary.rejected), (1, 8));
    assert_eq!(committed(&broker, "workers", 0), Some(9));
    let reasons: Vec<_> = errors.iter().map(|error| error.reason).collect();
    use Reason::{Poison, WrongVersion};
    assert_eq!(reasons, [Poison, Poison, Poison, Poison, Poison, WrongVersion, WrongVersion, WrongVersion]);
    assert!(errors.iter().all(|error| error.committed && &*error.partition.topic == "orders"));
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
    assert_eq!((record.offset, record.reason, record.committed), (1, Reason::UnknownUrn, false));
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

#[tokio::test]
async fn finished_records_are_committed_at_the_interval_while_the_consumer_runs() {
    let (broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (routes, mut handled) = seen();
    let consumer = kafka.consumer("workers").commit_interval(Duration::from_millis(50)).serve(routes);
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    handled.recv().await.unwrap();
    let committed = tokio::task::spawn_blocking(move || {
        (0..200).any(|_| {
            let done = committed(&broker, "workers", 0) == Some(1);
            if !done {
                std::thread::yield_now();
            }
            done
        })
    });
    assert!(committed.await.unwrap(), "no commit while it ran");
    handle.shutdown();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_slow_partition_is_paused_and_the_others_go_on() {
    // More than may wait for a worker, so that the slow partition has to be paused and resumed.
    const RECORDS: u64 = 9000;
    let (_broker, kafka) = broker(2);
    let publisher = Publisher::new(&kafka);
    let orders: Vec<_> = (0..RECORDS).map(OrderCreated::number).collect();
    for orders in orders.chunks(1000) {
        futures_util::future::join_all(orders.iter().map(|order| async {
            publisher.message(order).key(if order.order_id.is_multiple_of(3) { "1042" } else { "21" }).await.unwrap();
        }))
        .await;
    }
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    struct Slow {
        gate: Arc<tokio::sync::Semaphore>,
        seen: UnboundedSender<(i32, i64)>,
    }
    impl Slow {
        async fn created(&self, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
            if !job.order_id.is_multiple_of(3) {
                self.gate.acquire().await?.forget();
            }
            Ok(self.seen.send((cx.partition(), cx.offset()))?)
        }
    }
    let (sender, mut receiver) = unbounded_channel();
    let consumer = kafka
        .consumer("workers")
        .serve(routes![Slow { gate: Arc::clone(&gate), seen: sender }; OrderCreated => Slow::created]);
    let signal = async {
        for _ in 0..RECORDS / 3 {
            receiver.recv().await.unwrap();
        }
        gate.add_permits(RECORDS as usize);
        for next in 0..RECORDS - RECORDS / 3 {
            assert_eq!(receiver.recv().await.unwrap().1, next.cast_signed());
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(60), consumer.run_until(signal)).await.expect("it goes on");
    assert_eq!(done.unwrap().handled, RECORDS);
}

#[tokio::test]
async fn joining_is_reported_with_the_partitions() {
    let (_broker, kafka) = broker(3);
    let (sender, mut events) = unbounded_channel();
    let (routes, _handled) = seen();
    let consumer = kafka
        .consumer("workers")
        .on_event(move |event| {
            let _ = sender.send(event.clone());
        })
        .serve(routes);
    let signal = async {
        let mut assigned = match events.recv().await {
            Some(Event::Assigned { partitions }) => partitions,
            other => panic!("{other:?}"),
        };
        assigned.sort();
        assert_eq!(
            assigned.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["orders[0]", "orders[1]", "orders[2]"]
        );
    };
    consumer.run_until(signal).await.unwrap();
    assert!(matches!(events.recv().await, Some(Event::Revoked { .. })));
}

#[tokio::test]
async fn a_handler_longer_than_the_poll_interval_keeps_its_member_in_the_group() {
    async fn slow(left: &UnboundedSender<()>, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        // Time itself is what this is about: twice the interval in which the client has to be polled.
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(left.send(())?)
    }
    let (broker, _) = broker(1);
    let kafka = broker.builder().consumer_property("max.poll.interval.ms", "2500").build().unwrap();
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (sender, mut events) = unbounded_channel();
    let (done, mut handled) = unbounded_channel();
    let consumer = kafka
        .consumer("workers")
        .on_event(move |event| {
            let _ = sender.send(event.clone());
        })
        .serve(routes![done; OrderCreated => slow]);
    let summary = consumer.run_until(async { assert!(handled.recv().await.is_some()) }).await.unwrap();
    assert_eq!(summary.handled, 1);
    assert_eq!(committed(&broker, "workers", 0), Some(1));
    while let Some(event) = events.recv().await {
        assert!(matches!(event, Event::Assigned { .. } | Event::Revoked { .. }), "{event}");
    }
}

#[tokio::test]
async fn a_failed_commit_is_reported_and_done_again() {
    let (broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (sender, mut events) = unbounded_channel();
    let (routes, mut handled) = seen();
    let consumer = kafka
        .consumer("workers")
        .commit_interval(Duration::from_millis(500))
        .on_event(move |event| {
            let _ = sender.send(event.clone());
        })
        .serve(routes);
    let signal = async {
        handled.recv().await.unwrap();
        broker.down().unwrap();
        while !matches!(events.recv().await.unwrap(), Event::CommitFailed { .. }) {}
        broker.up().unwrap();
        // What failed is committed by a later commit, or the record comes again and is committed then.
        while committed(&broker, "workers", 0) != Some(1) {
            tokio::task::yield_now().await;
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(60), consumer.run_until(signal)).await.expect("it goes on");
    assert!(done.unwrap().handled >= 1);
}

#[tokio::test]
async fn records_fetched_ahead_of_a_shutdown_are_delivered_again() {
    let (_broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    let orders: Vec<_> = (0..1000).map(OrderCreated::number).collect();
    futures_util::future::join_all(orders.iter().map(|order| publisher.publish(order))).await;
    let mut next = 0;
    while next < 1000 {
        let (routes, mut handled) = seen();
        let consumer = kafka.consumer("workers").serve(routes);
        let mut last = next;
        let signal = async {
            while let Some(seen) = handled.recv().await {
                assert_eq!(seen.offset, last, "nothing skipped, nothing twice");
                last += 1;
                if last >= next + 300 || last == 1000 {
                    return;
                }
            }
        };
        consumer.run_until(signal).await.unwrap();
        // What was handled after the signal was committed too.
        while let Some(seen) = handled.recv().await {
            assert_eq!(seen.offset, last);
            last += 1;
        }
        next = last;
    }
}
