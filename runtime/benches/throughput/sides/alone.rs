//! Handlers without a message: what nobody can exceed who runs so many of them at a time.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{Error, Stopwatch, Turn};

/// Waits as often as there are records, so many times at once.
pub(super) async fn wait(pause: Duration, at_once: u64, records: u64) -> Result<Turn, Error> {
    let watch = Stopwatch::start();
    let mut running = JoinSet::new();
    for task in 0..at_once {
        let calls = records * (task + 1) / at_once - records * task / at_once;
        running.spawn(async move {
            for _ in 0..calls {
                tokio::time::sleep(pause).await;
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(watch.stop())
}
