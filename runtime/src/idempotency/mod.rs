//! The idempotency guard (contract section 6): a message that was handled once is not handled again.
//!
//! Delivery is at least once: after a crash, a rebalance or a producer's second try a message comes again. The guard
//! remembers the `meta.id` of each message whose handling succeeded, and skips it from then on. A failed message is not
//! remembered, so that its retries run; one without an id always runs.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use babelqueue::{
//!     Kafka,
//!     idempotency::{Idempotency, MemoryStore, StoreFailure},
//! };
//! # use babelqueue::{Delivery, HandlerError, babel_job, routes};
//! # use serde::{Deserialize, Serialize};
//! # #[babel_job("urn:babel:orders:created")]
//! # #[derive(Serialize, Deserialize)]
//! # struct OrderCreated { order_id: u64 }
//! # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> { Ok(()) }
//!
//! # async fn service() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new(100_000, Duration::from_secs(3600));
//! let kafka = Kafka::connect("localhost:9092")?;
//! kafka
//!     .consumer("orders-workers")
//!     .idempotency(Idempotency::new(store, StoreFailure::RunAnyway))
//!     .serve(routes![OrderCreated => on_created])
//!     .run()
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! What it is not: a lock, and exactly-once. Two consumers that get the same message at the same moment both run it, and
//! a crash between the end of a handler and the note in the store runs it once more. A handler whose effect must never
//! happen twice puts the message's id into the same transaction as the effect.
//!
//! What a store remembers belongs to one consumer group: two groups each handle the same message once, so they must not
//! share a scope of a store, nor a [`MemoryStore`].

mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod remote;
mod store;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

#[cfg(feature = "postgres")]
pub use deadpool_postgres;

#[cfg(feature = "postgres")]
pub use self::postgres::PostgresStore;
#[cfg(feature = "redis")]
pub use self::redis::RedisStore;
use self::store::AnyStore;
pub use self::{
    memory::MemoryStore,
    store::{IdempotencyStore, StoreError},
};
use crate::{handler::HandlerError, headers::is_blank};

/// What happens to a message when the store does not say whether it was handled before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFailure {
    /// It is handled, perhaps a second time. For effects that bear it: the consumer goes on without its store.
    RunAnyway,
    /// It is not handled, and counts as failed: a later delivery may find the store back. Without retry topics that ends
    /// the consumer; with them an outage that outlasts the tries sends messages to the dead-letter topic.
    FailRecord,
}

/// What the guard did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// It was handled now.
    Ran,
    /// It had been handled before, and was not handled again.
    Skipped,
}

/// The guard. Give it to a consumer by [`ConsumerBuilder::idempotency`](crate::ConsumerBuilder::idempotency), for all
/// its jobs; or use it inside a handler, for a part of the work or for some jobs only. Clones share their store.
///
/// ```
/// use babelqueue::{Delivery, HandlerError, babel_job, idempotency::Idempotency};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created")]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// async fn on_created(guard: &Idempotency, order: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
///     let charge = async {
///         println!("charging order {}", order.order_id);
///         Ok(())
///     };
///     guard.run(cx.message_id(), charge).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Idempotency {
    store: Arc<dyn AnyStore>,
    on_failure: StoreFailure,
    /// Whether the store failed when last asked: a failing store is told once, not with every record.
    failing: Arc<AtomicBool>,
}

impl Idempotency {
    /// A guard with this store.
    pub fn new(store: impl IdempotencyStore, on_failure: StoreFailure) -> Self {
        Self { store: Arc::new(store), on_failure, failing: Arc::default() }
    }

    /// Handles a message unless it was handled before: `work` is awaited or dropped. If it succeeds, the message is
    /// remembered. `message_id` is its `meta.id`; an empty or blank one cannot be remembered, so its work always runs.
    ///
    /// A message that was handled but could not be remembered counts as handled, whatever [`StoreFailure`] says: to fail
    /// it would be to handle it again for certain, where it may never come again.
    ///
    /// # Errors
    ///
    /// The work failed; or the store did, with [`StoreFailure::FailRecord`].
    pub async fn run(
        &self,
        message_id: &str,
        work: impl Future<Output = Result<(), HandlerError>>,
    ) -> Result<Guarded, HandlerError> {
        if self.has_seen(message_id).await? {
            return Ok(Guarded::Skipped);
        }
        work.await?;
        self.remember(message_id).await;
        Ok(Guarded::Ran)
    }

    /// Whether a message was handled before.
    pub(crate) async fn has_seen(&self, message_id: &str) -> Result<bool, StoreError> {
        if is_blank(message_id) {
            return Ok(false);
        }
        match self.note(self.store.is_done(message_id).await) {
            Ok(true) => {
                tracing::info!(message_id, "handled before, skipped");
                Ok(true)
            }
            Err(error) if self.on_failure == StoreFailure::FailRecord => Err(error),
            Ok(false) | Err(_) => Ok(false),
        }
    }

    /// A message was handled.
    pub(crate) async fn remember(&self, message_id: &str) {
        if is_blank(message_id) {
            return;
        }
        if let Err(error) = self.note(self.store.mark_done(message_id).await) {
            tracing::debug!(message_id, "not remembered: {error}");
        }
    }

    /// Forgets a message: its next delivery is handled again.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn forget(&self, message_id: &str) -> Result<(), StoreError> {
        self.store.forget(message_id).await
    }

    /// Tells when the store begins to fail and when it answers again.
    fn note<T>(&self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        let failed_before = self.failing.swap(answer.is_err(), Ordering::Relaxed);
        match &answer {
            Err(error) if !failed_before => {
                tracing::warn!(on_failure = ?self.on_failure, "{error}");
            }
            Ok(_) if failed_before => tracing::info!("the idempotency store answers again"),
            _ => {}
        }
        answer
    }
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency").field("on_failure", &self.on_failure).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Mutex, time::Duration};

    use super::*;

    fn memory() -> Idempotency {
        Idempotency::new(MemoryStore::new(10, Duration::from_secs(60)), StoreFailure::FailRecord)
    }

    /// A store that answers as long as it is up.
    #[derive(Clone, Default)]
    struct Unsteady {
        down: Arc<AtomicBool>,
        marked: Arc<Mutex<Vec<String>>>,
    }

    impl Unsteady {
        fn answer<T>(&self, value: T) -> Result<T, StoreError> {
            if self.down.load(Ordering::Relaxed) { Err(StoreError::new("unplugged")) } else { Ok(value) }
        }
    }

    impl IdempotencyStore for Unsteady {
        async fn is_done(&self, id: &str) -> Result<bool, StoreError> {
            self.answer(self.marked.lock().unwrap().iter().any(|marked| marked == id))
        }

        async fn mark_done(&self, id: &str) -> Result<(), StoreError> {
            self.answer(())?;
            self.marked.lock().unwrap().push(id.to_owned());
            Ok(())
        }

        async fn forget(&self, id: &str) -> Result<(), StoreError> {
            self.marked.lock().unwrap().retain(|marked| marked != id);
            self.answer(())
        }
    }

    #[tokio::test]
    async fn the_work_of_a_message_that_was_handled_is_not_begun() {
        let guard = memory();
        assert_eq!(guard.run("a", async { Ok(()) }).await.unwrap(), Guarded::Ran);
        assert_eq!(guard.run("a", pending()).await.unwrap(), Guarded::Skipped);
        guard.forget("a").await.unwrap();
        assert_eq!(guard.run("a", async { Ok(()) }).await.unwrap(), Guarded::Ran);
    }

    #[tokio::test]
    async fn a_failed_message_is_not_remembered() {
        let guard = memory();
        let failed = guard.run("a", async { Err(HandlerError::fatal("no stock")) }).await.unwrap_err();
        assert!(failed.is_fatal());
        assert_eq!(guard.run("a", async { Ok(()) }).await.unwrap(), Guarded::Ran);
    }

    #[tokio::test]
    async fn a_message_without_a_usable_id_always_runs_and_never_meets_the_store() {
        let store = Unsteady::default();
        store.down.store(true, Ordering::Relaxed);
        let guard = Idempotency::new(store, StoreFailure::FailRecord);
        for id in ["", "", " \t", " \t"] {
            assert_eq!(guard.run(id, async { Ok(()) }).await.unwrap(), Guarded::Ran);
        }
    }

    #[tokio::test]
    async fn a_store_that_does_not_answer_runs_or_fails_the_message_as_chosen() {
        let store = Unsteady::default();
        store.down.store(true, Ordering::Relaxed);
        let run = Idempotency::new(store.clone(), StoreFailure::RunAnyway);
        assert_eq!(run.run("a", async { Ok(()) }).await.unwrap(), Guarded::Ran);
        let fail = Idempotency::new(store, StoreFailure::FailRecord);
        let error = fail.run("a", async { panic!("it runs") }).await.unwrap_err();
        assert!(!error.is_fatal());
        assert_eq!(error.to_string(), "the idempotency store failed: unplugged");
    }

    #[tokio::test]
    async fn a_message_that_was_handled_but_not_remembered_counts_as_handled() {
        let store = Unsteady::default();
        let guard = Idempotency::new(store.clone(), StoreFailure::FailRecord);
        let cut = async {
            store.down.store(true, Ordering::Relaxed);
            Ok(())
        };
        assert_eq!(guard.run("a", cut).await.unwrap(), Guarded::Ran);
        store.down.store(false, Ordering::Relaxed);
        assert_eq!(guard.run("a", async { Ok(()) }).await.unwrap(), Guarded::Ran);
        assert_eq!(guard.run("a", pending()).await.unwrap(), Guarded::Skipped);
    }
}
