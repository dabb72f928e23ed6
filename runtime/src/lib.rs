//! Typed messages over Apache Kafka, on the wire contract that the BabelQueue SDKs for Java, Python, Go, .NET, Node and PHP
//! share: one JSON envelope, routed by a URN.
//!
//! ```no_run
//! use babelqueue::{Delivery, HandlerError, Kafka, Publisher, babel_job, routes, shutdown_signal};
//! use serde::{Deserialize, Serialize};
//!
//! #[babel_job("urn:babel:orders:created", key = order_id)]
//! #[derive(Serialize, Deserialize)]
//! struct OrderCreated {
//!     order_id: u64,
//! }
//!
//! async fn on_created(order: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
//!     println!("order {} (trace {})", order.order_id, cx.trace_id());
//!     Ok(())
//! }
//!
//! # async fn service() -> Result<(), Box<dyn std::error::Error>> {
//! let kafka = Kafka::connect("localhost:9092")?;
//! Publisher::<OrderCreated>::new(&kafka).publish(&OrderCreated { order_id: 1042 }).await?;
//! kafka.consumer("orders-workers").serve(routes![OrderCreated => on_created]).run_until(shutdown_signal()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! - [`babel_job`] makes a payload type a [`Job`]: its URN, topic and record key. With JSON Schemas instead, a build script
//!   with `babelqueue_codegen` writes the types, and [`include_contracts!`] includes them.
//! - [`Publisher`] sends jobs, each acknowledged by all in-sync replicas; a failed send hands its record back.
//! - [`routes!`] gives each job its [`Handler`]; [`Kafka::consumer`] runs them: at least once, in order by partition, and
//!   an offset is committed only when its record and all before it are handled, or safely on another topic.
//! - [`RetryTopics`] names where records go that are not handled: retry topics with ascending delays, and a dead-letter
//!   topic. [`Kafka::reinjector`] moves records back to their work topics when their delays are over, and
//!   [`Kafka::redrive`] the dead letters when their cause is mended. Without retry topics a failed handler ends the
//!   consumer with an error that names the record.
//! - [`Tls`] and [`Sasl`] are for secured brokers: given to the builder, or by environment variables
//!   ([`KafkaBuilder::from_env`]) or a properties file of Java clients ([`KafkaBuilder::properties_file`]).
//! - [`idempotency`] skips messages that were handled before.
//! - [`envelope`] is the contract's envelope by itself.
//!
//! All async functions need a tokio runtime with I/O and time enabled. What happens is told by `tracing` events, by
//! [`ConsumerBuilder::on_event`] and by [`ConsumerBuilder::on_error`]. Features: `testing` (an embedded broker),
//! `schemars` (JSON Schemas of payloads, and their export), `validate` (payloads checked by JSON Schema), `redis` and `postgres` (stores of
//! the idempotency guard), `otel` (OpenTelemetry traces that go on from publisher to handler, see
//! [`Delivery::message`]), `tls`, `gssapi`, `zstd`.

mod backoff;
mod batch_handler;
mod client;
mod config;
mod consumer;
mod deliver;
mod delivery;
pub mod envelope;
mod error;
mod event;
#[cfg(feature = "schemars")]
mod export;
mod handler;
mod headers;
mod health;
pub mod idempotency;
mod job;
mod json;
mod kafka;
#[cfg(feature = "testing")]
mod lab;
mod member;
mod payload;
#[doc(hidden)]
pub mod private;
mod publisher;
mod record;
mod redrive;
mod reinjector;
mod retry_topics;
mod router;
#[cfg(feature = "schemars")]
mod schema;
mod settle;
mod shutdown;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod topics;
#[cfg(feature = "otel")]
mod trace;
mod traceparent;
#[cfg(feature = "validate")]
mod validate;

pub use babelqueue_macros::{babel_job, routes};
pub use uuid::Uuid;

#[cfg(feature = "validate")]
pub use crate::validate::{SchemaError, Schemas, Violation, Violations};
pub use crate::{
    backoff::{Backoff, Jitter},
    batch_handler::{BatchHandler, Failures, JobBatch, JobBatchIter},
    client::{CloseReport, Kafka, KafkaBuilder},
    config::{ConfigError, Sasl, Tls},
    consumer::{
        CommitPolicy, Consumer, ConsumerBuilder, ConsumerError, Health, ProcessingOrder, Reason, RecordError, Settled,
        Summary,
    },
    delivery::Delivery,
    envelope::EncodeError,
    error::KafkaError,
    event::Event,
    handler::{Handler, HandlerError},
    health::{HealthReport, OldestRecord, PartitionHealth, Status},
    job::{Job, RecordKey},
    json::Json,
    kafka::OutgoingRecord,
    publisher::{Message, PublishError, Publisher},
    record::{HeaderIter, Headers, TopicPartition},
    redrive::{DeadLettered, Redrive, RedriveError, RedriveReport, Skipped, WriteFailure},
    reinjector::{ReinjectSummary, Reinjector, ReinjectorError},
    retry_topics::{DelayError, RECOMMENDED_TIERS, RetryTopics},
    router::{DuplicateUrn, Routes},
    settle::{Exhausted, UnknownUrn},
    shutdown::{ShutdownHandle, shutdown_signal},
    topics::{EnsureTopics, EnsureTopicsError, TopicFinding, TopicFindings, TopicReport},
};
#[cfg(feature = "schemars")]
pub use crate::{
    export::{Difference, Export, ExportError},
    schema::json_schema,
};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Includes the contracts that `babelqueue_codegen` wrote in this package's build script: one module a topic.
#[macro_export]
macro_rules! include_contracts {
    () => {
        ::core::include!(::core::concat!(
            ::core::env!(
                "OUT_DIR",
                "this package has no build script: add a build.rs that calls `babelqueue_codegen::configure().registry(…).generate()`"
            ),
            "/babelqueue_contracts.rs"
        ));
    };
}
