//! This SDK against the raw client doing the same work with the same settings, side by side in one run.
//!
//! `cargo xtask bench [movers] [RECORDS]` runs it, or only its last part, on a real broker; the ratios are the result, as
//! absolute figures wander.

mod movers;
mod raw;
mod sdk;

use std::time::Duration;

use babelqueue::{Kafka, ProcessingOrder, Uuid, babel_job};
use serde::{Deserialize, Serialize};

type Error = Box<dyn std::error::Error + Send + Sync>;

const PARTITIONS: i32 = 4;
/// Sends that wait for their acknowledgement at one time.
const WINDOW: usize = 10_000;
/// Each side takes its turns; the median of them counts.
const ROUNDS: usize = 5;
const ORDERS: [ProcessingOrder; 3] = [ProcessingOrder::Partition, ProcessingOrder::Key, ProcessingOrder::Unordered];

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

#[allow(clippy::cast_precision_loss)]
fn print(what: &str, records: u64, sides: [(&str, &[Turn]); 2]) {
    let [(_, base), (_, ours)] = sides;
    let rate = |turn: &Turn| records as f64 / turn.wall.as_secs_f64();
    let median = |turns: &[Turn], of: &dyn Fn(&Turn) -> f64| {
        let mut values: Vec<_> = turns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let micros = |turn: &Turn| turn.cpu.as_secs_f64() * 1e6 / records as f64;
    for (side, turns) in sides {
        println!(
            "{what:<9} {side:<11} {:>10.0} records/s {:>7.2} µs CPU/record   turns: {}",
            median(turns, &rate),
            median(turns, &micros),
            turns.iter().map(|turn| format!("{:.0}k", rate(turn) / 1e3)).collect::<Vec<_>>().join(" "),
        );
    }
    let mut ratios: Vec<_> = base.iter().zip(ours).map(|(base, ours)| rate(ours) / rate(base)).collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "{what:<9} ratio {:.2} (median of {} pairs; {:.2} to {:.2})",
        ratios[ratios.len() / 2],
        ratios.len(),
        ratios[0],
        ratios[ratios.len() - 1],
    );
}

async fn run(records: u64, only_movers: bool) -> Result<(), Error> {
    let brokers = std::env::var("BABELQUEUE_BROKERS").map_err(|_| "needs a real broker: run `cargo xtask bench`")?;
    let kafka = Kafka::connect(&brokers)?;
    let topic = format!("bench-{}", Uuid::new_v4().simple());
    println!("{records} records, {PARTITIONS} partitions, {ROUNDS} turns each, {WINDOW} sends in flight");
    if !only_movers {
        publish_and_consume(&kafka, &brokers, &topic, records).await?;
    }
    movers::run(&kafka, &brokers, &format!("{topic}-moved"), records / 5).await
}

async fn publish_and_consume(kafka: &Kafka, brokers: &str, topic: &str, records: u64) -> Result<(), Error> {
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
    print("publish", share, [("raw client", &raw), ("babelqueue", &ours)]);

    // All that was published, from the start, by a new group each time.
    let there = 2 * (share / 10 + ROUNDS as u64 * share);
    let count = there.min(records);
    let mut raw = Vec::new();
    let mut ours = ORDERS.map(|_| Vec::new());
    for turn in 0..ROUNDS {
        let group = format!("{topic}-{turn}");
        let (raw_brokers, raw_topic, raw_group) = (brokers.to_owned(), topic.to_owned(), format!("{group}-raw"));
        let turn = tokio::task::spawn_blocking(move || raw::consume(&raw_brokers, &raw_topic, &raw_group, count));
        raw.push(turn.await??);
        for (order, ours) in ORDERS.into_iter().zip(&mut ours) {
            ours.push(sdk::consume(kafka, topic, &format!("{group}-{order:?}"), order, count, 0).await?);
        }
    }
    for (order, ours) in ORDERS.into_iter().zip(&ours) {
        print("consume", count, [("raw client", &raw), (&format!("{order:?}"), ours)]);
    }

    for topic in [format!("{topic}.retry.1"), format!("{topic}.dlq")] {
        kafka.create_topic_if_missing(&topic, PARTITIONS).await?;
    }
    let (mut none, mut some) = (Vec::new(), Vec::new());
    let order = ProcessingOrder::default();
    for turn in 0..ROUNDS {
        none.push(sdk::consume(kafka, topic, &format!("{topic}-{turn}-none"), order, count, 0).await?);
        some.push(sdk::consume(kafka, topic, &format!("{topic}-{turn}-some"), order, count, 100).await?);
    }
    print("failing", count, [("none fails", &none), ("1 % fails", &some)]);
    Ok(())
}

fn main() -> Result<(), Error> {
    // Cargo adds `--bench`.
    let records = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let only_movers = std::env::args().any(|argument| argument == "movers");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?
        .block_on(run(records, only_movers))
}
