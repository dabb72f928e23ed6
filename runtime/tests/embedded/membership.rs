//! One member of a group: commits, back-pressure, polling, what its user is told.

use std::{sync::Arc, time::Duration};

use babelqueue::{
    CommitPolicy, Delivery, Event, HandlerError, ProcessingOrder, Publisher, routes, testing::TestBroker,
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::jobs::{OrderCreated, broker, committed, seen};

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
async fn finished_records_are_committed_as_soon_as_there_are_as_many_as_the_policy_counts() {
    for order in [ProcessingOrder::Partition, ProcessingOrder::Unordered] {
        let (broker, kafka) = broker(1);
        let orders: Vec<_> = (0..25).map(OrderCreated::number).collect();
        let publisher = Publisher::new(&kafka);
        futures_util::future::join_all(orders.iter().map(|order| publisher.publish(order))).await;
        let (routes, _handled) = seen();
        let consumer = kafka
            .consumer("workers")
            .order(order)
            .commit_interval(Duration::from_secs(3600))
            .commit_policy(CommitPolicy::Count(10))
            .serve(routes);
        let enough = tokio::task::spawn_blocking(move || {
            while committed(&broker, "workers", 0).is_none_or(|offset| offset < 10) {
                std::thread::yield_now();
            }
        });
        let signal = async { enough.await.unwrap() };
        let done = tokio::time::timeout(Duration::from_secs(60), consumer.run_until(signal)).await.expect("a commit");
        assert_eq!(done.unwrap().handled, 25);
    }
}

#[tokio::test]
async fn where_each_record_is_committed_the_next_one_begins_after_that() {
    struct Worker {
        broker: Arc<TestBroker>,
        /// Offset, and what was committed when its handler began.
        begun: UnboundedSender<(i64, Option<i64>)>,
    }
    impl Worker {
        async fn created(&self, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
            let broker = Arc::clone(&self.broker);
            let committed = tokio::task::spawn_blocking(move || committed(&broker, "workers", 0)).await?;
            Ok(self.begun.send((cx.offset(), committed))?)
        }
    }
    let (broker, kafka) = broker(1);
    let broker = Arc::new(broker);
    for number in 0..4 {
        Publisher::new(&kafka).publish(&OrderCreated::number(number)).await.unwrap();
    }
    let (begun, mut receiver) = unbounded_channel();
    let consumer = kafka
        .consumer("workers")
        .commit_interval(Duration::from_secs(3600))
        .commit_policy(CommitPolicy::EachRecord)
        .serve(routes![Worker { broker, begun }; OrderCreated => Worker::created]);
    let signal = async {
        assert_eq!(receiver.recv().await, Some((0, None)));
        for offset in 1..4 {
            assert_eq!(receiver.recv().await, Some((offset, Some(offset))));
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(60), consumer.run_until(signal)).await.expect("it goes on");
    assert_eq!(done.unwrap().handled, 4);
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

/// Waits until it is asked to end, and says so.
async fn patient(told: &UnboundedSender<(u64, bool)>, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    told.send((job.order_id, cx.is_cancelled()))?;
    cx.cancelled().await;
    Ok(told.send((job.order_id, cx.is_cancelled()))?)
}

#[tokio::test]
async fn a_handler_is_asked_to_end_at_a_shutdown_and_what_it_returns_then_counts() {
    for order in [ProcessingOrder::Partition, ProcessingOrder::Unordered] {
        let (broker, kafka) = broker(1);
        Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
        let (told, mut receiver) = unbounded_channel();
        let consumer = kafka.consumer("workers").order(order).serve(routes![told; OrderCreated => patient]);
        let summary = consumer.run_until(async { assert_eq!(receiver.recv().await, Some((1, false))) }).await.unwrap();
        assert_eq!(receiver.recv().await, Some((1, true)));
        assert_eq!(summary.handled, 1);
        assert_eq!(committed(&broker, "workers", 0), Some(1));
    }
}

#[tokio::test]
async fn what_a_handler_returns_too_late_after_a_revocation_does_not_count() {
    let (broker, kafka) = broker(2);
    Publisher::new(&kafka).message(&OrderCreated::number(1)).key("1042").await.unwrap();
    let (told, mut receiver) = unbounded_channel();
    let member = || {
        let consumer = kafka
            .consumer("workers")
            .revoke_timeout(Duration::ZERO)
            .serve(routes![told.clone(); OrderCreated => patient]);
        (consumer.handle(), tokio::spawn(consumer.run()))
    };
    let first = member();
    assert_eq!(receiver.recv().await, Some((1, false)));
    let second = member();
    assert_eq!(receiver.recv().await, Some((1, true)));
    // Again, by whoever has the partition now.
    assert_eq!(receiver.recv().await, Some((1, false)));
    assert!((0..2).all(|partition| committed(&broker, "workers", partition).is_none_or(|offset| offset == 0)));
    for (handle, running) in [first, second] {
        handle.shutdown();
        running.await.unwrap().unwrap();
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

#[tokio::test]
async fn a_failure_on_a_partition_that_was_taken_away_does_not_end_the_consumer() {
    /// Waits, then fails if its partition was taken from this member in between.
    struct Waiting {
        started: UnboundedSender<i32>,
        failed: UnboundedSender<i32>,
        taken: tokio::sync::watch::Receiver<Option<i32>>,
    }
    impl Waiting {
        async fn created(&self, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
            self.started.send(cx.partition())?;
            let taken = *self.taken.clone().wait_for(Option::is_some).await?;
            if taken != Some(cx.partition()) {
                return Ok(());
            }
            self.failed.send(cx.partition())?;
            Err(HandlerError::new("too late"))
        }
    }
    let (_broker, kafka) = broker(2);
    let publisher = Publisher::new(&kafka);
    let order = OrderCreated::number(1);
    publisher.message(&order).key("1042").await.unwrap();
    publisher.message(&order).key("21").await.unwrap();

    let (started, mut starts) = unbounded_channel();
    let (take, taken) = tokio::sync::watch::channel(None);
    let (failed, mut failures) = unbounded_channel();
    let first = kafka
        .consumer("workers")
        .revoke_timeout(Duration::ZERO)
        .on_error(|error| panic!("the next owner's to settle: {error}"))
        .serve(routes![Waiting { started, failed, taken }; OrderCreated => Waiting::created]);
    let first_handle = first.handle();
    let first = tokio::spawn(first.run());
    starts.recv().await.unwrap();
    starts.recv().await.unwrap();

    let (routes, mut handled) = seen();
    let (gained, mut gains) = unbounded_channel();
    let second = kafka
        .consumer("workers")
        .on_event(move |event| {
            if let Event::Assigned { partitions } = event {
                let _ = partitions.iter().try_for_each(|each| gained.send(each.partition));
            }
        })
        .serve(routes);
    let moved = async {
        let partition = gains.recv().await.unwrap();
        assert_eq!(handled.recv().await.unwrap().partition, partition);
        take.send(Some(partition)).unwrap();
        assert_eq!(failures.recv().await.unwrap(), partition);
        // The other partition is still the first member's, and goes on there.
        publisher.message(&order).key(if partition == 0 { "1042" } else { "21" }).await.unwrap();
        while starts.recv().await.unwrap() == partition {}
    };
    second.run_until(moved).await.unwrap();
    first_handle.shutdown();
    first.await.unwrap().unwrap();
}
