//! Something that a test waited for and that did not happen.

use std::fmt;

/// What a test waited for did not happen. Its text says what that was, why it did not, and what happened instead, step by
/// step; `Debug` shows the same text, so that `?` and `unwrap` in a test do.
///
/// ```
/// # use std::time::Duration;
/// # use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::TestKit};
/// # use serde::{Deserialize, Serialize};
/// # #[babel_job("urn:babel:orders:created")]
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderCreated {}
/// # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
/// #     Err(HandlerError::new("the warehouse is closed"))
/// # }
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let kit = TestKit::builder().patience(Duration::from_secs(4)).start(routes![OrderCreated => on_created]).await?;
/// let id = kit.publish(&OrderCreated {}).await?;
/// kit.retried(id, 1).await?;
/// let unmet = kit.handled(id).await.unwrap_err().to_string();
/// assert!(unmet.contains("orders[0] offset 0: the handler failed: the warehouse is closed (again in 5s"));
/// assert!(unmet.ends_with("it waits on `orders.retry.1`: `advance(5s)` lets that pass at once"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Unmet {
    text: String,
}

impl Unmet {
    pub(super) fn new(text: String) -> Self {
        Self { text }
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Unmet {}
