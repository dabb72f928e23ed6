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
async fn nothing(_: OrderCreated, _: &Delivery) {}

async fn other_error(_: OrderCreated, _: &Delivery) -> Result<(), std::io::Error> {
    Ok(())
}

async fn a_value(_: OrderCancelled, _: &Delivery) -> Result<u64, HandlerError> {
    Ok(1)
}

fn main() {
    let _ = routes![OrderCreated => nothing];
    let _ = routes![OrderCreated => other_error];
    let _ = routes![OrderCancelled => a_value];
}
