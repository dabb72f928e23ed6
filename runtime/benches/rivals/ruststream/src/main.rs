//! The same work by RustStream: a service with one handler that takes the payload decoded, measured as the others are.
//!
//! `rival-ruststream default|same BROKERS TOPIC GROUP RECORDS` prints what its turn took.

#[path = "../../../throughput/sides/stopwatch.rs"]
mod stopwatch;

use std::{
    env,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use ruststream_rdkafka::prelude::*;
use serde::Deserialize;
use tokio::sync::Notify;

use self::stopwatch::{Stopwatch, Turn};

type Error = Box<dyn std::error::Error + Send + Sync>;

static WORDS: OnceLock<Words> = OnceLock::new();
static SEEN: AtomicU64 = AtomicU64::new(0);
static START: OnceLock<Stopwatch> = OnceLock::new();
static TURN: OnceLock<Turn> = OnceLock::new();
static DONE: Notify = Notify::const_new();

#[derive(Clone)]
struct Words {
    same_settings: bool,
    brokers: String,
    topic: String,
    group: String,
    records: u64,
}

/// What the handler is for; the other members of the envelope are skipped.
#[derive(Deserialize)]
struct Envelope {
    data: Order,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Order {
    order_id: u64,
    customer: String,
    lines: Vec<Line>,
    note: String,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Line {
    sku: String,
    quantity: u32,
    unit_price_cents: i64,
}

fn words() -> Option<Words> {
    let mut words = env::args().skip(1);
    Some(Words {
        same_settings: words.next()? == "same",
        brokers: words.next()?,
        topic: words.next()?,
        group: words.next()?,
        records: words.next()?.parse().ok()?,
    })
}

fn word(of: impl FnOnce(&Words) -> &String) -> &'static str {
    WORDS.get().map_or("", |words| of(words))
}

/// As it comes, but from the first record on.
#[subscriber(KafkaTopic::new(word(|it| &it.topic)).group(word(|it| &it.group)).start(StartOffset::Earliest))]
async fn as_it_comes(envelope: &Envelope) -> HandlerOutcome {
    handle(envelope)
}

/// With what the other SDK sets: a commit waits for the handler, too.
#[subscriber(
    KafkaTopic::new(word(|it| &it.topic))
        .group(word(|it| &it.group))
        .start(StartOffset::Earliest)
        .commit(Commit::Tracked)
        .config("auto.commit.interval.ms", "1000")
        .config("fetch.queue.backoff.ms", "10")
        .config("fetch.wait.max.ms", "100")
        .config("queued.min.messages", "10000")
        .config("queued.max.messages.kbytes", "16384")
)]
async fn same_settings(envelope: &Envelope) -> HandlerOutcome {
    handle(envelope)
}

fn handle(envelope: &Envelope) -> HandlerOutcome {
    let start = START.get_or_init(Stopwatch::start);
    std::hint::black_box(&envelope.data);
    if SEEN.fetch_add(1, Ordering::Relaxed) + 1 == WORDS.get().map_or(0, |words| words.records) {
        let _ = TURN.set(start.stop());
        DONE.notify_one();
    }
    HandlerOutcome::ack()
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Error> {
    let words = WORDS.get_or_init(|| words().unwrap_or_else(|| std::process::exit(2)));
    let service = RustStream::new(AppInfo::new("orders", "0.1.0")).with_broker(
        KafkaBroker::new([words.brokers.as_str()]),
        |broker| {
            if words.same_settings {
                broker.include(same_settings);
            } else {
                broker.include(as_it_comes);
            }
        },
    );
    service.run_until(DONE.notified()).await?;
    println!("{}", TURN.get().ok_or("no turn")?);
    Ok(())
}
