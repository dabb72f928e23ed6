//! From a URN to the handler of its type.

use std::{collections::HashMap, fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use crate::{
    batch_handler::{BatchHandler, BatchMethod, Failures, JobBatch},
    delivery::Delivery,
    handler::{Handler, HandlerError, Method},
    job::Job,
    payload::{self, Misfit},
};

/// The future of one handler call; one allocation a record.
pub(crate) type Handling<'a> = Pin<Box<dyn Future<Output = Result<(), HandlerError>> + Send + 'a>>;

/// The future of a batch handler's call.
pub(crate) type BatchHandling<'a> = Pin<Box<dyn Future<Output = Result<Failures, HandlerError>> + Send + 'a>>;

/// What a consumer handles: a handler for each URN. Made by [`routes!`](crate::routes) or by generated contracts.
pub struct Routes {
    by_urn: HashMap<&'static str, Route>,
}

impl Routes {
    /// Both sets of routes, such as those of two generated modules, for one consumer of all their topics.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job, routes};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated {}
    /// # async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> { Ok(()) }
    /// # #[babel_job("urn:babel:invoices:requested")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct InvoiceRequested {}
    /// # async fn on_requested(_: InvoiceRequested, _: &Delivery) -> Result<(), HandlerError> { Ok(()) }
    /// let routes = routes![OrderCreated => on_created].and(routes![InvoiceRequested => on_requested])?;
    /// assert_eq!(routes.topics(), ["invoices", "orders"]);
    /// # Ok::<(), babelqueue::DuplicateUrn>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Both sets have a handler for one URN; of several, the error names the first by name. Within one
    /// [`routes!`](crate::routes), which may list jobs of any topics, that does not compile.
    pub fn and(mut self, other: Routes) -> Result<Routes, DuplicateUrn> {
        if let Some(urn) = other.by_urn.keys().filter(|urn| self.by_urn.contains_key(*urn)).min() {
            return Err(DuplicateUrn { urn });
        }
        self.by_urn.extend(other.by_urn);
        Ok(self)
    }

    /// The URNs that have a handler, sorted.
    #[must_use]
    pub fn urns(&self) -> Vec<&'static str> {
        let mut urns: Vec<_> = self.by_urn.keys().copied().collect();
        urns.sort_unstable();
        urns
    }

    /// The topics of the handled jobs, sorted, each once.
    #[must_use]
    pub fn topics(&self) -> Vec<&'static str> {
        let mut topics: Vec<_> = self.by_urn.values().map(|route| route.topic).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    pub(crate) fn find(&self, urn: &str) -> Option<&Route> {
        self.by_urn.get(urn)
    }

    /// The sizes of the batches that handlers take.
    pub(crate) fn batch_sizes(&self) -> impl Iterator<Item = usize> {
        self.by_urn.values().filter_map(|route| match route.target() {
            Target::One(_) => None,
            Target::Batch(_, max) => Some(*max),
        })
    }

    pub(crate) fn new(routes: impl IntoIterator<Item = Route>) -> Self {
        Self { by_urn: routes.into_iter().map(|route| (route.urn, route)).collect() }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.urns()).finish()
    }
}

/// Two sets of routes both handle one URN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two handlers for `{urn}`: a message can have one handler, remove one of them")]
pub struct DuplicateUrn {
    urn: &'static str,
}

/// One job type and its handler, the type erased.
pub struct Route {
    urn: &'static str,
    topic: &'static str,
    target: Target,
}

/// What a route leads to.
pub(crate) enum Target {
    /// A handler of one job.
    One(Box<dyn Call>),
    /// A handler of many jobs at once, and the most that it takes.
    Batch(Box<dyn CallBatch>, usize),
}

impl Route {
    pub(crate) fn of<J: Job>(handler: impl Handler<J>) -> Self {
        Self::to::<J>(Target::One(Box::new(CallHandler { handler, job: PhantomData })))
    }

    pub(crate) fn with_state<S: Send + Sync + 'static, J: Job>(state: Arc<S>, method: impl Method<S, J>) -> Self {
        Self::to::<J>(Target::One(Box::new(CallMethod { state, method, job: PhantomData })))
    }

    pub(crate) fn of_batch<J: Job>(max: usize, handler: impl BatchHandler<J>) -> Self {
        Self::to::<J>(Target::Batch(Box::new(CallBatchHandler { handler, job: PhantomData }), max))
    }

    pub(crate) fn of_batch_with_state<S: Send + Sync + 'static, J: Job>(
        state: Arc<S>,
        max: usize,
        method: impl BatchMethod<S, J>,
    ) -> Self {
        Self::to::<J>(Target::Batch(Box::new(CallBatchMethod { state, method, job: PhantomData }), max))
    }

    fn to<J: Job>(target: Target) -> Self {
        Self { urn: J::URN, topic: J::TOPIC, target }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn urn(&self) -> &'static str {
        self.urn
    }
}

/// Validates `data` by the schema of its URN, where there is one, and decodes it into the payload type.
fn decode<J: Job>(
    data: &str,
    #[cfg_attr(not(feature = "validate"), expect(unused_variables))] cx: &Delivery,
) -> Result<J, PayloadError> {
    #[cfg(feature = "validate")]
    if let Some(schemas) = cx.kafka().schemas() {
        schemas.validate(J::URN, data)?;
    }
    Ok(payload::decode::<J>(data)?)
}

/// A payload that does not fit its type or its schema; no later attempt can heal it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayloadError {
    #[error("the payload does not fit its type: {0}")]
    Type(#[from] Misfit),
    #[cfg(feature = "validate")]
    #[error(transparent)]
    Schema(#[from] crate::validate::Violations),
}

/// A handler of one job, its type erased.
pub(crate) trait Call: Send + Sync {
    /// Decodes `data` into the payload type and starts the handler.
    fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError>;
}

struct CallHandler<J, H> {
    handler: H,
    job: PhantomData<fn() -> J>,
}

impl<J: Job, H: Handler<J>> Call for CallHandler<J, H> {
    fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError> {
        let job = decode::<J>(data, cx)?;
        Ok(Box::pin(self.handler.handle(job, cx)))
    }
}

/// A handler of many jobs, their type erased.
pub(crate) trait CallBatch: Send + Sync {
    /// A batch without a job yet.
    fn begin(&self) -> Box<dyn Gathering<'_> + '_>;
}

/// A batch that is being gathered.
pub(crate) trait Gathering<'a>: Send {
    /// Decodes `data` into the payload type and adds it.
    fn add(&mut self, data: &str, cx: &Arc<Delivery>) -> Result<(), PayloadError>;

    /// Starts the handler.
    fn handle(self: Box<Self>) -> BatchHandling<'a>;
}

struct Gathered<J, H> {
    jobs: JobBatch<J>,
    /// Handles them.
    handle: H,
}

impl<'a, J, H, F> Gathering<'a> for Gathered<J, H>
where
    J: Job,
    H: FnOnce(JobBatch<J>) -> F + Send,
    F: Future<Output = Result<Failures, HandlerError>> + Send + 'a,
{
    fn add(&mut self, data: &str, cx: &Arc<Delivery>) -> Result<(), PayloadError> {
        self.jobs.push(decode::<J>(data, cx)?, Arc::clone(cx));
        Ok(())
    }

    fn handle(self: Box<Self>) -> BatchHandling<'a> {
        Box::pin((self.handle)(self.jobs))
    }
}

struct CallBatchHandler<J, H> {
    handler: H,
    job: PhantomData<fn() -> J>,
}

impl<J: Job, H: BatchHandler<J>> CallBatch for CallBatchHandler<J, H> {
    fn begin(&self) -> Box<dyn Gathering<'_> + '_> {
        Box::new(Gathered { jobs: JobBatch::new(), handle: |jobs| self.handler.handle(jobs) })
    }
}

struct CallBatchMethod<S, J, M> {
    state: Arc<S>,
    method: M,
    job: PhantomData<fn() -> J>,
}

impl<S: Send + Sync + 'static, J: Job, M: BatchMethod<S, J>> CallBatch for CallBatchMethod<S, J, M> {
    fn begin(&self) -> Box<dyn Gathering<'_> + '_> {
        Box::new(Gathered { jobs: JobBatch::new(), handle: |jobs| self.method.call(&self.state, jobs) })
    }
}

struct CallMethod<S, J, M> {
    state: Arc<S>,
    method: M,
    job: PhantomData<fn() -> J>,
}

impl<S: Send + Sync + 'static, J: Job, M: Method<S, J>> Call for CallMethod<S, J, M> {
    fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError> {
        let job = decode::<J>(data, cx)?;
        Ok(Box::pin(self.method.call(&self.state, job, cx)))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    macro_rules! jobs {
        ($($name:ident: $urn:literal on $topic:literal),*) => {
            $(
                #[derive(Serialize, Deserialize)]
                struct $name {}

                impl Job for $name {
                    const URN: &'static str = $urn;
                    const TOPIC: &'static str = $topic;
                }
            )*
        };
    }

    jobs!(A: "urn:babel:orders:a" on "orders", B: "urn:babel:orders:b" on "orders", C: "urn:babel:invoices:c" on "invoices");

    fn route<J: Job>() -> Route {
        async fn nothing<J>(_: J, _: &Delivery) -> Result<(), HandlerError> {
            Ok(())
        }
        Route::of(nothing::<J>)
    }

    #[test]
    fn two_sets_of_routes_serve_the_topics_of_both() {
        let both = Routes::new([route::<A>(), route::<B>()]).and(Routes::new([route::<C>()])).unwrap();
        assert_eq!(both.urns(), ["urn:babel:invoices:c", "urn:babel:orders:a", "urn:babel:orders:b"]);
        assert_eq!(both.topics(), ["invoices", "orders"]);
        assert!(both.find(A::URN).is_some() && both.find(C::URN).is_some());
    }

    #[test]
    fn a_urn_that_both_sets_handle_is_named_and_always_the_same_one() {
        for _ in 0..20 {
            let all = || Routes::new([route::<A>(), route::<B>(), route::<C>()]);
            let error = all().and(all()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "two handlers for `urn:babel:invoices:c`: a message can have one handler, remove one of them"
            );
        }
    }
}
