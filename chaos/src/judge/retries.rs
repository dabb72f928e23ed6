//! The records of a topic's retry topics, by number and failures: since when they lie there, and when they are due.

use std::collections::{HashMap, hash_map::Entry};

use crate::plan::TIERS;

/// How far the clocks of a broker and of a reinjector on one machine may be apart, in milliseconds.
const CLOCKS: i64 = 5;

#[derive(Default)]
pub(super) struct Retries {
    /// When the first copy is due, in Unix milliseconds.
    due: HashMap<(u64, u32), i64>,
    /// When records were written that came back before it was told that they waited.
    untold: HashMap<(u64, u32), i64>,
    copies: u64,
}

/// By how many milliseconds a record came back before it was due.
pub(super) type Early = i64;

impl Retries {
    /// Copies behind the first ones.
    pub(super) fn copies(&self) -> u64 {
        self.copies
    }

    /// A record waits, and is due then.
    pub(super) fn waits(&mut self, number: u64, attempts: u32, due: i64) -> Result<(), Early> {
        match self.due.entry((number, attempts)) {
            Entry::Occupied(_) => {
                self.copies += 1;
                return Ok(());
            }
            Entry::Vacant(entry) => entry.insert(due),
        };
        match self.untold.remove(&(number, attempts)) {
            Some(written) => self.came_back(number, attempts, written),
            None => Ok(()),
        }
    }

    /// A record is on its work topic again, where it was written then.
    pub(super) fn came_back(&mut self, number: u64, attempts: u32, written: i64) -> Result<(), Early> {
        match self.due.get(&(number, attempts)) {
            Some(due) if written + CLOCKS < *due => Err(due - written),
            Some(_) => Ok(()),
            None => {
                let earliest = self.untold.entry((number, attempts)).or_insert(written);
                *earliest = written.min(*earliest);
                Ok(())
            }
        }
    }

    /// Whether the record that has failed after so many failures lay here by then.
    pub(super) fn lay_here(&self, number: u64, attempts: u32, seen: i64) -> bool {
        // A retry topic has the broker's time of the write.
        let tier = TIERS.get(attempts as usize).map_or(0, |tier| i64::try_from(tier.as_millis()).unwrap_or(0));
        self.due.get(&(number, attempts + 1)).is_some_and(|due| due - tier <= seen + CLOCKS)
    }
}
