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
struct Worker {
    total: std::cell::Cell<u64>,
}

impl Worker {
    async fn created(&self, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    let _ = routes![Worker { total: Default::default() }; OrderCreated => Worker::created];
}
