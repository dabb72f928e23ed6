//! The load: phases of random rates, bursts and pauses, of records with random sizes.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use babelqueue::{Kafka, PublishError, Publisher};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::{ledger::Ledger, note::Note, topics::Line};

/// Records a second that are published on the average, about.
const MEAN: u64 = 1500;
/// How often a phase publishes what is due.
const STEP: Duration = Duration::from_millis(50);
/// How many records are on their way at once.
const AT_ONCE: usize = 1000;
const CUSTOMERS: u64 = 1000;

/// A part of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phase {
    records: u64,
    /// Over which they are spread; where they are not, they all come at once.
    time: Duration,
}

/// More records than a load of this time publishes.
pub(crate) fn most_records(time: Duration) -> u64 {
    2 * MEAN * time.as_secs()
}

/// Random choices that are the same for the same seed.
struct Choices(StdRng);

impl Choices {
    fn phase(&mut self) -> Phase {
        let millis = |milliseconds| Duration::from_millis(milliseconds);
        match self.0.random_range(0..10) {
            0..2 => Phase { records: 0, time: millis(self.0.random_range(500..4000)) },
            2..4 => Phase { records: self.0.random_range(1000..7000), time: Duration::ZERO },
            _ => {
                let milliseconds = self.0.random_range(1000..7000);
                let rate = self.0.random_range(300..2600);
                Phase { records: rate * milliseconds / 1000, time: millis(milliseconds) }
            }
        }
    }

    fn note(&mut self, number: u64) -> Note {
        let length = match self.0.random_range(0..1000) {
            0..2 => self.0.random_range(10_000..100_000),
            _ => self.0.random_range(0..800),
        };
        Note { number, customer: self.0.random_range(0..CUSTOMERS), text: "x".repeat(length) }
    }
}

pub(crate) struct Load<'a> {
    publishers: Vec<Publisher<Note>>,
    choices: Choices,
    /// The number of the next record.
    next: u64,
    ledger: &'a Ledger,
}

impl<'a> Load<'a> {
    pub(crate) fn new(kafka: &Kafka, lines: &[Line], seed: u64, ledger: &'a Ledger) -> Self {
        let publishers = lines.iter().map(|line| Publisher::new(kafka).topic(&line.topic)).collect();
        Self { publishers, choices: Choices(StdRng::seed_from_u64(seed)), next: 0, ledger }
    }

    /// Publishes for so long, or until it is asked to end.
    pub(crate) async fn run(mut self, time: Duration, asked_to_end: &AtomicBool) -> Result<(), PublishError> {
        let end = Instant::now() + time;
        let goes_on = || Instant::now() < end && !asked_to_end.load(Relaxed);
        while goes_on() {
            let phase = self.choices.phase();
            let begun = Instant::now();
            let mut published = 0;
            while goes_on() {
                let due = phase.due(begun.elapsed());
                self.publish(due - published).await?;
                published = due;
                if begun.elapsed() >= phase.time {
                    break;
                }
                tokio::time::sleep(STEP).await;
            }
        }
        Ok(())
    }

    /// The next records, as many as the ledger has room for, and waits for their acknowledgement.
    async fn publish(&mut self, records: u64) -> Result<(), PublishError> {
        let numbers = self.next..(self.next + records).min(self.ledger.room());
        self.next = numbers.end;
        let (publishers, choices, ledger) = (&self.publishers, &mut self.choices, self.ledger);
        let sends = stream::iter(numbers).zip(stream::iter(publishers.iter().cycle())).map(|(number, publisher)| {
            let note = choices.note(number);
            async move {
                publisher.publish(&note).await?;
                ledger.published.fetch_add(1, Relaxed);
                Ok(())
            }
        });
        sends.buffer_unordered(AT_ONCE).try_collect().await
    }
}

impl Phase {
    /// How many of its records are due after this time.
    fn due(self, elapsed: Duration) -> u64 {
        if elapsed >= self.time {
            return self.records;
        }
        (self.records as f64 * elapsed.as_secs_f64() / self.time.as_secs_f64()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_about_what_it_says_and_one_seed_gives_one_load() {
        for seed in 0..5 {
            let mut choices = Choices(StdRng::seed_from_u64(seed));
            let phases: Vec<_> = (0..10_000).map(|_| choices.phase()).collect();
            let seconds = phases.iter().map(|phase| phase.time).sum::<Duration>().as_secs();
            let rate = phases.iter().map(|phase| phase.records).sum::<u64>() / seconds;
            assert!((MEAN * 9 / 10..MEAN * 11 / 10).contains(&rate), "{rate}");
            let mut again = Choices(StdRng::seed_from_u64(seed));
            assert!(phases.iter().all(|phase| *phase == again.phase()));
        }
    }

    #[test]
    fn a_burst_comes_at_once_and_the_rest_spread_over_its_time() {
        let burst = Phase { records: 500, time: Duration::ZERO };
        assert_eq!(burst.due(Duration::ZERO), 500);
        let steady = Phase { records: 500, time: Duration::from_secs(5) };
        assert_eq!([0, 1, 5, 9].map(|seconds| steady.due(Duration::from_secs(seconds))), [0, 100, 500, 500]);
    }
}
