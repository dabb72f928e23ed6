//! Publisher and consumer against the embedded broker.

mod batching;
mod consuming;
mod foreign;
mod health;
mod idempotency;
mod jobs;
mod kit;
mod membership;
mod ordering;
mod publishing;
mod redriving;
mod reinjector;
mod settling;
mod several_topics;
mod shutting_down;
mod tracing_events;
mod validating;
