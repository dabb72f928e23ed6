//! A member that joins the consumer's group and leaves again.

use std::{sync::Arc, time::Duration};

use super::{TestKit, TestKitError, Unmet, kit::GROUP};
use crate::{
    kafka::{Read, Source, SourceSettings},
    time::deadline,
};

impl TestKit {
    /// Lets a second member join the consumer's group and leave again: the consumer's partitions are revoked and come
    /// back. Returns once the consumer has all of them again.
    ///
    /// A record that is being handled when its partition is revoked is delivered again, whatever its handler returns;
    /// [`TestKit::handled`] is met by the first delivery that is handled, be it that one. With the
    /// assignment strategy `cooperative-sticky` only some partitions are revoked, and of a single one none.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::TestKit};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated {}
    /// # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> { Ok(()) }
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
    /// kit.rebalance().await?;
    /// let id = kit.publish(&OrderCreated {}).await?;
    /// kit.handled(id).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The group does not change within the kit's patience, or the consumer has ended.
    pub async fn rebalance(&self) -> Result<(), TestKitError> {
        let topics = self.journal.topics();
        let all = topics.len() * usize::try_from(self.partitions).unwrap_or_default();
        let complete =
            self.journal.wait(self.patience, |state| (state.assigned.len() == all).then_some(state.revocations));
        let before = complete.await.map_err(|why| unmet("the consumer did not get its partitions", &why))?;
        self.journal.note("a second member joins the group".to_owned());
        let other = Source::start(
            self.kafka.config(),
            &SourceSettings::without_handlers(GROUP.to_owned(), Read::Topics(topics), Duration::from_secs(1)),
            Arc::default(),
        )?;
        let revoked = self.journal.wait(self.patience, |state| (state.revocations > before).then_some(()));
        revoked.await.map_err(|why| unmet("no partition of the consumer was revoked", &why))?;
        // It has handled nothing, so it commits nothing.
        other.close(deadline(self.patience)).await;
        self.journal.note("the second member has left the group".to_owned());
        let back = self.journal.wait(self.patience, |state| (state.assigned.len() == all).then_some(()));
        back.await.map_err(|why| unmet("the consumer did not get its partitions back", &why))?;
        Ok(())
    }
}

fn unmet(what: &str, why: &str) -> Unmet {
    Unmet::new(format!("{what} {why}"))
}
