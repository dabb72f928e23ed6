//! Redrives the dead letters now and then, as a person does when their cause is mended.

use std::{ops::Range, sync::atomic::Ordering::Relaxed, time::Duration};

use babelqueue::Kafka;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::sync::Notify;

use crate::{Result, ledger::Ledger, topics::Line};

/// The pause between two redrives, in milliseconds.
const PAUSE: Range<u64> = 5_000..25_000;

/// Goes on until it is asked to stop; a redrive that runs then is not cut short.
pub(crate) async fn redrive_now_and_then(
    kafka: &Kafka,
    lines: &[Line],
    seed: u64,
    ledger: &Ledger,
    stop: &Notify,
) -> Result<()> {
    // Other choices than those of the load.
    let mut random = StdRng::seed_from_u64(!seed);
    loop {
        let pause = Duration::from_millis(random.random_range(PAUSE));
        if tokio::time::timeout(pause, stop.notified()).await.is_ok() {
            return Ok(());
        }
        for line in lines {
            redrive(kafka, line, ledger).await?;
        }
    }
}

/// Redrives what lies there now.
async fn redrive(kafka: &Kafka, line: &Line, ledger: &Ledger) -> Result<()> {
    let Some(dead_letters) = line.retry_topics.dead_letter_topic_name() else { return Ok(()) };
    let report = kafka.redrive(dead_letters).group(line.group("redrive")).replay_bypass().run().await?;
    ledger.redriven.fetch_add(report.redriven, Relaxed);
    match report.uncommitted {
        Some(error) => Err(format!("a redrive of `{dead_letters}` could not commit: {error}").into()),
        None => Ok(()),
    }
}
