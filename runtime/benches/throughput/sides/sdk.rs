//! The same work through the SDK, with its defaults.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    CommitPolicy, ConsumerBuilder, Delivery, HandlerError, JobBatch, Kafka, ProcessingOrder, Publisher, RetryTopics,
    routes,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::{
    Error, Stopwatch, Turn,
    payload::{Order, Size},
    sending::{self, Sending},
};

pub(super) async fn publish(
    kafka: &Kafka,
    topic: &str,
    size: Size,
    records: u64,
    sending: Sending,
) -> Result<Turn, Error> {
    let publisher = Arc::new(Publisher::new(kafka).topic(topic));
    let each = move |number| {
        let publisher = Arc::clone(&publisher);
        async move {
            publisher.publish(&size.order(number)).await?;
            Ok(())
        }
    };
    sending::measure(sending, records, each).await
}

/// A way to consume.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct How {
    pub(crate) mode: Mode,
    pub(crate) commits: Commits,
    /// Each record of a multiple of this number goes to a retry topic; none for 0.
    pub(crate) failing: u64,
    /// How long a handler takes.
    pub(crate) pause: Duration,
    /// Handlers at the same time; the default for `None`.
    pub(crate) at_once: Option<usize>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Mode {
    Partition,
    Key,
    Unordered,
    /// In the order of the partition, 500 at a time.
    Batches,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Commits {
    ByInterval,
    Each100,
    EachRecord,
}

impl How {
    pub(crate) const DEFAULT: Self =
        Self { mode: Mode::Partition, commits: Commits::ByInterval, failing: 0, pause: Duration::ZERO, at_once: None };

    pub(crate) const fn by(mode: Mode) -> Self {
        Self { mode, ..Self::DEFAULT }
    }

    fn consumer(self, kafka: &Kafka, topic: &str, group: &str) -> ConsumerBuilder {
        let mut consumer = kafka.consumer(group).topics([topic]);
        consumer = consumer.order(match self.mode {
            Mode::Partition | Mode::Batches => ProcessingOrder::Partition,
            Mode::Key => ProcessingOrder::Key,
            Mode::Unordered => ProcessingOrder::Unordered,
        });
        consumer = consumer.commit_policy(match self.commits {
            Commits::ByInterval => CommitPolicy::Interval,
            Commits::Each100 => CommitPolicy::Count(100),
            Commits::EachRecord => CommitPolicy::EachRecord,
        });
        if self.failing > 0 {
            consumer = consumer.retry_topics(RetryTopics::for_topic(topic).tiers([Duration::from_secs(3600)]));
        }
        match self.at_once {
            Some(handlers) => consumer.concurrency(handlers),
            None => consumer,
        }
    }
}

/// Consumes so many records.
pub(super) async fn consume(kafka: &Kafka, topic: &str, group: &str, how: How, count: u64) -> Result<Turn, Error> {
    let counter = Arc::new(Counter {
        count,
        how,
        seen: AtomicU64::new(0),
        start: OnceLock::new(),
        turn: OnceLock::new(),
        done: Notify::new(),
    });
    let routes = match how.mode {
        Mode::Batches => routes![Arc::clone(&counter); [Order; 500] => Counter::on_orders],
        _ => routes![Arc::clone(&counter); Order => Counter::on_order],
    };
    how.consumer(kafka, topic, group).serve(routes).run_until(counter.done.notified()).await?;
    counter.turn.get().copied().ok_or_else(|| "no turn".into())
}

struct Counter {
    count: u64,
    how: How,
    seen: AtomicU64,
    start: OnceLock<Stopwatch>,
    turn: OnceLock<Turn>,
    done: Notify,
}

impl Counter {
    async fn on_order(&self, job: Order, _: &Delivery) -> Result<(), HandlerError> {
        let start = self.start.get_or_init(Stopwatch::start);
        if !self.how.pause.is_zero() {
            tokio::time::sleep(self.how.pause).await;
        }
        let fails = self.how.failing > 0 && job.order_id.is_multiple_of(self.how.failing);
        std::hint::black_box(job);
        self.add(1, start);
        if fails { Err(HandlerError::new("out of stock")) } else { Ok(()) }
    }

    async fn on_orders(&self, batch: JobBatch<Order>) -> Result<(), HandlerError> {
        let start = self.start.get_or_init(Stopwatch::start);
        let records = batch.len() as u64;
        std::hint::black_box(batch);
        self.add(records, start);
        Ok(())
    }

    fn add(&self, records: u64, start: &Stopwatch) {
        let before = self.seen.fetch_add(records, Ordering::Relaxed);
        if before < self.count && before + records >= self.count {
            let _ = self.turn.set(start.stop());
            self.done.notify_one();
        }
    }
}
