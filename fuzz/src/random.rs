//! Random choices that are the same for the same seed.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

pub(crate) struct Random(StdRng);

impl Random {
    /// The choices of one input of a run.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&index.to_le_bytes());
        Self(StdRng::from_seed(bytes))
    }

    /// From 0 to `count` - 1; 0 where there is nothing to choose from.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count.max(1))
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.random()
    }

    /// Mostly small, now and then up to `most`.
    pub(crate) fn few(&mut self, most: usize) -> usize {
        let bound = self.below(most + 1);
        self.below(bound + 1)
    }
}
