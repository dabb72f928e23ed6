//! Publishes the records of one topic, in bursts, while brokers come and go.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use babelqueue::{Kafka, Publisher};
use futures_util::future::try_join_all;

use crate::{
    director::Result,
    line::{Line, Teller},
    member::topic,
    plan::{KEYS, Numbered, Order},
    random::Random,
};

/// Longer than any trouble here: a record that was given up and published once more would be there twice.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(600);
/// So much of it is there at once, in percent.
const AT_ONCE: u64 = 40;

/// These records of a topic, spread over this time.
pub(crate) async fn publish(
    brokers: String,
    seed: u64,
    order: Order,
    numbers: Range<u64>,
    time: Duration,
    ledger: Teller,
) -> Result<()> {
    let kafka = Kafka::builder().brokers(brokers).delivery_timeout(DELIVERY_TIMEOUT).build()?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(topic(order));
    let mut random = Random::new(seed, &format!("publish {} {}", numbers.start, order.name()));
    let begun = Instant::now();
    let (records, mut next) = (numbers.end - numbers.start, numbers.start);
    while next < numbers.end {
        // As many as are due by now, in bursts.
        let at_once = records * AT_ONCE / 100;
        let share = (begun.elapsed().as_secs_f64() / time.as_secs_f64()).min(1.0);
        let due = numbers.start + at_once + ((records - at_once) as f64 * share) as u64;
        let burst = (next + random.between(1, 4000) as u64).min(due);
        if burst <= next {
            tokio::time::sleep(random.millis(50, 1500)).await;
            continue;
        }
        let jobs: Vec<_> = (next..burst).map(|number| (Numbered { number }, (number % KEYS).to_string())).collect();
        let sends = jobs.iter().map(|(job, key)| publisher.message(job).key(key));
        try_join_all(sends.map(IntoFuture::into_future)).await?;
        next = burst;
        ledger.tell(&Line::Published { order, count: next })?;
    }
    kafka.close(Duration::from_secs(5)).await;
    Ok(())
}
