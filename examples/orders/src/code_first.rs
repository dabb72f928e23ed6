//! The same without a schema file: a payload struct is the contract. `cargo run -p orders --bin code-first`

mod connection;

use std::{error::Error, time::Duration};

use babelqueue::{Delivery, HandlerError, Publisher, babel_job, json_schema, routes, shutdown_signal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// An invoice was asked for.
#[babel_job("urn:babel:invoices:requested", key = order_id)]
#[derive(Serialize, Deserialize, JsonSchema)]
struct InvoiceRequested {
    order_id: u64,
    net_cents: i64,
}

async fn on_requested(done: &Notify, job: InvoiceRequested, cx: &Delivery) -> Result<(), HandlerError> {
    println!("handled    invoice for order {} over {} cents, message {}", job.order_id, job.net_cents, cx.message_id());
    done.notify_one();
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (kafka, _broker) = connection::open("invoices").await?;
    println!("schema     {:#}", json_schema::<InvoiceRequested>());

    let publisher = Publisher::<InvoiceRequested>::new(&kafka);
    let id = publisher.publish(&InvoiceRequested { order_id: 1042, net_cents: 2598 }).await?;
    println!("published  message {id}");

    let done = std::sync::Arc::new(Notify::new());
    let consumer = kafka
        .consumer("invoices-example")
        .serve(routes![std::sync::Arc::clone(&done); InvoiceRequested => on_requested]);
    let end = async {
        tokio::select! {
            () = done.notified() => {}
            () = shutdown_signal() => println!("stopping"),
        }
    };
    let summary = consumer.run_until(end).await?;
    kafka.close(Duration::from_secs(5)).await;
    println!("summary    {} handled", summary.handled);
    Ok(())
}
