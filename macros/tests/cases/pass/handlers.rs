//! Functions, methods with a shared state, and `Handler` types.

use std::sync::Arc;

use babelqueue::{Delivery, Handler, HandlerError, Routes, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
pub struct Created {
    id: u64,
}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize)]
pub struct Cancelled {
    id: u64,
}

async fn on_created(job: Created, cx: &Delivery) -> Result<(), HandlerError> {
    tokio::task::yield_now().await;
    println!("{} {}", job.id, cx.offset());
    Ok(())
}

async fn on_cancelled(job: Cancelled, _cx: &Delivery) -> Result<(), HandlerError> {
    Err(std::io::Error::other(format!("{}", job.id)))?
}

struct Warehouse;

impl Handler<Cancelled> for Warehouse {
    async fn handle(&self, job: Cancelled, _: &Delivery) -> Result<(), HandlerError> {
        Err(HandlerError::fatal(format!("{}", job.id)))
    }
}

struct Worker;

impl Worker {
    async fn created(&self, job: Created, cx: &Delivery) -> Result<(), HandlerError> {
        tokio::task::yield_now().await;
        println!("{} {}", job.id, cx.offset());
        Ok(())
    }

    async fn cancelled(&self, _: Cancelled, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

async fn with_worker(worker: &Worker, job: Cancelled, cx: &Delivery) -> Result<(), HandlerError> {
    worker.cancelled(job, cx).await
}

fn in_a_library(state: u8) -> Routes {
    // The name that the macro gives the state is not that of the user's.
    let own = state;
    async fn counted(_: &u8, _: Created, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
    routes![state + own; Created => { let _ = state; counted }]
}

pub trait Handlers: Send + Sync + 'static {
    fn created(&self, job: Created, cx: &Delivery) -> impl Future<Output = Result<(), HandlerError>> + Send;
    fn cancelled(&self, job: Cancelled, cx: &Delivery) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

fn generated<H: Handlers>(handlers: H) -> Routes {
    routes![handlers; Created => H::created, Cancelled => H::cancelled]
}

impl Handlers for Worker {
    async fn created(&self, job: Created, cx: &Delivery) -> Result<(), HandlerError> {
        Worker::created(self, job, cx).await
    }

    async fn cancelled(&self, job: Cancelled, cx: &Delivery) -> Result<(), HandlerError> {
        Worker::cancelled(self, job, cx).await
    }
}

fn main() {
    let both = ["urn:babel:orders:cancelled", "urn:babel:orders:created"];
    assert_eq!(routes![Created => on_created, Cancelled => on_cancelled].urns(), both);
    assert_eq!(routes![Created => on_created, Cancelled => Warehouse,].urns(), both);
    assert_eq!(routes![Worker; Created => Worker::created, Cancelled => with_worker].urns(), both);
    let shared = Arc::new(Worker);
    assert_eq!(routes![Arc::clone(&shared); Created => Worker::created].topics(), ["orders"]);
    assert_eq!(Arc::strong_count(&shared), 1);
    assert_eq!(in_a_library(1).urns(), ["urn:babel:orders:created"]);
    assert_eq!(generated(Worker).urns(), both);
}
