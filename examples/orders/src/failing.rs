//! The life of a failing message: retried, given up, read by a person, redriven, handled.
//!
//! `cargo run -p orders --bin failing` runs on an embedded broker; with `BABELQUEUE_BROKERS=host:port` on a real one, where
//! it creates what is missing of the topic `failing-orders`, its retry topics and its dead-letter topic.

mod connection;

use std::{
    error::Error,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use babelqueue::{
    Delivery, HandlerError, Kafka, Publisher, RecordError, RetryTopics, babel_job, routes, shutdown_signal,
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const TOPIC: &str = "failing-orders";

#[babel_job("urn:babel:orders:paid", topic = "failing-orders", key = order_id)]
#[derive(Serialize, Deserialize)]
struct OrderPaid {
    order_id: u64,
    sku: String,
}

/// Packs orders, when the shelves allow.
struct Packer {
    /// Whether the catalogue knows the new article.
    catalogue_mended: AtomicBool,
    /// Orders that left the house.
    packed: UnboundedSender<u64>,
}

impl Packer {
    async fn on_paid(&self, order: OrderPaid, cx: &Delivery) -> Result<(), HandlerError> {
        if order.sku == "BUSY-SHELF" && cx.attempts() < 2 {
            return Err(HandlerError::new("another packer is at the shelf"));
        }
        if order.sku == "NEW-ARTICLE" && !self.catalogue_mended.load(Ordering::Relaxed) {
            return Err(HandlerError::new("the catalogue does not know the article"));
        }
        // A mail is an effect that must not be repeated for a message that is handled a second time on purpose.
        let mail = if cx.is_replay() { "no second mail" } else { "mail sent" };
        println!("packed        order {} after {} failures, {mail}", order.order_id, cx.attempts());
        Ok(self.packed.send(order.order_id)?)
    }
}

/// Tiers of a second, so that nobody waits for the example; in production see `recommended_tiers`.
fn retry_topics() -> RetryTopics {
    RetryTopics::for_topic(TOPIC).tiers([Duration::from_millis(500), Duration::from_secs(1)])
}

async fn connect() -> Result<(Kafka, Option<babelqueue::testing::TestBroker>), Box<dyn Error>> {
    let (kafka, broker) = connection::open(TOPIC).await?;
    match &broker {
        // The embedded broker takes no admin calls.
        Some(broker) => {
            let retry = retry_topics();
            for topic in retry.retry_topic_names().iter().map(String::as_str).chain(retry.dead_letter_topic_name()) {
                broker.create_topic(topic, 1)?;
            }
        }
        None => println!("topics        {:?} created", kafka.ensure_topics(&retry_topics()).await?.created),
    }
    Ok((kafka, broker))
}

/// Prints what became of a record that was not handled.
fn tell(error: &RecordError) {
    println!("not handled   {error}");
}

/// Waits until these orders are packed.
async fn packed(orders: &mut UnboundedReceiver<u64>, mut awaited: Vec<u64>) {
    while !awaited.is_empty() {
        match orders.recv().await {
            Some(order_id) => awaited.retain(|id| *id != order_id),
            None => pending().await,
        }
    }
}

async fn run(kafka: Kafka) -> Result<(), Box<dyn Error>> {
    let (packed_orders, mut orders) = unbounded_channel();
    let (given_up, mut dead_letters) = unbounded_channel();
    let packer = Arc::new(Packer { catalogue_mended: AtomicBool::new(false), packed: packed_orders });

    let reinjector = kafka.reinjector([retry_topics()]);
    let consumer = kafka
        .consumer("failing-example")
        .retry_topics(retry_topics())
        .max_tries(3)
        .on_error(move |error| {
            tell(error);
            if matches!(error.settled, babelqueue::Settled::DeadLetter { .. }) {
                // Whoever listened has ended.
                let _ = given_up.send(());
            }
        })
        .serve(routes![Arc::clone(&packer); OrderPaid => Packer::on_paid]);
    let (stop_reinjector, stop_consumer) = (reinjector.handle(), consumer.handle());
    let reinjector = tokio::spawn(reinjector.run());
    let consumer = tokio::spawn(consumer.run());

    let publisher = Publisher::<OrderPaid>::new(&kafka);
    for (order_id, sku) in [(1, "IN-STOCK"), (2, "BUSY-SHELF"), (3, "NEW-ARTICLE")] {
        publisher.publish(&OrderPaid { order_id, sku: sku.to_owned() }).await?;
    }
    packed(&mut orders, vec![1, 2]).await;
    dead_letters.recv().await;

    // A person looks at what was given up. A dry run changes nothing.
    let dead_letter_topic = format!("{TOPIC}.dlq");
    let plan = kafka
        .redrive(&dead_letter_topic)
        .dry_run()
        .select(|letter| {
            println!(
                "dead letter   {} after {} failures: {}",
                letter.urn(),
                letter.attempts(),
                letter.error().unwrap_or("no reason given"),
            );
            true
        })
        .run()
        .await?;
    println!("plan          {} to {:?}", plan.redriven, plan.targets.keys());

    // The cause is mended, and the messages get another chance, marked as a replay.
    packer.catalogue_mended.store(true, Ordering::Relaxed);
    let report = kafka.redrive(&dead_letter_topic).error_contains("catalogue").replay_bypass().run().await?;
    println!("redriven      {} of {} dead letters", report.redriven, report.read);
    packed(&mut orders, vec![3]).await;

    stop_consumer.shutdown();
    stop_reinjector.shutdown();
    let (handled, reinjected) = (consumer.await??, reinjector.await??);
    println!(
        "summary       {} handled, {} retried, {} dead-lettered, {} reinjected",
        handled.handled, handled.retried, handled.dead_lettered, reinjected.reinjected,
    );
    kafka.close(Duration::from_secs(5)).await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (kafka, _broker) = connect().await?;
    tokio::select! {
        result = run(kafka) => result,
        () = shutdown_signal() => {
            println!("stopped");
            Ok(())
        }
    }
}
