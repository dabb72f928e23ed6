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
    total: u64,
}

struct Clerk;

impl Worker {
    async fn created(&self, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        println!("{}", self.total + job.id);
        Ok(())
    }

    async fn cancelled(&mut self, job: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
        self.total -= job.id;
        Ok(())
    }
}

async fn on_cancelled(job: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
    println!("{}", job.id);
    Ok(())
}

fn main() {
    let _ = routes![OrderCreated => Worker::created];
    let _ = routes![Clerk; OrderCreated => Worker::created];
    let _ = routes![Worker { total: 0 }; OrderCancelled => on_cancelled];
    let _ = routes![Worker { total: 0 }; OrderCancelled => Worker::cancelled];
}
