//! The only place that names the Kafka client library.

mod admin;
mod committer;
mod errors;
mod group;
mod lanes;
#[cfg(feature = "testing")]
pub(crate) mod mock;
mod native;
mod offsets;
mod settings;
mod sink;
mod source;

pub(crate) use admin::create_topic;
pub(crate) use offsets::Progress;
pub(crate) use settings::check;
pub use sink::OutgoingRecord;
pub(crate) use sink::{SendError, Sink};
pub(crate) use source::{Assigned, Source, SourceEvent, SourceSettings};
