//! `mq = { package = "babelqueue" }` in Cargo.toml: the crate has the name `mq` alone, and `::babelqueue` is no such thing.

// C18
extern crate babelqueue as mq;
extern crate core as babelqueue;

use serde::{Deserialize, Serialize};

#[mq::babel_job("urn:babel:orders:created", key = id, crate = mq)]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    id: u64,
}

#[mq::babel_job("urn:babel:orders:paged", crate = ::mq)]
#[derive(Serialize, Deserialize)]
struct Page<T> {
    items: Vec<T>,
}

async fn on_created(_: OrderCreated, _: &mq::Delivery) -> Result<(), mq::HandlerError> {
    Ok(())
}

struct Worker;

impl Worker {
    async fn paged(&self, page: Page<u8>, _: &mq::Delivery) -> Result<(), mq::HandlerError> {
        drop(page.items);
        Ok(())
    }
}

fn main() {
    use mq::Job as _;

    assert_eq!(OrderCreated { id: 1 }.key().as_deref(), Some(&b"1"[..]));
    assert_eq!(mq::routes![crate = mq; OrderCreated => on_created].urns(), ["urn:babel:orders:created"]);
    let routes = mq::routes![crate = ::mq; Worker; Page<u8> => Worker::paged];
    assert_eq!(routes.urns(), ["urn:babel:orders:paged"]);
}
