//! What the stores on a server share: every call has an end, and so has every mark.

use std::{error::Error, time::Duration};

use super::store::StoreError;

/// What a client answers instead, of whatever type.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// How long a message is remembered unless told otherwise: as long as Kafka keeps records by default.
pub(super) const REMEMBER_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a call may take unless told otherwise.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);

/// The lifetime of a mark in milliseconds: at least one, as a server takes no zero; at most a century, which fits its
/// calendar.
pub(super) fn lifetime_ms(remember_for: Duration) -> i64 {
    const CENTURY: i64 = 100 * 365 * 24 * 60 * 60 * 1000;
    i64::try_from(remember_for.as_millis()).unwrap_or(CENTURY).clamp(1, CENTURY)
}

/// Awaits an answer of the server, but not for ever.
pub(super) async fn within<T, E>(timeout: Duration, call: impl Future<Output = Result<T, E>>) -> Result<T, StoreError>
where
    E: Into<BoxError>,
{
    match tokio::time::timeout(timeout, call).await {
        Ok(answer) => answer.map_err(StoreError::new),
        Err(_) => Err(StoreError::new(format!("no answer within {timeout:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_lifetime_is_refused_by_a_server() {
        assert_eq!(lifetime_ms(Duration::ZERO), 1);
        assert_eq!(lifetime_ms(Duration::from_secs(2)), 2000);
        assert_eq!(lifetime_ms(Duration::MAX), 3_153_600_000_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_ends() {
        let silent = std::future::pending::<Result<(), StoreError>>();
        let error = within(Duration::from_millis(1500), silent).await.unwrap_err();
        assert_eq!(error.to_string(), "the idempotency store failed: no answer within 1.5s");
    }
}
