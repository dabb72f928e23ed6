//! Asks a consumer how it fares, from anywhere.

use std::{fmt, sync::Arc};

use crate::{health::HealthReport, kafka::Standing};

/// Tells how a consumer fares, at any time and from any thread; from [`Consumer::health`](crate::Consumer::health).
/// Cheap to clone.
///
/// ```no_run
/// # use babelqueue::{Consumer, ConsumerError};
/// # async fn serve_http(answer: impl Fn() -> (u16, String)) {}
/// # async fn example(consumer: Consumer) -> Result<(), ConsumerError> {
/// let health = consumer.health();
/// tokio::spawn(serve_http(move || {
///     let report = health.report();
///     let status = if report.is_live() { 200 } else { 503 };
///     (status, serde_json::to_string(&report).unwrap_or_default())
/// }));
/// consumer.run_until(babelqueue::shutdown_signal()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Health {
    standing: Arc<Standing>,
}

impl Health {
    pub(super) fn of(standing: &Arc<Standing>) -> Self {
        Self { standing: Arc::clone(standing) }
    }

    /// How the consumer fares now. Does not ask the broker.
    #[must_use]
    pub fn report(&self) -> HealthReport {
        self.standing.report()
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Health").field(&self.report()).finish()
    }
}

/// The consumer has ended when this is dropped, however it ends.
pub(super) struct UntilTheEnd<'a>(pub(super) &'a Standing);

impl Drop for UntilTheEnd<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
