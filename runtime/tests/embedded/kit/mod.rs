//! The test kit: what it awaits, what it makes fail, and what it says when something did not happen.

mod clock;
mod failures;
mod faults;
mod outcomes;
mod redriving;

use std::time::Duration;

use babelqueue::{ConsumerBuilder, Delivery, HandlerError, RetryTopics, Routes, routes, testing::TestKit};

use crate::jobs::OrderCreated;

const TIERS: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(1800)];

/// An order whose note tells the handler what to do.
fn told(order_id: u64, note: &str) -> OrderCreated {
    OrderCreated { order_id, note: Some(note.to_owned()) }
}

/// `fail`: always; `fail 2`: twice; `fatal`; else it is handled.
async fn as_told(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    match job.note.as_deref().map(|note| note.split_once(' ').unwrap_or((note, ""))) {
        Some(("fail", "")) => Err(HandlerError::new("the warehouse is closed")),
        Some(("fail", times)) if cx.attempts() < times.parse()? => Err(HandlerError::new("the warehouse is closed")),
        Some(("fatal", _)) => Err(HandlerError::fatal("no such warehouse")),
        _ => Ok(()),
    }
}

fn orders() -> Routes {
    routes![OrderCreated => as_told]
}

fn settings(consumer: ConsumerBuilder) -> ConsumerBuilder {
    consumer.retry_topics(RetryTopics::for_topic("orders").tiers(TIERS)).max_tries(4)
}

async fn start() -> TestKit {
    TestKit::builder().consumer(settings).start(orders()).await.unwrap()
}
