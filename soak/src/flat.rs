//! Whether a run was flat. Pure.
//!
//! The samples of the run are compared by quarters: the first one, in which caches and queues fill, does not count, and
//! the median of the last one is held against that of the second. A median does not see how high bursts go, and sees
//! what stays.

use crate::sample::Sample;

/// By how much memory may be larger in the last quarter than in the second: so many hundredths, and so many bytes.
const MEMORY_PERCENT: u64 = 10;
const MEMORY_BYTES: u64 = 4 << 20;
/// By how many file handles, or threads: those of a redrive that happens to run.
const HANDLES: u64 = 2;

/// Something that may grow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trend {
    pub(crate) what: &'static str,
    /// Its medians.
    pub(crate) second_quarter: u64,
    pub(crate) last_quarter: u64,
    /// What the last one may be at most.
    pub(crate) most: u64,
}

impl Trend {
    pub(crate) fn is_flat(&self) -> bool {
        self.last_quarter <= self.most
    }
}

/// Resident bytes, file handles and threads; `None` where the samples are too few to tell.
pub(crate) fn trends(samples: &[Sample]) -> Option<[Trend; 3]> {
    let trend = |what, of: fn(&Sample) -> u64, most: fn(u64) -> u64| {
        let quarter = |number: usize| {
            median(samples.get(samples.len() * (number - 1) / 4..samples.len() * number / 4)?.iter().map(of).collect())
        };
        let (second_quarter, last_quarter) = (quarter(2)?, quarter(4)?);
        Some(Trend { what, second_quarter, last_quarter, most: most(second_quarter) })
    };
    Some([
        trend("resident bytes", |sample| sample.resident, |bytes| bytes + bytes * MEMORY_PERCENT / 100 + MEMORY_BYTES)?,
        trend("file handles", |sample| sample.files, |files| files + HANDLES)?,
        trend("threads", |sample| sample.threads, |threads| threads + HANDLES)?,
    ])
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// What is not flat of so many samples.
    fn growing(count: u64, sample: impl Fn(u64) -> Sample) -> Vec<&'static str> {
        let samples: Vec<_> = (0..count).map(sample).collect();
        let trends = trends(&samples).unwrap();
        trends.into_iter().filter(|trend| !trend.is_flat()).map(|trend| trend.what).collect()
    }

    fn memory(resident: u64) -> Sample {
        Sample { resident, peak: resident, files: 40, threads: 20 }
    }

    #[test]
    fn a_leak_of_one_percent_a_sample_is_caught() {
        assert_eq!(growing(240, |index| memory(40 * MIB + index * 40 * MIB / 100)), ["resident bytes"]);
    }

    #[test]
    fn a_leak_that_adds_a_fifth_over_half_the_run_is_caught() {
        assert_eq!(growing(240, |index| memory(60 * MIB + index * 12 * MIB / 120)), ["resident bytes"]);
    }

    #[test]
    fn a_sawtooth_is_flat_whatever_its_period() {
        for period in [2, 7, 30, 60] {
            assert!(growing(240, |index| memory(40 * MIB + index % period * MIB)).is_empty(), "{period}");
        }
    }

    #[test]
    fn what_fills_at_the_start_and_a_burst_at_the_end_are_flat() {
        assert!(growing(240, |index| memory((index + 1).min(60) * MIB)).is_empty());
        assert!(growing(240, |index| memory(if index > 220 { 400 * MIB } else { 40 * MIB })).is_empty());
    }

    #[test]
    fn file_handles_and_threads_may_not_grow() {
        let open = |files, threads| Sample { resident: MIB, peak: MIB, files, threads };
        assert_eq!(growing(240, |index| open(40 + index / 30, 20)), ["file handles"]);
        assert_eq!(growing(240, |index| open(40, 20 + index / 30)), ["threads"]);
        // A redrive now and then.
        assert!(growing(240, |index| open(40 + index % 3 / 2 * 9, 20 + index % 3 / 2 * 4)).is_empty());
    }

    #[test]
    fn too_few_samples_say_nothing() {
        assert_eq!(trends(&[]), None);
        assert_eq!(trends(&[memory(MIB)]), None);
    }
}
