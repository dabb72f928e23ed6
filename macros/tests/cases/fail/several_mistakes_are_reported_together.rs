use babelqueue::{Delivery, HandlerError, Job, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job(" urn:babel:orders:created", topic = "new orders", key = name, colour = "red")]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    id: u64,
}

#[babel_job]
#[derive(Serialize, Deserialize)]
struct OrderCancelled {
    id: u64,
}

async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_cancelled(_: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    // None of these adds a message of its own.
    let _ = (OrderCreated::URN, OrderCreated { id: 1 }.key());
    let _ = routes![OrderCreated => on_created, OrderCancelled => on_cancelled];
}
