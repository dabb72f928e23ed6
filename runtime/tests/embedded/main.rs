//! Publisher and consumer against the embedded broker.

mod consuming;
mod foreign;
mod jobs;
mod membership;
mod publishing;
mod reinjector;
mod shutting_down;
mod tracing_events;
