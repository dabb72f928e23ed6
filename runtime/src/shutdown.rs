//! What asks a service to end: a handle, or the signals of the operating system.

use std::sync::Arc;

use tokio::sync::Notify;

/// Asks what it was made by to shut down. Cheap to clone; asking twice is asking once.
#[derive(Clone, Debug)]
pub struct ShutdownHandle {
    asked: Arc<Notify>,
}

impl ShutdownHandle {
    pub(crate) fn new() -> Self {
        Self { asked: Arc::new(Notify::new()) }
    }

    /// Starts the shutdown; `run` then returns within its shutdown timeout.
    pub fn shutdown(&self) {
        self.asked.notify_one();
    }

    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }
}

/// Is ready when the process is asked to end: Ctrl-C, or SIGTERM as container platforms send it.
///
/// From its first poll on, neither signal ends the process by itself any more: a second Ctrl-C during the shutdown does
/// nothing, which [`ConsumerBuilder::shutdown_timeout`](crate::ConsumerBuilder::shutdown_timeout) bounds.
///
/// ```no_run
/// # async fn example(consumer: babelqueue::Consumer) -> Result<(), babelqueue::ConsumerError> {
/// let summary = consumer.run_until(babelqueue::shutdown_signal()).await?;
/// # Ok(())
/// # }
/// ```
pub async fn shutdown_signal() {
    tokio::select! {
        () = interrupted() => {}
        () = terminated() => {}
    }
}

async fn interrupted() {
    // Where no handler can be installed the signal keeps its default effect: it ends the process.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending::<()>().await;
}
