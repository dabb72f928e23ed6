//! What is to become of each record, by its number and the seed alone.

use std::time::Duration;

/// Deliveries of a record before it is a dead letter, the first one included.
pub(crate) const TRIES: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fates {
    pub(crate) seed: u64,
}

impl Fates {
    /// Whether a delivery fails: of 1 % of the records, most of them once, some twice, and a few until they are redriven.
    pub(crate) fn fails(self, number: u64, attempts: u32, is_replay: bool) -> bool {
        let failures = match self.draw(number) % 10_000 {
            0..80 => 1,
            80..95 => 2,
            95..100 => TRIES,
            _ => 0,
        };
        !is_replay && attempts < failures
    }

    /// How long its handler takes: mostly no time.
    pub(crate) fn pause(self, number: u64) -> Duration {
        let drawn = self.draw(!number);
        match drawn % 100 {
            0..5 => Duration::from_millis(1 + drawn / 100 % 20),
            _ => Duration::ZERO,
        }
    }

    /// A number that differs with every bit of the seed and of the number (Steele's `SplitMix`).
    fn draw(self, number: u64) -> u64 {
        let mut bits = self.seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FATES: Fates = Fates { seed: 7 };

    fn failing(attempts: u32) -> usize {
        (0..100_000).filter(|number| FATES.fails(*number, attempts, false)).count()
    }

    #[test]
    fn one_percent_fail_and_fewer_each_time() {
        let counts = [0, 1, 2, 3].map(failing);
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
        assert!((150..250).contains(&counts[1]), "{counts:?}");
        assert!((25..75).contains(&counts[2]), "{counts:?}");
        assert_eq!(counts[3], 0);
    }

    #[test]
    fn a_dead_letter_that_is_redriven_succeeds() {
        let dead = (0..100_000).find(|number| FATES.fails(*number, TRIES - 1, false)).unwrap();
        assert!(!FATES.fails(dead, 0, true));
    }
}
