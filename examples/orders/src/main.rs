//! Publishes typed orders and handles them.
//!
//! `cargo run -p orders [-- COUNT]` runs on an embedded broker; with `BABELQUEUE_BROKERS=host:port` on a real one.

mod connection;

use std::{
    collections::HashSet,
    error::Error,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use babelqueue::{Delivery, HandlerError, Kafka, PublishError, shutdown_signal};
use futures_util::future::try_join_all;
use tokio::sync::Notify;

babelqueue::include_contracts!();
use orders::{Currency, OrderCancelled, OrderCancelledReason, OrderCreated, OrderLine, Party};

/// Handles what the topic `orders` carries.
struct Warehouse {
    created: AtomicU64,
    cancelled: AtomicU64,
    /// Messages of this run that are still to come.
    awaited: Mutex<HashSet<String>>,
    all_handled: Notify,
}

impl orders::Handlers for Warehouse {
    async fn order_created(&self, order: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        let cents: i64 = order.items.iter().map(|line| line.unit_price_cents * i64::from(line.quantity)).sum();
        println!(
            "created    order {:<6} {:>8}.{:02} for {:<10} {}",
            order.order_id,
            cents / 100,
            cents % 100,
            order.customer.name,
            place(cx),
        );
        self.created.fetch_add(1, Ordering::Relaxed);
        self.handled(cx);
        Ok(())
    }

    async fn order_cancelled(&self, order: OrderCancelled, cx: &Delivery) -> Result<(), HandlerError> {
        println!("cancelled  order {:<6} {:?} {}", order.order_id, order.reason, place(cx));
        self.cancelled.fetch_add(1, Ordering::Relaxed);
        self.handled(cx);
        Ok(())
    }
}

fn place(cx: &Delivery) -> String {
    format!("[partition {}, offset {}, trace {}]", cx.partition(), cx.offset(), cx.trace_id())
}

impl Warehouse {
    fn awaiting(ids: HashSet<String>) -> Self {
        Self {
            created: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            awaited: Mutex::new(ids),
            all_handled: Notify::new(),
        }
    }

    /// Is ready when every message of this run has been handled.
    async fn all_handled(&self) {
        while !self.awaited.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.all_handled.notified().await;
        }
    }

    fn handled(&self, cx: &Delivery) {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.remove(cx.message_id());
        if awaited.is_empty() {
            self.all_handled.notify_one();
        }
    }
}

fn order(order_id: u64) -> OrderCreated {
    let customer = Party::new(["Ada", "Grace", "Şükrü", "Zoë"][order_id as usize % 4]);
    let line = OrderLine::new(format!("SKU-{}", order_id % 7), 1 + order_id as u32 % 3, 1299);
    OrderCreated::new(order_id, customer, vec![line], Currency::Eur)
}

fn cancellation(order_id: u64) -> OrderCancelled {
    OrderCancelled::new(order_id, Party::new("Ada"), OrderCancelledReason::CustomerRequest)
}

/// Publishes this many orders, many at once, and cancels every fifth one. Returns the ids of the messages.
async fn publish(kafka: &Kafka, count: u64) -> Result<HashSet<String>, PublishError> {
    let publisher = &orders::Publisher::new(kafka);
    let each = |order_id| async move {
        let mut ids = vec![publisher.order_created(&order(order_id)).await?.to_string()];
        if order_id % 5 == 0 {
            // An order and its cancellation have one key, so they are handled in this order.
            ids.push(publisher.order_cancelled(&cancellation(order_id)).await?.to_string());
        }
        Ok::<_, PublishError>(ids)
    };
    Ok(try_join_all((1..=count).map(each)).await?.into_iter().flatten().collect())
}

/// Publishes, handles what was published, and ends; or ends early when `stop` is ready.
async fn run(count: u64, mut stop: Pin<&mut impl Future<Output = ()>>) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let (kafka, _broker) = tokio::select! {
        opened = connection::open("orders") => opened?,
        () = &mut stop => {
            println!("stopped while connecting");
            return Ok(());
        }
    };
    let ids = tokio::select! {
        ids = publish(&kafka, count) => ids?,
        () = &mut stop => {
            println!("stopped while publishing");
            return Ok(());
        }
    };
    let published = ids.len();
    println!("published  {published} messages in {:.1?}", start.elapsed());

    let warehouse = Arc::new(Warehouse::awaiting(ids));
    let consumer = kafka.consumer("orders-example").serve(orders::routes(Arc::clone(&warehouse)));
    let done = async {
        tokio::select! {
            () = warehouse.all_handled() => {}
            () = &mut stop => println!("stopping"),
        }
    };
    let summary = consumer.run_until(done).await?;
    kafka.close(Duration::from_secs(5)).await;

    println!(
        "summary    {published} published, {} handled: {} created, {} cancelled, in {:.1?}",
        summary.handled,
        warehouse.created.load(Ordering::Relaxed),
        warehouse.cancelled.load(Ordering::Relaxed),
        start.elapsed(),
    );
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let count = match std::env::args().nth(1) {
        Some(count) => count.parse().map_err(|_| format!("`{count}` is not a number of orders"))?,
        None => 20,
    };
    run(count, pin!(shutdown_signal())).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use babelqueue::{Job, json_schema};
    use schemars::JsonSchema;
    use serde_json::Value;

    use super::*;

    /// Names of the members, and of those that are required.
    fn members(schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let properties = schema["properties"].as_object().into_iter().flat_map(|all| all.keys().cloned());
        (properties.collect(), required.map(str::to_owned).collect())
    }

    fn agrees<J: Job + JsonSchema>(source: &str) {
        let source: Value = serde_json::from_str(source).unwrap();
        assert_eq!(members(&json_schema::<J>()), members(&source), "{}", J::URN);
        assert!(!members(&source).0.is_empty());
    }

    #[test]
    fn the_schemas_of_the_generated_types_are_those_they_were_generated_from() {
        agrees::<OrderCreated>(include_str!("../../../schemas/order-created.schema.json"));
        agrees::<OrderCancelled>(include_str!("../../../schemas/order-cancelled.schema.json"));
    }

    #[test]
    fn an_order_is_written_as_its_schema_says() {
        let written = serde_json::to_value(order(7)).unwrap();
        assert_eq!(written["order_id"], 7);
        assert_eq!(written["currency"], "EUR");
        assert_eq!(written.get("note"), None);
        assert_eq!(serde_json::from_value::<OrderCreated>(written).unwrap(), order(7));
    }
}
