//! How much memory a reinjector takes while it holds records that are far from due: a million of them over twelve
//! partitions, for ten minutes.
//!
//! `cargo xtask bench waiting [MINUTES]` runs it on a real broker. The reinjector is a process of its own, so that nothing
//! else counts.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use babelqueue::{Event, Kafka, Publisher, RetryTopics, Uuid, babel_job};
use futures_util::stream::{self, StreamExt as _};
use serde::{Deserialize, Serialize};

type Error = Box<dyn std::error::Error + Send + Sync>;

const RECORDS: u64 = 1_000_000;
const PARTITIONS: i32 = 12;
const TIER: Duration = Duration::from_secs(24 * 3600);
/// The first argument of the process that holds the records.
const HOLD: &str = "hold";

/// With envelope and payload about 450 bytes.
#[babel_job("urn:babel:bench:order", key = order_id)]
#[derive(Serialize, Deserialize)]
struct Order {
    order_id: u64,
    note: String,
}

fn tiers(topic: &str) -> RetryTopics {
    RetryTopics::for_topic(topic).tiers([TIER])
}

/// Resident memory in KiB: now, and at its highest.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or_default()
    };
    (field("VmRSS:"), field("VmHWM:"))
}

async fn fill(kafka: &Kafka, topic: &str) -> Result<(), Error> {
    for topic in [topic.to_owned(), format!("{topic}.retry.1"), format!("{topic}.dlq")] {
        kafka.create_topic_if_missing(&topic, PARTITIONS).await?;
    }
    let publisher = Publisher::<Order>::new(kafka).topic(topic).retry_topics(tiers(topic));
    let each = |order_id| {
        let publisher = &publisher;
        async move { publisher.message(&Order { order_id, note: "x".repeat(180) }).delay(TIER).await }
    };
    let mut sends = stream::iter(0..RECORDS).map(each).buffer_unordered(10_000);
    while let Some(sent) = sends.next().await {
        sent?;
    }
    Ok(())
}

/// Runs a reinjector for so long, and prints its memory each minute.
async fn hold(kafka: &Kafka, topic: &str, minutes: u64) -> Result<(), Error> {
    let (assigned, mut is_assigned) = tokio::sync::mpsc::unbounded_channel();
    let reinjector = kafka.reinjector([tiers(topic)]).on_event(move |event| {
        if let Event::Assigned { partitions } = event {
            let _ = assigned.send(partitions.len());
        }
    });
    let handle = reinjector.handle();
    let running = tokio::spawn(reinjector.run());
    let partitions = is_assigned.recv().await;
    println!("assigned {} partitions", partitions.unwrap_or_default());
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let mut minute = tokio::time::interval(Duration::from_secs(60));
    minute.tick().await;
    while Instant::now() < end {
        minute.tick().await;
        let (now, highest) = memory();
        println!("{:>6} KiB resident, {highest} KiB at most", now);
    }
    handle.shutdown();
    let summary = running.await??;
    println!("{} records moved back too early", summary.reinjected);
    Ok(())
}

async fn run(arguments: Vec<String>) -> Result<(), Error> {
    let brokers = std::env::var("BABELQUEUE_BROKERS").map_err(|_| "needs a real broker: run `cargo xtask bench`")?;
    let kafka = Kafka::connect(&brokers)?;
    let minutes = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(10);
    if let [first, topic, ..] = arguments.as_slice()
        && first == HOLD
    {
        return hold(&kafka, topic, minutes).await;
    }
    let topic = format!("bench-{}", Uuid::new_v4().simple());
    println!("{RECORDS} records over {PARTITIONS} partitions for {minutes} minutes");
    fill(&kafka, &topic).await?;
    let mut holding = Command::new(std::env::current_exe()?);
    holding.args([HOLD, &topic, &minutes.to_string()]).stdin(Stdio::null());
    let ended = tokio::task::spawn_blocking(move || holding.status()).await??;
    if ended.success() { Ok(()) } else { Err("the process that held the records failed".into()) }
}

fn main() -> Result<(), Error> {
    // Cargo adds `--bench`.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(run(arguments))
}
