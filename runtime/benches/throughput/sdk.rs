//! The same work through the SDK, with its defaults.

use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    CommitPolicy, Delivery, HandlerError, JobBatch, Kafka, ProcessingOrder, Publisher, RetryTopics, routes,
};
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::Notify;

use crate::{Error, Order, Stopwatch, Turn, WINDOW, order};

pub(crate) fn publisher(kafka: &Kafka, topic: &str) -> Publisher<Order> {
    Publisher::new(kafka).topic(topic)
}

pub(crate) async fn publish(publisher: &Publisher<Order>, numbers: Range<u64>) -> Result<Turn, Error> {
    let watch = Stopwatch::start();
    let mut sends = stream::iter(numbers)
        .map(|number| async move { publisher.publish(&order(number)).await })
        .buffer_unordered(WINDOW);
    while let Some(sent) = sends.next().await {
        sent?;
    }
    Ok(watch.stop())
}

#[derive(Default)]
struct Counter {
    count: u64,
    /// Each record of a multiple of this number fails; none for 0.
    failing: u64,
    seen: AtomicU64,
    start: OnceLock<Stopwatch>,
    turn: OnceLock<Turn>,
    done: Notify,
}

impl Counter {
    async fn on_order(&self, job: Order, _: &Delivery) -> Result<(), HandlerError> {
        let fails = self.failing > 0 && job.order_id.is_multiple_of(self.failing);
        std::hint::black_box(job);
        self.add(1);
        if fails { Err(HandlerError::new("out of stock")) } else { Ok(()) }
    }

    async fn on_orders(&self, batch: JobBatch<Order>) -> Result<(), HandlerError> {
        self.add(batch.len() as u64);
        std::hint::black_box(batch);
        Ok(())
    }

    fn add(&self, records: u64) {
        let start = self.start.get_or_init(Stopwatch::start);
        let before = self.seen.fetch_add(records, Ordering::Relaxed);
        if before < self.count && before + records >= self.count {
            let _ = self.turn.set(start.stop());
            self.done.notify_one();
        }
    }
}

/// A way to consume.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) order: ProcessingOrder,
    pub(crate) commit: CommitPolicy,
    pub(crate) batches: bool,
    /// Each record of a multiple of this number goes to a retry topic; none for 0.
    pub(crate) failing: u64,
}

impl How {
    pub(crate) const DEFAULT: Self =
        Self { order: ProcessingOrder::Partition, commit: CommitPolicy::Interval, batches: false, failing: 0 };
}

/// Consumes so many records.
pub(crate) async fn consume(kafka: &Kafka, topic: &str, group: &str, how: How, count: u64) -> Result<Turn, Error> {
    let counter = Arc::new(Counter { count, failing: how.failing, ..Counter::default() });
    let mut consumer = kafka.consumer(group).topics([topic]).order(how.order).commit_policy(how.commit);
    if how.failing > 0 {
        consumer = consumer.retry_topics(RetryTopics::for_topic(topic).tiers([Duration::from_secs(3600)]));
    }
    let routes = match how.batches {
        true => routes![Arc::clone(&counter); [Order; 500] => Counter::on_orders],
        false => routes![Arc::clone(&counter); Order => Counter::on_order],
    };
    let consumer = consumer.serve(routes);
    consumer.run_until(counter.done.notified()).await?;
    counter.turn.get().copied().ok_or_else(|| "no turn".into())
}
