//! What a kit makes fail: writes, one topic at a time.

use std::{fmt, sync::Arc};

use super::TestKit;
use crate::{
    kafka::mock::{self, WriteError},
    lab::Lab,
};

impl TestKit {
    /// Lets writes to a topic fail, counted from 1 and from this call on, such as the first two by `1..=2`; a write that is
    /// tried again counts again. What fails is not written. All that goes through [`TestKit::kafka`] counts: publishers, the
    /// hops of the consumer, the reinjector and redrives.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::{TestKit, WriteError}};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated {}
    /// # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    /// #     Err(HandlerError::fatal("no such warehouse"))
    /// # }
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
    /// kit.fail_writes("orders.dlq", [1], WriteError::Retriable);
    /// let id = kit.publish(&OrderCreated {}).await?;
    /// // Tried again, and not lost.
    /// assert_eq!(kit.dead_lettered(id).await?.offset(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fail_writes(&self, topic: &str, writes: impl IntoIterator<Item = u64>, error: WriteError) {
        for nth in writes {
            self.journal.note(format!("write {nth} to `{topic}` from now on is to fail ({error:?})"));
            self.lab.faults.fail(topic, nth, error.error());
        }
    }

    /// Lets a topic take no value that is longer than so many bytes, from now on: a write of a longer one fails as too
    /// large ([`KafkaError::is_too_large`](crate::KafkaError::is_too_large)).
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, PublishError, babel_job, routes, testing::TestKit};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated { note: String }
    /// # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> { Ok(()) }
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
    /// kit.limit_values("orders", 1000);
    /// let published = kit.publish(&OrderCreated { note: "x".repeat(1000) }).await;
    /// assert!(matches!(published, Err(PublishError::NotDelivered { error, .. }) if error.is_too_large()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn limit_values(&self, topic: &str, bytes: usize) {
        self.journal.note(format!("`{topic}` takes values of at most {bytes} bytes from now on"));
        self.lab.faults.limit(topic, bytes, mock::too_large());
    }

    /// Holds back what the broker answers to writes to a topic until the returned value is dropped: the records are
    /// written, and whoever waits for their acknowledgement goes on waiting. A shutdown meanwhile leaves them uncommitted.
    /// Where several are held for one topic, the last one counts that is dropped.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::TestKit};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated {}
    /// # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    /// #     Err(HandlerError::fatal("no such warehouse"))
    /// # }
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
    /// let held = kit.hold_acknowledgements("orders.dlq");
    /// let id = kit.publish(&OrderCreated {}).await?;
    /// // … what is to be seen while the dead letter is not acknowledged …
    /// drop(held);
    /// kit.dead_lettered(id).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hold_acknowledgements(&self, topic: &str) -> Held {
        self.journal.note(format!("acknowledgements of writes to `{topic}` are held back"));
        self.lab.faults.hold(topic);
        Held { lab: Arc::clone(&self.lab), topic: topic.to_owned() }
    }
}

/// Acknowledgements that are held back; see [`TestKit::hold_acknowledgements`]. Dropping it gives them, in their order.
#[must_use = "dropping it gives the acknowledgements"]
pub struct Held {
    lab: Arc<Lab>,
    topic: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lab.faults.release(&self.topic);
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("topic", &self.topic).finish_non_exhaustive()
    }
}
