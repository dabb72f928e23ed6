//! What a consumer tells of how it fares.

use std::{sync::Arc, time::Duration};

use babelqueue::{CommitPolicy, Delivery, Event, HandlerError, ProcessingOrder, Publisher, Status, routes};
use tokio::sync::{
    Semaphore,
    mpsc::{UnboundedSender, unbounded_channel},
};

use crate::jobs::{OrderCreated, broker, seen};

/// Handles an order once it is let through.
struct Gate {
    begun: UnboundedSender<u64>,
    open: Arc<Semaphore>,
}

impl Gate {
    async fn created(&self, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        self.begun.send(job.order_id)?;
        self.open.acquire().await?.forget();
        Ok(())
    }
}

#[tokio::test]
async fn a_record_that_holds_up_its_partition_is_named_and_health_is_bad_until_it_is_finished() {
    for order in [ProcessingOrder::Partition, ProcessingOrder::Unordered] {
        let (_broker, kafka) = broker(1);
        for number in 0..3 {
            Publisher::new(&kafka).publish(&OrderCreated::number(number)).await.unwrap();
        }
        let (begun, _begins) = unbounded_channel();
        let open = Arc::new(Semaphore::new(1));
        let (sender, mut events) = unbounded_channel();
        let consumer = kafka
            .consumer("workers")
            .order(order)
            .stall_timeout(Duration::from_millis(500))
            .on_event(move |event| {
                let _ = sender.send(event.clone());
            })
            .serve(routes![Gate { begun, open: Arc::clone(&open) }; OrderCreated => Gate::created]);
        let health = consumer.health();
        assert_eq!(health.report().status, Status::Starting);
        let signal = async {
            let stalled = async {
                loop {
                    if let Some(Event::Stalled { partition, offset, urn, age }) = events.recv().await {
                        return (partition.to_string(), offset, urn, age);
                    }
                }
            };
            let (partition, offset, urn, age) = tokio::time::timeout(Duration::from_secs(30), stalled).await.unwrap();
            let expected = ("orders[0]".to_owned(), 1, Some("urn:babel:orders:created".to_owned()));
            assert_eq!((partition, offset, urn), expected);
            assert!(age >= Duration::from_millis(500), "{age:?}");
            let report = health.report();
            assert!(report.is_ready() && !report.is_live(), "{report:?}");
            let [partition] = report.partitions.as_slice() else { panic!("{report:?}") };
            let oldest = partition.oldest.as_ref().unwrap();
            assert_eq!((oldest.offset, partition.watermark, partition.lag), (1, Some(1), Some(2)));
            let side_by_side = order == ProcessingOrder::Unordered;
            assert_eq!((partition.in_flight, partition.waiting), if side_by_side { (2, 0) } else { (1, 1) });
            open.add_permits(2);
            while !matches!(events.recv().await, Some(Event::Recovered { .. })) {}
            assert!(health.report().is_live());
        };
        let summary = consumer.run_until(signal).await.unwrap();
        assert_eq!(summary.handled, 3);
        assert_eq!(health.report().status, Status::Ended);
    }
}

#[tokio::test]
async fn a_record_whose_commit_is_waited_for_in_vain_stalls_its_partition() {
    let (broker, kafka) = broker(1);
    for number in 0..2 {
        Publisher::new(&kafka).publish(&OrderCreated::number(number)).await.unwrap();
    }
    let (begun, mut begins) = unbounded_channel();
    let open = Arc::new(Semaphore::new(0));
    let (sender, mut events) = unbounded_channel();
    let consumer = kafka
        .consumer("workers")
        .commit_policy(CommitPolicy::EachRecord)
        .stall_timeout(Duration::from_secs(1))
        .shutdown_timeout(Duration::from_secs(1))
        .on_event(move |event| {
            let _ = sender.send(event.clone());
        })
        .serve(routes![Gate { begun, open: Arc::clone(&open) }; OrderCreated => Gate::created]);
    let health = consumer.health();
    let signal = async {
        assert_eq!(begins.recv().await, Some(0));
        drop(broker);
        open.add_permits(2);
        let stalled = async {
            loop {
                if let Some(Event::Stalled { offset, .. }) = events.recv().await
                    && health.report().partitions.iter().any(|partition| partition.watermark == Some(1))
                {
                    return offset;
                }
            }
        };
        assert_eq!(tokio::time::timeout(Duration::from_secs(30), stalled).await.unwrap(), 0);
        assert!(!health.report().is_live());
    };
    let summary = consumer.run_until(signal).await.unwrap();
    assert_eq!((summary.handled, begins.try_recv().is_err()), (1, true), "the next record waits for the commit");
}

#[tokio::test]
async fn a_consumer_that_has_caught_up_has_no_lag_and_nothing_in_flight() {
    let (_broker, kafka) = broker(2);
    for number in 0..10 {
        Publisher::new(&kafka).publish(&OrderCreated::number(number)).await.unwrap();
    }
    let (routes, mut handled) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    let health = consumer.health();
    let signal = async {
        for _ in 0..10 {
            handled.recv().await.unwrap();
        }
        let caught_up = async {
            while health.report().partitions.iter().filter_map(|each| each.watermark).sum::<i64>() < 10
                || health.report().lag() > 0
            {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), caught_up).await.unwrap();
        let report = health.report();
        assert_eq!(report.partitions.len(), 2);
        assert!(report.partitions.iter().all(|each| each.in_flight == 0 && each.waiting == 0 && each.oldest.is_none()));
    };
    consumer.run_until(signal).await.unwrap();
}

#[tokio::test]
async fn a_consumer_that_is_dropped_while_it_runs_has_ended() {
    let (_broker, kafka) = broker(1);
    let (routes, _handled) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    let health = consumer.health();
    let running = tokio::spawn(consumer.run());
    while health.report().status != Status::Running {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.is_err());
    assert_eq!(health.report().status, Status::Ended);
}
