//! Takes samples while the load lasts, and prints some of them with the counts of the run.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use babelqueue::Health;
use tokio::time::MissedTickBehavior;

use crate::{Result, ledger::Ledger, sample::Sample};

/// Samples of a whole run, and how many of them make a line of which the last is printed.
const SAMPLES: u32 = 240;
const LINE: u32 = 8;

pub(crate) struct Sampler {
    ledger: Arc<Ledger>,
    health: Vec<Health>,
    begun: Instant,
    pub(crate) samples: Vec<Sample>,
}

impl Sampler {
    pub(crate) fn new(ledger: &Arc<Ledger>, health: Vec<Health>) -> Self {
        let samples = Vec::with_capacity(SAMPLES as usize);
        Self { ledger: Arc::clone(ledger), health, begun: Instant::now(), samples }
    }

    /// Goes on until it is dropped, at the pace of a run of this time.
    ///
    /// # Errors
    ///
    /// There is no `/proc`.
    pub(crate) async fn run(&mut self, time: Duration) -> Result<()> {
        println!(
            "{:>9}{:>11}{:>11}{:>8}{:>8}{:>6}{:>9}{:>8}{:>10}{:>8}{:>8}{:>7}{:>9}",
            "time",
            "published",
            "handled",
            "failed",
            "retried",
            "dead",
            "redriven",
            "lag",
            "in flight",
            "MiB",
            "peak",
            "files",
            "threads",
        );
        let mut tick = tokio::time::interval(time / SAMPLES);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        tick.tick().await;
        loop {
            for _ in 0..LINE {
                tick.tick().await;
                self.samples.push(Sample::take()?);
            }
            self.print();
        }
    }

    /// The last sample, and what has happened until now.
    pub(crate) fn print(&self) {
        let Some(Sample { resident, peak, files, threads }) = self.samples.last() else { return };
        let Ledger { published, handled_once, failed, retried, dead_lettered, redriven, .. } = &*self.ledger;
        let [published, handled, failed, retried, dead, redriven] =
            [published, handled_once, failed, retried, dead_lettered, redriven].map(|count| count.load(Relaxed));
        let reports: Vec<_> = self.health.iter().map(Health::report).collect();
        let lag: u64 = reports.iter().map(babelqueue::HealthReport::lag).sum();
        let in_flight: usize = reports.iter().flat_map(|report| &report.partitions).map(|each| each.in_flight).sum();
        let seconds = self.begun.elapsed().as_secs();
        println!(
            "{:>6}:{:02}{published:>11}{handled:>11}{failed:>8}{retried:>8}{dead:>6}{redriven:>9}{lag:>8}{in_flight:>10}\
             {:>8.1}{:>8.1}{files:>7}{threads:>9}",
            seconds / 60,
            seconds % 60,
            mebibytes(*resident),
            mebibytes(*peak),
        );
    }
}

pub(crate) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
