//! The ways to publish, the same for every side.

use std::future::Future;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};

use super::{Error, Stopwatch, Turn, WINDOW};

/// How many sends wait for their acknowledgement at once.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Sending {
    OneAtATime,
    Pipelined,
    /// Each of so many tasks sends one at a time.
    FromTasks(u64),
}

/// Sends so many records and waits until all of them are acknowledged.
pub(super) async fn measure<S, F>(sending: Sending, records: u64, send: S) -> Result<Turn, Error>
where
    S: Fn(u64) -> F + Clone + Send + 'static,
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    // Connects, and asks where the topic's partitions are.
    send(0).await?;
    let watch = Stopwatch::start();
    match sending {
        Sending::OneAtATime => all(0..records, 1, send).await?,
        Sending::Pipelined => all(0..records, WINDOW, send).await?,
        Sending::FromTasks(tasks) => {
            let mut running = tokio::task::JoinSet::new();
            for task in 0..tasks {
                let numbers = (records * task / tasks)..(records * (task + 1) / tasks);
                running.spawn(all(numbers, 1, send.clone()));
            }
            while let Some(sent) = running.join_next().await {
                sent??;
            }
        }
    }
    Ok(watch.stop())
}

async fn all<F>(numbers: std::ops::Range<u64>, at_once: usize, send: impl Fn(u64) -> F) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    stream::iter(numbers).map(send).buffer_unordered(at_once).try_for_each(|()| async { Ok(()) }).await
}
