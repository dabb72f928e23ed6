//! A service that runs in a kit.

use std::{fmt::Display, future::Future, sync::Arc};

use tokio::task::JoinHandle;

use super::{TestKitError, journal::Journal};
use crate::{member::ended_or_panicked, shutdown::ShutdownHandle};

/// Dropping it ends the service at once.
pub(super) struct Task<T, E> {
    shutdown: ShutdownHandle,
    running: JoinHandle<Result<T, E>>,
}

impl<T, E> Task<T, E>
where
    T: Send + 'static,
    E: Display + Send + 'static,
    TestKitError: From<E>,
{
    /// Starts it; the journal is told when and why it ends.
    pub(super) fn start(
        name: &'static str,
        journal: &Arc<Journal>,
        shutdown: ShutdownHandle,
        run: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Self {
        let ending = Ending { name, journal: Arc::clone(journal) };
        let running = tokio::spawn(async move {
            let result = run.await;
            ending.journal.end(match &result {
                Ok(_) => format!("the {name} has ended"),
                Err(error) => format!("the {name} has ended: {error}"),
            });
            result
        });
        Self { shutdown, running }
    }

    /// Shuts it down; a panic of a hook of the user is passed on.
    pub(super) async fn end(mut self) -> Result<T, TestKitError> {
        self.shutdown.shutdown();
        let ended = ended_or_panicked((&mut self.running).await).ok_or(TestKitError::RuntimeEnded)?;
        Ok(ended?)
    }
}

impl<T, E> Drop for Task<T, E> {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Tells of an end that nobody else tells of.
struct Ending {
    name: &'static str,
    journal: Arc<Journal>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.journal.end(format!("the {} has panicked, in a hook of the test", self.name));
    }
}
