//! Typed Kafka messaging on the BabelQueue wire contract.

pub mod envelope;
mod error;
mod handler;
mod headers;
mod job;
#[doc(hidden)]
pub mod private;
mod record;
mod router;

pub use babelqueue_macros::{babel_job, routes};

pub use crate::{
    envelope::EncodeError,
    error::KafkaError,
    handler::{Delivery, Handler, HandlerError, HandlerFn, MethodFn},
    job::{Job, RecordKey},
    record::{HeaderIter, Headers, TopicPartition},
    router::{DuplicateUrn, Route, Routes},
};
