//! Random choices that are the same for the same seed.

use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

pub(crate) struct Random(StdRng);

impl Random {
    /// The choices of one part of a run; parts of different names know nothing of each other.
    pub(crate) fn new(seed: u64, part: &str) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        for (to, from) in bytes[8..].iter_mut().zip(part.bytes()) {
            *to = from;
        }
        Self(StdRng::from_seed(bytes))
    }

    /// From 0 to `count` - 1; 0 where there is nothing to choose from.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count.max(1))
    }

    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most.saturating_sub(least) + 1)
    }

    pub(crate) fn millis(&mut self, least: usize, most: usize) -> Duration {
        Duration::from_millis(self.between(least, most) as u64)
    }

    /// In an order of its own.
    pub(crate) fn shuffled<T: Clone>(&mut self, items: &[T]) -> Vec<T> {
        let mut items = items.to_vec();
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
        items
    }
}
