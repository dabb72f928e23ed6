use babelqueue::{Delivery, Handler, HandlerError, babel_job, routes};
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

async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

struct Worker;

impl Handler<OrderCreated> for Worker {
    async fn handle(&self, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

impl Worker {
    async fn created(&self, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    let _ = routes![OrderCancelled => on_created];
    let _ = routes![OrderCancelled => Worker];
    let _ = routes![Worker; OrderCancelled => Worker::created];
}
