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
async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_cancelled(_: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

struct Worker;

impl Worker {
    async fn created(&self, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    let _: babelqueue::Routes = routes![];
    let _: babelqueue::Routes = routes![OrderCreated];
    let _: babelqueue::Routes = routes![OrderCreated -> on_created];
    let _: babelqueue::Routes = routes![OrderCreated => on_created OrderCancelled => on_cancelled];
    let _: babelqueue::Routes = routes![OrderCreated => on_created; OrderCancelled => on_cancelled];
    let _: babelqueue::Routes = routes![Worker, OrderCreated => on_created];
    let _: babelqueue::Routes = routes![Worker;];
    let _: babelqueue::Routes = routes![&Worker; OrderCreated => Worker::created];
    let _: babelqueue::Routes = routes![crate = "babelqueue"; OrderCreated => on_created];
    let _: babelqueue::Routes = routes![OrderCreated =>];
}
