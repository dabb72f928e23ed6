//! The order among first successes, of records that never fail.

use std::collections::HashMap;

use crate::{
    line::Place,
    plan::{KEYS, Order},
};

/// The last success of each partition, or of each key.
#[derive(Default)]
pub(super) struct Successes(HashMap<u64, u64>);

impl Successes {
    /// A number was handled for the first time; an error is a later one of its partition (or key) that was before.
    pub(super) fn add(&mut self, at: Place, number: u64) -> Result<(), u64> {
        let line = match at.order {
            Order::Partition => u64::from(at.partition.unsigned_abs()),
            Order::Key => number % KEYS,
            Order::Unordered => return Ok(()),
        };
        match self.0.insert(line, number) {
            Some(before) if before > number => Err(before),
            _ => Ok(()),
        }
    }
}
