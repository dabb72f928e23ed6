//! `crate = …` says where the crate is when it is reached by another path.

#![no_implicit_prelude]

// C18
mod facade {
    pub mod messaging {
        pub use ::babelqueue::{Delivery, HandlerError, Job, Routes, babel_job, private, routes};
    }
}

mod jobs {
    #[crate::facade::messaging::babel_job("urn:babel:orders:created", key = id, crate = crate::facade::messaging)]
    #[derive(::serde::Serialize, ::serde::Deserialize)]
    pub struct OrderCreated {
        pub id: u64,
    }
}

use facade::messaging as mq;
use mq::Job as _;

#[mq::babel_job("urn:babel:orders:cancelled", crate = mq)]
#[derive(::serde::Serialize, ::serde::Deserialize)]
struct OrderCancelled {}

async fn on_created(_: jobs::OrderCreated, _: &mq::Delivery) -> ::std::result::Result<(), mq::HandlerError> {
    ::std::result::Result::Ok(())
}

struct Worker;

impl Worker {
    async fn cancelled(&self, _: OrderCancelled, _: &mq::Delivery) -> ::std::result::Result<(), mq::HandlerError> {
        ::std::result::Result::Ok(())
    }
}

fn main() {
    ::std::assert_eq!(jobs::OrderCreated { id: 1 }.key().as_deref(), ::std::option::Option::Some(&b"1"[..]));
    let routes: mq::Routes = mq::routes![crate = mq; jobs::OrderCreated => on_created];
    ::std::assert_eq!(routes.urns(), ["urn:babel:orders:created"]);
    let routes = mq::routes![crate = crate::facade::messaging; Worker; OrderCancelled => Worker::cancelled,];
    ::std::assert_eq!(routes.urns(), ["urn:babel:orders:cancelled"]);
}
