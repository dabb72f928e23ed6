//! Handlers that take many jobs of one type at once.

use std::{collections::HashMap, error::Error, fmt, future::Future, sync::Arc};

use crate::{delivery::Delivery, handler::HandlerError};

/// Handles jobs of one type, many at once: consecutive records of one partition, in its order, never of two assignments.
///
/// Every `async fn(batch: JobBatch<J>) -> Result<(), HandlerError>` is such a handler; in [`routes!`](crate::routes) it
/// is given for the type `[J; 500]`, where 500 is the most that it takes at once. What it returns settles the batch: `Ok`
/// all jobs, an error none. To settle each job by itself, return `Result<Failures, HandlerError>`.
///
/// ```
/// use babelqueue::{Failures, HandlerError, JobBatch, babel_job, routes};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created")]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// # async fn insert_all(orders: impl Iterator<Item = u64>) -> Result<Vec<u64>, std::io::Error> { Ok(vec![]) }
/// async fn store(batch: JobBatch<OrderCreated>) -> Result<Failures, HandlerError> {
///     // When this fails, all of them are retried.
///     let unknown = insert_all(batch.iter().map(|(order, _)| order.order_id)).await?;
///     let mut failures = Failures::default();
///     for (order, cx) in &batch {
///         if unknown.contains(&order.order_id) {
///             failures.add(cx, HandlerError::fatal("an order of an unknown customer"));
///         }
///     }
///     Ok(failures)
/// }
///
/// let routes = routes![[OrderCreated; 500] => store];
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle batches of `{J}`",
    label = "not a batch handler of `{J}`",
    note = "a batch handler is an `async fn(batch: JobBatch<{J}>) -> Result<(), HandlerError>`, or one that returns `Result<Failures, HandlerError>`"
)]
pub trait BatchHandler<J>: Send + Sync + 'static {
    /// Handles a batch. The jobs that it names in [`Failures`] go where a failed job of a
    /// [`Handler`](crate::Handler) goes; the others are handled. After an error, or a panic, all of them have failed.
    fn handle(&self, batch: JobBatch<J>) -> impl Future<Output = Result<Failures, HandlerError>> + Send;
}

impl<J, F, Fut> BatchHandler<J> for F
where
    J: Send + 'static,
    F: Fn(JobBatch<J>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: BatchResult> + Send,
{
    async fn handle(&self, batch: JobBatch<J>) -> Result<Failures, HandlerError> {
        self(batch).await.into_failures()
    }
}

/// An `async fn(state: &S, batch: JobBatch<J>)`, which a method is too. Implemented for every such function.
pub trait BatchMethodFn<'a, S, J>: Send + Sync + 'static {
    /// The future of one call.
    type Future: Future<Output: BatchResult> + 'a;
    /// Calls the function.
    fn call(&self, state: &'a S, batch: JobBatch<J>) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<'a, S: 'a, J, F, Fut> BatchMethodFn<'a, S, J> for F
where
    F: Fn(&'a S, JobBatch<J>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: BatchResult> + 'a,
{
    type Future = Fut;

    fn call(&self, state: &'a S, batch: JobBatch<J>) -> Fut {
        self(state, batch)
    }
}

/// A [`BatchMethodFn`] for every lifetime, with futures that are `Send`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle batches of `{J}` with the state `{S}`",
    label = "not a batch handler of `{J}` with the state `{S}`",
    note = "with a state a batch handler is an `async fn(state: &{S}, batch: JobBatch<{J}>) -> Result<(), HandlerError>`, which a method with `&self` is too, or one that returns `Result<Failures, HandlerError>`"
)]
pub trait BatchMethod<S, J>: Send + Sync + 'static {
    /// Calls the function.
    fn call(&self, state: &S, batch: JobBatch<J>) -> impl Future<Output = Result<Failures, HandlerError>> + Send;
}

impl<S, J, F> BatchMethod<S, J> for F
where
    S: Sync + 'static,
    J: Send + 'static,
    F: for<'a> BatchMethodFn<'a, S, J>,
    for<'a> <F as BatchMethodFn<'a, S, J>>::Future: Send,
{
    async fn call(&self, state: &S, batch: JobBatch<J>) -> Result<Failures, HandlerError> {
        BatchMethodFn::call(self, state, batch).await.into_failures()
    }
}

/// What a batch handler returns.
pub trait BatchResult {
    /// Which of the jobs failed, or why all of them did.
    ///
    /// # Errors
    ///
    /// All of them failed.
    fn into_failures(self) -> Result<Failures, HandlerError>;
}

impl BatchResult for Result<(), HandlerError> {
    fn into_failures(self) -> Result<Failures, HandlerError> {
        self.map(|()| Failures::default())
    }
}

impl BatchResult for Result<Failures, HandlerError> {
    fn into_failures(self) -> Result<Failures, HandlerError> {
        self
    }
}

/// Jobs to be handled at once, in the order of their partition; at least one.
pub struct JobBatch<J> {
    jobs: Vec<J>,
    deliveries: Vec<Arc<Delivery>>,
}

impl<J> JobBatch<J> {
    pub(crate) fn new() -> Self {
        Self { jobs: Vec::new(), deliveries: Vec::new() }
    }

    pub(crate) fn push(&mut self, job: J, delivery: Arc<Delivery>) {
        self.jobs.push(job);
        self.deliveries.push(delivery);
    }

    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Never so: a handler is not called without a job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Each job with its delivery.
    pub fn iter(&self) -> JobBatchIter<'_, J> {
        self.jobs.iter().zip(self.deliveries.iter().map(AsRef::as_ref as fn(&Arc<Delivery>) -> &Delivery))
    }

    /// The jobs alone.
    #[must_use]
    pub fn into_jobs(self) -> Vec<J> {
        self.jobs
    }
}

/// The jobs of a batch, each with its delivery; from [`JobBatch::iter`].
pub type JobBatchIter<'a, J> = std::iter::Zip<
    std::slice::Iter<'a, J>,
    std::iter::Map<std::slice::Iter<'a, Arc<Delivery>>, fn(&'a Arc<Delivery>) -> &'a Delivery>,
>;

impl<'a, J> IntoIterator for &'a JobBatch<J> {
    type Item = (&'a J, &'a Delivery);
    type IntoIter = JobBatchIter<'a, J>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<J: fmt::Debug> fmt::Debug for JobBatch<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// The jobs of a batch that failed; none by default.
#[derive(Debug, Default)]
pub struct Failures {
    by_offset: HashMap<i64, HandlerError>,
}

impl Failures {
    /// The job of this delivery failed; of two errors for one job the later one counts.
    pub fn add(&mut self, cx: &Delivery, error: impl Into<HandlerError>) {
        self.by_offset.insert(cx.offset(), error.into());
    }

    /// How many jobs failed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_offset.len()
    }

    /// Whether none failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_offset.is_empty()
    }

    pub(crate) fn take(&mut self, offset: i64) -> Option<HandlerError> {
        self.by_offset.remove(&offset)
    }
}

/// The failure of a whole batch, for each of its jobs.
#[derive(Clone)]
pub(crate) struct BatchFailure(Arc<HandlerError>);

impl BatchFailure {
    pub(crate) fn new(error: HandlerError) -> Self {
        Self(Arc::new(error))
    }

    pub(crate) fn of_one(&self) -> HandlerError {
        self.0.with_source(self.clone())
    }
}

impl fmt::Display for BatchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for BatchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Error for BatchFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.get_ref().source()
    }
}
