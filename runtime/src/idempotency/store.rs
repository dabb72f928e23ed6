//! What a store has to do, and how it fails.

use std::{error::Error, fmt, pin::Pin};

/// Remembers which messages were handled. Write the methods as `async fn`.
///
/// ```
/// use std::{collections::HashSet, sync::Mutex};
///
/// use babelqueue::idempotency::{IdempotencyStore, StoreError};
///
/// #[derive(Default)]
/// struct Unbounded(Mutex<HashSet<String>>);
///
/// impl Unbounded {
///     fn ids(&self) -> Result<std::sync::MutexGuard<'_, HashSet<String>>, StoreError> {
///         self.0.lock().map_err(|_| StoreError::new("a thread panicked"))
///     }
/// }
///
/// impl IdempotencyStore for Unbounded {
///     async fn is_done(&self, id: &str) -> Result<bool, StoreError> {
///         Ok(self.ids()?.contains(id))
///     }
///
///     async fn mark_done(&self, id: &str) -> Result<(), StoreError> {
///         self.ids()?.insert(id.to_owned());
///         Ok(())
///     }
///
///     async fn forget(&self, id: &str) -> Result<(), StoreError> {
///         self.ids()?.remove(id);
///         Ok(())
///     }
/// }
/// ```
///
/// Every call must end within a bounded time: the record that it is for waits.
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Whether the message was marked and not forgotten since. Ids are any text, of any length, and differ if a byte does.
    fn is_done(&self, id: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Marks a message as handled; marking it again is no error.
    fn mark_done(&self, id: &str) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes the mark; without one it does nothing.
    fn forget(&self, id: &str) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A store failed. The text says what it answered, and holds no secret.
pub struct StoreError {
    source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// A failure with this cause: an error, or a text.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: cause.into() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Clients differ in whether an error tells its cause too, and without it `db error` is all there is.
        let mut text = self.source.to_string();
        let mut cause = self.source.source();
        while let Some(error) = cause {
            let more = error.to_string();
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        write!(f, "the idempotency store failed: {text}")
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreError({self})")
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_ref())
    }
}

/// The answer of a store whose type is erased.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store whose type is erased, so that a consumer has one type whatever its store.
pub(super) trait AnyStore: Send + Sync {
    fn is_done<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;
    fn mark_done<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;
    fn forget<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;
}

impl<S: IdempotencyStore> AnyStore for S {
    fn is_done<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(IdempotencyStore::is_done(self, id))
    }

    fn mark_done<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        Box::pin(IdempotencyStore::mark_done(self, id))
    }

    fn forget<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        Box::pin(IdempotencyStore::forget(self, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Layer {
        text: &'static str,
        source: Option<Box<Layer>>,
    }

    #[test]
    fn the_text_holds_every_cause_once() {
        let inner = Layer { text: "no such table", source: None };
        let middle = Layer { text: "db error", source: Some(Box::new(inner)) };
        let outer = Layer { text: "query failed: db error", source: Some(Box::new(middle)) };
        let error = StoreError::new(outer);
        assert_eq!(error.to_string(), "the idempotency store failed: query failed: db error: no such table");
        assert!(error.source().is_some_and(|source| source.is::<Layer>()));
    }
}
