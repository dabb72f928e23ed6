//! Typed Kafka messaging on the BabelQueue wire contract.

mod client;
mod config;
mod consumer;
pub mod envelope;
mod error;
mod event;
mod handler;
mod headers;
mod job;
mod kafka;
#[doc(hidden)]
pub mod private;
mod publisher;
mod record;
mod router;
#[cfg(feature = "schemars")]
mod schema;
mod settle;
mod shutdown;
#[cfg(feature = "testing")]
pub mod testing;
mod topics;

pub use babelqueue_macros::{babel_job, routes};
pub use uuid::Uuid;

#[cfg(feature = "schemars")]
pub use crate::schema::json_schema;
pub use crate::{
    client::{CloseReport, Kafka, KafkaBuilder},
    config::ConfigError,
    consumer::{Consumer, ConsumerBuilder, ConsumerError, ConsumerHandle, Reason, RecordError, Summary},
    envelope::EncodeError,
    error::KafkaError,
    event::Event,
    handler::{Delivery, Handler, HandlerError, HandlerFn, MethodFn},
    job::{Job, RecordKey},
    kafka::OutgoingRecord,
    publisher::{Message, PublishError, Publisher},
    record::{HeaderIter, Headers, TopicPartition},
    router::{DuplicateUrn, Route, Routes},
    settle::UnknownUrn,
    shutdown::shutdown_signal,
};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Includes the contracts that `babelqueue_codegen` wrote in this package's build script: one module a topic.
#[macro_export]
macro_rules! include_contracts {
    () => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/babelqueue_contracts.rs"));
    };
}
