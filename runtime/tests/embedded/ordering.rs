//! Which records of a partition are handled at the same time, and what is committed meanwhile.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    ConsumerBuilder, ConsumerError, Delivery, HandlerError, Job, Kafka, ProcessingOrder, Publisher, RetryTopics,
    ShutdownHandle, Summary, babel_job, routes, testing::TestBroker,
};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{
        Barrier, Semaphore,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    },
    task::JoinHandle,
};

use crate::jobs::{broker, committed};

const GROUP: &str = "workers";
const PATIENCE: Duration = Duration::from_secs(60);

#[babel_job("urn:babel:orders:packed", key = parcel)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Packed {
    parcel: u64,
    step: u64,
}

/// The same without a key.
#[babel_job("urn:babel:orders:weighed")]
#[derive(Serialize, Deserialize)]
struct Weighed {
    parcel: u64,
}

/// What handlers meet.
struct Floor {
    /// Where so many of them have to be at the same time to go on.
    meeting: Option<Barrier>,
    /// What has to be let through: parcel 0.
    gate: Semaphore,
    running: AtomicUsize,
    most: AtomicUsize,
    handled: UnboundedSender<Packed>,
}

impl Floor {
    async fn packed(&self, job: Packed, _: &Delivery) -> Result<(), HandlerError> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        if let Some(meeting) = &self.meeting {
            meeting.wait().await;
        }
        // Others may overtake, if they can.
        tokio::task::yield_now().await;
        if job.parcel == 0 {
            drop(self.gate.acquire().await?);
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.handled.send(job)?;
        Ok(())
    }

    async fn weighed(&self, job: Weighed, cx: &Delivery) -> Result<(), HandlerError> {
        self.packed(Packed { parcel: job.parcel, step: 0 }, cx).await
    }
}

struct Running {
    floor: Arc<Floor>,
    handled: UnboundedReceiver<Packed>,
    handle: ShutdownHandle,
    end: JoinHandle<Result<Summary, ConsumerError>>,
}

impl Running {
    /// Handlers of which `meeting` have to be at work at once, if that is not 0.
    fn start(consumer: ConsumerBuilder, meeting: usize) -> Self {
        let (sender, handled) = unbounded_channel();
        let floor = Arc::new(Floor {
            meeting: (meeting > 0).then(|| Barrier::new(meeting)),
            gate: Semaphore::new(0),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            handled: sender,
        });
        let state = Arc::clone(&floor);
        let consumer = consumer
            .commit_interval(Duration::from_millis(10))
            .serve(routes![state; Packed => Floor::packed, Weighed => Floor::weighed]);
        Self { floor, handled, handle: consumer.handle(), end: tokio::spawn(consumer.run()) }
    }

    async fn handled(&mut self) -> Packed {
        tokio::time::timeout(PATIENCE, self.handled.recv()).await.expect("it is handled in time").unwrap()
    }

    async fn stop(self) -> Summary {
        self.handle.shutdown();
        self.end.await.unwrap().unwrap()
    }
}

async fn publish<J: Job>(kafka: &Kafka, jobs: impl IntoIterator<Item = J>) {
    let publisher = Publisher::new(kafka);
    let jobs: Vec<_> = jobs.into_iter().collect();
    for published in futures_util::future::join_all(jobs.iter().map(|job| publisher.publish(job))).await {
        published.unwrap();
    }
}

/// Steps 0, 1, 2… of so many parcels from 1 on, one after another.
fn steps(parcels: u64, steps: u64) -> impl Iterator<Item = Packed> {
    (0..steps).flat_map(move |step| (1..=parcels).map(move |parcel| Packed { parcel, step }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_order_of_keys_each_key_is_in_order_and_keys_are_side_by_side() {
    let (broker, kafka) = broker(1);
    publish(&kafka, steps(20, 50)).await;
    // All of them have to be there at once, so one key has never two.
    let mut running = Running::start(kafka.consumer(GROUP).order(ProcessingOrder::Key), 20);
    let mut next: HashMap<u64, u64> = HashMap::new();
    for _ in 0..20 * 50 {
        let job = running.handled().await;
        let next = next.entry(job.parcel).or_default();
        assert_eq!(job.step, *next, "parcel {}", job.parcel);
        *next += 1;
    }
    assert_eq!(running.floor.most.load(Ordering::SeqCst), 20);
    assert_eq!(running.stop().await.handled, 1000);
    assert_eq!(committed(&broker, GROUP, 0), Some(1000));
}

#[tokio::test]
async fn in_the_order_of_keys_records_without_a_key_are_side_by_side() {
    let (_broker, kafka) = broker(1);
    publish(&kafka, (1..=10).map(|parcel| Weighed { parcel })).await;
    let mut running = Running::start(kafka.consumer(GROUP).order(ProcessingOrder::Key), 10);
    for _ in 0..10 {
        running.handled().await;
    }
    assert_eq!(running.stop().await.handled, 10);
}

#[tokio::test]
async fn without_an_order_records_of_one_key_are_side_by_side() {
    let (_broker, kafka) = broker(1);
    publish(&kafka, steps(1, 10)).await;
    let mut running = Running::start(kafka.consumer(GROUP).order(ProcessingOrder::Unordered), 10);
    for _ in 0..10 {
        running.handled().await;
    }
    assert_eq!(running.stop().await.handled, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_every_order_no_more_handlers_run_than_the_consumer_allows() {
    for (order, partitions) in
        [(ProcessingOrder::Partition, 4), (ProcessingOrder::Key, 2), (ProcessingOrder::Unordered, 2)]
    {
        let (_broker, kafka) = broker(partitions);
        publish(&kafka, steps(30, 10)).await;
        let mut running = Running::start(kafka.consumer(GROUP).order(order).concurrency(3), 0);
        for _ in 0..300 {
            running.handled().await;
        }
        let most = running.floor.most.load(Ordering::SeqCst);
        assert!((2..=3).contains(&most), "{order:?}: {most} at once");
        running.stop().await;
    }
}

#[tokio::test]
async fn nothing_is_committed_from_the_first_unfinished_record_on() {
    for order in [ProcessingOrder::Key, ProcessingOrder::Unordered] {
        let (broker, kafka) = broker(1);
        publish(&kafka, [Packed { parcel: 1, step: 0 }, Packed { parcel: 0, step: 0 }]).await;
        publish(&kafka, steps(8, 25)).await;
        let mut running = Running::start(kafka.consumer(GROUP).order(order), 0);
        for _ in 0..201 {
            assert_ne!(running.handled().await.parcel, 0);
        }
        // The broker has it from a commit after all of those, as the next one is handled after a commit interval.
        let before = committed_soon(&broker, 1).await;
        assert_eq!(before, Some(1), "{order:?}");
        running.floor.gate.add_permits(1);
        assert_eq!(running.handled().await.parcel, 0);
        assert_eq!(running.stop().await.handled, 202);
        assert_eq!(committed(&broker, GROUP, 0), Some(202));
    }
}

/// What is committed once it is at least this much.
async fn committed_soon(broker: &TestBroker, offset: i64) -> Option<i64> {
    let mut interval = tokio::time::interval(Duration::from_millis(50));
    let looked = tokio::time::timeout(PATIENCE, async {
        loop {
            interval.tick().await;
            let committed = committed(broker, GROUP, 0);
            if committed >= Some(offset) {
                return committed;
            }
        }
    });
    looked.await.expect("it is committed in time")
}

/// Tells of its beginning; parcel 0 ends only once it is asked to.
async fn lingers(begun: &UnboundedSender<Packed>, job: Packed, cx: &Delivery) -> Result<(), HandlerError> {
    let lingers = job.parcel == 0;
    begun.send(job)?;
    if lingers {
        cx.cancelled().await;
        // Who does not wait for it has ended by then.
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test]
async fn at_a_shutdown_what_runs_finishes_and_what_waits_for_its_key_is_left() {
    for (order, at_work) in [(ProcessingOrder::Key, 2), (ProcessingOrder::Unordered, 4)] {
        let (broker, kafka) = broker(1);
        publish(&kafka, [Packed { parcel: 1, step: 0 }]).await;
        publish(&kafka, (0..3).map(|step| Packed { parcel: 0, step })).await;
        let (begun, mut receiver) = unbounded_channel();
        let consumer = kafka.consumer(GROUP).order(order).serve(routes![begun; Packed => lingers]);
        let all_begun = async {
            for _ in 0..at_work {
                receiver.recv().await.unwrap();
            }
        };
        let summary = consumer.run_until(all_begun).await.unwrap();
        assert_eq!((summary.handled, summary.unfinished.len()), (at_work, 0), "{order:?}");
        assert!(receiver.try_recv().is_err(), "{order:?}: more has begun");
        assert_eq!(committed(&broker, GROUP, 0), Some(i64::try_from(at_work).unwrap()));
    }
}

#[tokio::test]
async fn a_handler_that_outlasts_the_shutdown_is_the_only_record_left_and_holds_the_commit() {
    for order in [ProcessingOrder::Key, ProcessingOrder::Unordered] {
        let (broker, kafka) = broker(1);
        publish(&kafka, [Packed { parcel: 1, step: 0 }, Packed { parcel: 0, step: 0 }]).await;
        publish(&kafka, steps(5, 2)).await;
        let consumer = kafka.consumer(GROUP).order(order).shutdown_timeout(Duration::from_secs(2));
        let mut running = Running::start(consumer, 0);
        for _ in 0..11 {
            running.handled().await;
        }
        let summary = running.stop().await;
        let unfinished: Vec<_> = summary.unfinished.iter().map(|(_, offset)| *offset).collect();
        assert_eq!((summary.handled, unfinished), (11, vec![1]), "{order:?}");
        assert_eq!(committed(&broker, GROUP, 0), Some(1));

        // The next member begins with it.
        let mut running = Running::start(kafka.consumer(GROUP).order(order), 0);
        running.floor.gate.add_permits(1);
        for _ in 0..11 {
            running.handled().await;
        }
        running.stop().await;
        assert_eq!(committed(&broker, GROUP, 0), Some(12));
    }
}

/// Fails parcel 0; every other one is told.
async fn fails(handled: &UnboundedSender<Packed>, job: Packed, _: &Delivery) -> Result<(), HandlerError> {
    if job.parcel == 0 && job.step == 0 {
        return Err(HandlerError::new("it is broken"));
    }
    Ok(handled.send(job)?)
}

#[tokio::test]
async fn a_failed_record_without_retry_topics_ends_the_consumer_and_is_not_committed() {
    for order in [ProcessingOrder::Key, ProcessingOrder::Unordered] {
        let (broker, kafka) = broker(1);
        publish(&kafka, steps(5, 2)).await;
        publish(&kafka, [Packed { parcel: 0, step: 0 }]).await;
        publish(&kafka, steps(5, 2)).await;
        let (handled, _receiver) = unbounded_channel();
        let consumer = kafka.consumer(GROUP).order(order).serve(routes![handled; Packed => fails]);
        let Err(ConsumerError::Record { record, .. }) = consumer.run().await else { panic!("it goes on") };
        assert_eq!(record.offset, 10);
        assert!(committed(&broker, GROUP, 0).is_none_or(|offset| offset <= 10));
    }
}

#[tokio::test]
async fn what_has_the_key_of_a_failed_record_goes_on_while_that_waits_on_its_retry_topic() {
    let broker = TestBroker::start(&[("orders", 1), ("orders.retry.1", 1), ("orders.dlq", 1)]).unwrap();
    let kafka = broker.kafka().unwrap();
    let retry_topics = RetryTopics::for_topic("orders").tiers([Duration::from_secs(3600)]);
    publish(&kafka, (0..4).map(|step| Packed { parcel: 0, step })).await;
    let (handled, mut receiver) = unbounded_channel();
    let consumer = kafka
        .consumer(GROUP)
        .order(ProcessingOrder::Key)
        .retry_topics(retry_topics)
        .serve(routes![handled; Packed => fails]);
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    for step in 1..4 {
        assert_eq!(receiver.recv().await.unwrap(), Packed { parcel: 0, step });
    }
    handle.shutdown();
    let summary = running.await.unwrap().unwrap();
    assert_eq!((summary.handled, summary.retried), (3, 1));
    assert_eq!(committed(&broker, GROUP, 0), Some(4));
}

#[tokio::test]
async fn no_handler_at_all_is_refused() {
    let (_broker, kafka) = broker(1);
    let (handled, _receiver) = unbounded_channel();
    let consumer = kafka.consumer(GROUP).concurrency(0).serve(routes![handled; Packed => fails]);
    let error = consumer.run().await.unwrap_err().to_string();
    assert!(error.contains("concurrency"), "{error}");
}
