use babelqueue::{Delivery, HandlerError, JobBatch, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    order_id: u64,
}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize)]
struct OrderCancelled {
    order_id: u64,
}

async fn one(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn cancelled(_: JobBatch<OrderCancelled>) -> Result<(), HandlerError> {
    Ok(())
}

async fn created(_: JobBatch<OrderCreated>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = routes![[OrderCreated; 10] => one];
    let _ = routes![[OrderCreated; 10] => cancelled];
    let _ = routes![OrderCreated => created];
    let _ = routes![(); [OrderCreated; 10] => created];
    let _ = routes![[OrderCreated; "ten"] => created];
    let _ = routes![[OrderCreated; 10] => created, OrderCreated => one];
}
