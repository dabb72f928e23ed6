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
#[derive(Serialize, Deserialize)]
struct OrderShipped {}

async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_shipped(_: OrderShipped, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

struct Worker;

impl Worker {
    async fn shipped(&self, _: OrderShipped, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    let _ = routes![OrderCreated => on_created, OrderShipped => on_shipped];
    let _ = routes![Worker; OrderShipped => Worker::shipped];
}
