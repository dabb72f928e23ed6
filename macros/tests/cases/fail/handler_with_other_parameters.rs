use babelqueue::{Delivery, HandlerError, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    id: u64,
}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize)]
struct OrderCancelled {
    id: u64,
}
async fn without_delivery(_: OrderCreated) -> Result<(), HandlerError> {
    Ok(())
}

async fn owned_delivery(_: OrderCreated, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn borrowed_job(_: &OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn swapped(_: &Delivery, _: OrderCancelled) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = routes![OrderCreated => without_delivery];
    let _ = routes![OrderCreated => owned_delivery];
    let _ = routes![OrderCreated => borrowed_job];
    let _ = routes![OrderCancelled => swapped];
}
