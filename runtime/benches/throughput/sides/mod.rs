//! The sides that are compared. Each turn has a process to itself, so that nothing which an earlier one left counts.

mod alone;
mod by_hand;
mod movers;
mod payload;
mod raw;
mod sdk;
mod sending;
mod stopwatch;

use std::time::Duration;

use babelqueue::Kafka;
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    movers::{TIER, retry_topics},
    payload::{Order, Size},
    sdk::{Commits, How, Mode},
    sending::Sending,
    stopwatch::{Stopwatch, Turn},
};

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Of a topic, where a case says nothing else.
pub(crate) const PARTITIONS: i32 = 4;
/// Sends that wait for their acknowledgement at one time.
pub(crate) const WINDOW: usize = 10_000;
/// The first argument of a process that takes a turn; [`Work`] and [`Task`] follow as JSON.
pub(crate) const TURN: &str = "turn";

/// The records of a turn.
#[derive(Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) topic: String,
    /// The consumer group, which nobody else has.
    pub(crate) group: String,
    pub(crate) size: Size,
    pub(crate) records: u64,
}

/// What a turn does with them.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Work {
    /// Payloads are made and nothing else.
    Make,
    /// Payloads are decoded and nothing else.
    Decode,
    PublishRaw(Sending),
    Publish(Sending),
    ConsumeRaw,
    Consume(How),
    /// Handlers that take so long, so many of them at a time, and nothing besides.
    HandleAlone {
        pause: Duration,
        at_once: u64,
    },
    /// The records of the retry topic, by hand.
    ReinjectByHand,
    Reinject,
    /// The records of the dead-letter topic, by hand.
    RedriveByHand,
    Redrive,
}

/// Takes the turn that the words of a command line hold and prints it; false if they hold none.
pub(crate) fn take_turn(words: &[String]) -> Result<bool, Error> {
    let [turn, what, ..] = words else { return Ok(false) };
    if turn != TURN {
        return Ok(false);
    }
    let (work, task): (Work, Task) = serde_json::from_str(what)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    println!("{}", runtime.block_on(run(work, &task))?);
    Ok(true)
}

pub(crate) fn brokers() -> Result<String, Error> {
    std::env::var("BABELQUEUE_BROKERS").map_err(|_| "needs a real broker: run `cargo xtask bench`".into())
}

async fn run(work: Work, Task { topic, group, size, records }: &Task) -> Result<Turn, Error> {
    let (size, records, brokers) = (*size, *records, brokers()?);
    let kafka = Kafka::connect(&brokers)?;
    match work {
        Work::Make => Ok(payload::make(size, records)),
        Work::Decode => payload::decode(size, records),
        Work::PublishRaw(sending) => raw::publish(&brokers, topic, size, records, sending).await,
        Work::Publish(sending) => sdk::publish(&kafka, topic, size, records, sending).await,
        Work::ConsumeRaw => {
            let (topic, group) = (topic.clone(), group.clone());
            tokio::task::spawn_blocking(move || raw::consume(&brokers, &topic, &group, records)).await?
        }
        Work::HandleAlone { pause, at_once } => alone::wait(pause, at_once, records).await,
        Work::Consume(how) => sdk::consume(&kafka, topic, group, how, records).await,
        Work::ReinjectByHand => by_hand::relay(&brokers, &format!("{topic}.retry.1"), topic, group, records).await,
        Work::Reinject => movers::reinject(&kafka, &brokers, topic, group, records).await,
        Work::RedriveByHand => by_hand::relay(&brokers, &format!("{topic}.dlq"), topic, group, records).await,
        Work::Redrive => movers::redrive(&kafka, &brokers, topic, group, records).await,
    }
}
