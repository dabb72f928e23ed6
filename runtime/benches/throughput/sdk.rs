//! The same work through the SDK, with its defaults.

use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use babelqueue::{Delivery, HandlerError, Kafka, ProcessingOrder, Publisher, RetryTopics, routes};
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
        let start = self.start.get_or_init(Stopwatch::start);
        if self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.count {
            let _ = self.turn.set(start.stop());
            self.done.notify_one();
        }
        if fails { Err(HandlerError::new("out of stock")) } else { Ok(()) }
    }
}

/// Consumes so many records, of which each `failing`th goes to a retry topic; none for 0.
pub(crate) async fn consume(
    kafka: &Kafka,
    topic: &str,
    group: &str,
    order: ProcessingOrder,
    count: u64,
    failing: u64,
) -> Result<Turn, Error> {
    let counter = Arc::new(Counter { count, failing, ..Counter::default() });
    let mut consumer = kafka.consumer(group).topics([topic]).order(order);
    if failing > 0 {
        consumer = consumer.retry_topics(RetryTopics::for_topic(topic).tiers([Duration::from_secs(3600)]));
    }
    let consumer = consumer.serve(routes![Arc::clone(&counter); Order => Counter::on_order]);
    consumer.run_until(counter.done.notified()).await?;
    counter.turn.get().copied().ok_or_else(|| "no turn".into())
}
