//! This SDK against the raw client doing the same work with the same settings, side by side in one run.
//!
//! `cargo xtask bench [movers] [RECORDS] [--write]` runs it, or only its last part, on a real broker; the ratios are the
//! result, as absolute figures wander. With `--write` they are written to `BENCHMARKS.md`.

mod movers;
mod raw;
mod report;
mod sdk;

use std::time::Duration;

use babelqueue::{CommitPolicy, Kafka, ProcessingOrder, Uuid, babel_job};
use serde::{Deserialize, Serialize};

use self::{report::Report, sdk::How};

type Error = Box<dyn std::error::Error + Send + Sync>;

const PARTITIONS: i32 = 4;
/// Sends that wait for their acknowledgement at one time.
const WINDOW: usize = 10_000;
/// Each side takes its turns; the median of them counts.
const ROUNDS: usize = 5;
/// Ways to consume, each with its name.
const WAYS: [(&str, How); 4] = [
    ("order by partition", How::DEFAULT),
    ("order by key", How { order: ProcessingOrder::Key, ..How::DEFAULT }),
    ("unordered", How { order: ProcessingOrder::Unordered, ..How::DEFAULT }),
    ("batches of 500", How { batches: true, ..How::DEFAULT }),
];
/// Ways to commit besides the default one.
const COMMITS: [(&str, CommitPolicy); 2] =
    [("commit by 100", CommitPolicy::Count(100)), ("commit each record", CommitPolicy::EachRecord)];

/// With envelope and payload about 450 bytes.
#[babel_job("urn:babel:bench:order", key = order_id)]
#[derive(Clone, Serialize, Deserialize)]
struct Order {
    order_id: u64,
    customer: String,
    lines: Vec<Line>,
    note: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct Line {
    sku: String,
    quantity: u32,
    unit_price_cents: i64,
}

fn order(order_id: u64) -> Order {
    Order {
        order_id,
        customer: "Ada Lovelace".to_owned(),
        lines: vec![Line { sku: "SKU-1042".to_owned(), quantity: 3, unit_price_cents: 1299 }; 2],
        note: "leave it with the neighbour".to_owned(),
    }
}

/// What one turn took.
#[derive(Clone, Copy)]
struct Turn {
    wall: Duration,
    cpu: Duration,
}

/// Time of the process's threads on a processor, where the system tells.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name in parentheses: user and system time are the 12th and 13th field, in hundredths of a second.
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    Duration::from_millis(10 * fields.iter().skip(11).take(2).sum::<u64>())
}

struct Stopwatch {
    start: std::time::Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Self { cpu: cpu(), start: std::time::Instant::now() }
    }

    fn stop(&self) -> Turn {
        Turn { wall: self.start.elapsed(), cpu: cpu().saturating_sub(self.cpu) }
    }
}

async fn run(records: u64, only_movers: bool, write: bool) -> Result<(), Error> {
    let brokers = std::env::var("BABELQUEUE_BROKERS").map_err(|_| "needs a real broker: run `cargo xtask bench`")?;
    let kafka = Kafka::connect(&brokers)?;
    let topic = format!("bench-{}", Uuid::new_v4().simple());
    let settings = format!(
        "{records} records of about 450 bytes, {PARTITIONS} partitions, {ROUNDS} turns each, {WINDOW} sends in flight"
    );
    println!("{settings}");
    let mut report = Report::default();
    if !only_movers {
        publish_and_consume(&kafka, &brokers, &topic, records, &mut report).await?;
    }
    movers::run(&kafka, &brokers, &format!("{topic}-moved"), records / 5, &mut report).await?;
    if write {
        report.write(&settings)?;
    }
    Ok(())
}

async fn publish_and_consume(
    kafka: &Kafka,
    brokers: &str,
    topic: &str,
    records: u64,
    report: &mut Report,
) -> Result<(), Error> {
    kafka.create_topic_if_missing(topic, PARTITIONS).await?;
    let share = records / ROUNDS as u64;
    let (raw_producer, publisher) = (raw::producer(brokers)?, sdk::publisher(kafka, topic));
    raw::publish(&raw_producer, topic, 0..share / 10).await?;
    sdk::publish(&publisher, 0..share / 10).await?;
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raw.push(raw::publish(&raw_producer, topic, 0..share).await?);
        ours.push(sdk::publish(&publisher, 0..share).await?);
    }
    report.add("publish", share, ("raw client", &raw), ("babelqueue", &ours));

    // All that was published, from the start, by a new group each time.
    let there = 2 * (share / 10 + ROUNDS as u64 * share);
    let count = there.min(records);
    let mut raw = Vec::new();
    let mut ours = WAYS.map(|_| Vec::new());
    for turn in 0..ROUNDS {
        let group = format!("{topic}-{turn}");
        let (raw_brokers, raw_topic, raw_group) = (brokers.to_owned(), topic.to_owned(), format!("{group}-raw"));
        let turn = tokio::task::spawn_blocking(move || raw::consume(&raw_brokers, &raw_topic, &raw_group, count));
        raw.push(turn.await??);
        for (way, ((_, how), ours)) in WAYS.into_iter().zip(&mut ours).enumerate() {
            ours.push(sdk::consume(kafka, topic, &format!("{group}-{way}"), how, count).await?);
        }
    }
    for ((name, _), ours) in WAYS.into_iter().zip(&ours) {
        report.add("consume", count, ("raw client", &raw), (name, ours));
    }

    for topic in [format!("{topic}.retry.1"), format!("{topic}.dlq")] {
        kafka.create_topic_if_missing(&topic, PARTITIONS).await?;
    }
    let failing = How { failing: 100, ..How::DEFAULT };
    against_default(kafka, topic, count, report, "failing", "1 % fails", failing).await?;
    for (name, commit) in COMMITS {
        // A round trip a record takes long.
        let how = How { commit, ..How::DEFAULT };
        against_default(kafka, topic, count / 50, report, "commit", name, how).await?;
    }
    Ok(())
}

async fn against_default(
    kafka: &Kafka,
    topic: &str,
    count: u64,
    report: &mut Report,
    what: &str,
    name: &str,
    how: How,
) -> Result<(), Error> {
    let (mut default, mut other) = (Vec::new(), Vec::new());
    for turn in 0..ROUNDS {
        let group = format!("{topic}-{name}-{turn}").replace([' ', '%'], "-");
        default.push(sdk::consume(kafka, topic, &format!("{group}-default"), How::DEFAULT, count).await?);
        other.push(sdk::consume(kafka, topic, &group, how, count).await?);
    }
    report.add(what, count, ("default", &default), (name, &other));
    Ok(())
}

fn main() -> Result<(), Error> {
    // Cargo adds `--bench`.
    let records = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let told = |word: &str| std::env::args().any(|argument| argument == word);
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(run(
        records,
        told("movers"),
        told("--write"),
    ))
}
