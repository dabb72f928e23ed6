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
async fn on_created(job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    let id = std::rc::Rc::new(job.id);
    tokio::task::yield_now().await;
    println!("{id}");
    Ok(())
}

struct Worker;

impl Worker {
    async fn cancelled(&self, job: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
        let id = std::rc::Rc::new(job.id);
        tokio::task::yield_now().await;
        println!("{id}");
        Ok(())
    }
}

fn main() {
    let _ = routes![OrderCreated => on_created];
    let _ = routes![Worker; OrderCancelled => Worker::cancelled];
}
