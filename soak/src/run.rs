//! The run from its beginning to its end.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use babelqueue::{CloseReport, Kafka, shutdown_signal};
use tokio::sync::Notify;

use crate::{
    Result,
    fate::Fates,
    flat::{Trend, trends},
    ledger::Ledger,
    load::{Load, most_records},
    options::Options,
    redriver::redrive_now_and_then,
    sample::Sample,
    sampler::{Sampler, mebibytes},
    service::Service,
    topics::{Line, Topics},
};

/// How long what is left at the end of the load may take: longer than two pauses between redrives.
const LAST: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(250);

/// Whether all was well.
pub(crate) async fn run(options: &Options) -> Result<bool> {
    let brokers = env::var("BABELQUEUE_BROKERS").map_err(|_| "needs a real broker: run `cargo xtask soak`")?;
    println!("{} minutes, seed {}", options.time.as_secs() / 60, options.seed);
    let kafka = Kafka::connect(&brokers)?;
    let topics = Topics::create(&brokers, &kafka).await?;
    let asked = asked_to_end();
    let soaked = soak(options, &kafka, &topics.lines, &asked).await;
    let CloseReport { undelivered } = kafka.close(Duration::from_secs(10)).await;
    let deleted = topics.delete().await;
    let (samples, mut faults) = soaked?;
    deleted?;
    if undelivered > 0 {
        faults.push(format!("{undelivered} records were still on their way when all had come to rest"));
    }
    faults.iter().for_each(|fault| println!("FAULT {fault}"));
    if asked.load(Relaxed) {
        return Err("it ended early, so memory was not judged".into());
    }
    let Some(trends) = trends(&samples) else { return Err("the run was too short to be judged".into()) };
    trends.iter().for_each(print);
    Ok(faults.is_empty() && trends.iter().all(Trend::is_flat))
}

/// The samples, and what was not as it was promised.
async fn soak(
    options: &Options,
    kafka: &Kafka,
    lines: &[Line],
    asked: &AtomicBool,
) -> Result<(Vec<Sample>, Vec<String>)> {
    let ledger = Arc::new(Ledger::new(most_records(options.time)));
    let (service, health) = Service::start(kafka, lines, Fates { seed: options.seed }, &ledger);
    let mut sampler = Sampler::new(&ledger, health);
    let stop_redriving = Notify::new();
    let load_and_settle = async {
        tokio::select! {
            published = Load::new(kafka, lines, options.seed, &ledger).run(options.time, asked) => published?,
            failed = sampler.run(options.time) => failed?,
        }
        settle(&ledger).await;
        stop_redriving.notify_one();
        Ok(())
    };
    let redriving = redrive_now_and_then(kafka, lines, options.seed, &ledger, &stop_redriving);
    tokio::select! {
        ended = async { tokio::try_join!(load_and_settle, redriving) } => drop(ended?),
        // It says why when it is stopped.
        () = service.has_failed() => {}
    }
    sampler.print();
    let left_undone = service.stop().await?;
    println!("{} records were handled again", ledger.handled_again.load(Relaxed));
    Ok((sampler.samples, [ledger.faults(), left_undone].concat()))
}

/// Turns true when the process is asked to end: the load then ends, and all else as it always does.
fn asked_to_end() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    let ask = Arc::clone(&asked);
    tokio::spawn(async move {
        shutdown_signal().await;
        ask.store(true, Relaxed);
    });
    asked
}

/// Waits until all is handled; what takes too long is told as lost.
async fn settle(ledger: &Ledger) {
    let deadline = Instant::now() + LAST;
    while !ledger.is_settled() && Instant::now() < deadline {
        tokio::time::sleep(POLL).await;
    }
}

fn print(trend: &Trend) {
    let Trend { what, second_quarter, last_quarter, most } = trend;
    let verdict = if trend.is_flat() { "flat" } else { "NOT FLAT" };
    let told = |value: u64| match value {
        bytes if *what == "resident bytes" => format!("{:.1} MiB", mebibytes(bytes)),
        count => count.to_string(),
    };
    println!(
        "{what}: {} in the second quarter, {} in the last, at most {}: {verdict}",
        told(*second_quarter),
        told(*last_quarter),
        told(*most)
    );
}
