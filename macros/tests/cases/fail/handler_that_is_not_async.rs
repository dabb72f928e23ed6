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
fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

struct Worker;

impl Worker {
    fn cancelled(&self, _: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    let _ = routes![OrderCreated => on_created];
    let _ = routes![Worker; OrderCancelled => Worker::cancelled];
}
