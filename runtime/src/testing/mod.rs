//! Tests of handlers without a cluster and without waiting (feature `testing`).
//!
//! [`TestKit`] runs the production consumer and the reinjector on an embedded broker, in one line. A test publishes typed
//! jobs, awaits what becomes of them, moves the clock in place of waiting for a retry topic, and makes writes, the group
//! and the broker fail. [`TestBroker`] is that broker by itself.

mod broker;
mod builder;
mod dead_letter;
mod dead_letters;
mod faults;
mod journal;
mod kit;
mod outcome;
mod rebalance;
mod story;
mod task;
mod unmet;

pub use self::{
    broker::{TestBroker, TestBrokerError},
    builder::TestKitBuilder,
    dead_letter::DeadLetter,
    faults::Held,
    kit::{TestKit, TestKitError},
    outcome::{Outcome, Retried},
    unmet::Unmet,
};
pub use crate::kafka::mock::WriteError;
