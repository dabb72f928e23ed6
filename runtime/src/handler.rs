//! Handlers of typed jobs, and why they fail.

use std::{error::Error, fmt, future::Future, time::Duration};

use crate::delivery::Delivery;

/// Handles jobs of one type.
///
/// Every `async fn(job: J, cx: &Delivery) -> Result<(), HandlerError>` is a handler. Implement the trait for a type of
/// your own when it carries state; [`routes!`](crate::routes) takes both.
///
/// ```
/// use babelqueue::{Delivery, Handler, HandlerError, babel_job, routes};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created")]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// struct Warehouse {/* a database pool, say */}
///
/// impl Handler<OrderCreated> for Warehouse {
///     async fn handle(&self, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
///         println!("order {} at {}", job.order_id, cx.offset());
///         Ok(())
///     }
/// }
///
/// let routes = routes![OrderCreated => Warehouse {}];
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle `{J}`",
    label = "not a handler of `{J}`",
    note = "a handler is an `async fn(job: {J}, cx: &Delivery) -> Result<(), HandlerError>`, or a type that implements `babelqueue::Handler<{J}>`"
)]
pub trait Handler<J>: Send + Sync + 'static {
    /// Handles one job. `Ok` settles it: it and all before it will be committed. After an error, or a panic, the record
    /// goes to the next retry topic, or to the dead-letter topic when its tries are used up or the error is
    /// [fatal](HandlerError::fatal); see [`ConsumerBuilder::retry_topics`](crate::ConsumerBuilder::retry_topics). Where
    /// its topic has neither, the consumer ends with a [`ConsumerError`](crate::ConsumerError) that names the record, and
    /// leaves it uncommitted.
    fn handle(&self, job: J, cx: &Delivery) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

impl<J, F> Handler<J> for F
where
    J: Send + 'static,
    F: for<'a> HandlerFn<'a, J>,
    for<'a> <F as HandlerFn<'a, J>>::Future: Send,
{
    fn handle(&self, job: J, cx: &Delivery) -> impl Future<Output = Result<(), HandlerError>> + Send {
        self.call(job, cx)
    }
}

/// An `async fn` that handles a job: names the future that it returns. Implemented for every such function.
pub trait HandlerFn<'a, J>: Send + Sync + 'static {
    /// The future of one call.
    type Future: Future<Output = Result<(), HandlerError>> + 'a;
    /// Calls the function.
    fn call(&self, job: J, cx: &'a Delivery) -> Self::Future;
}

// A function of another shape is reported as no `Handler`, with its hint. That the future is `Send` is not part of the
// shape: the compiler then says what in it is not.
#[diagnostic::do_not_recommend]
impl<'a, J, F, Fut> HandlerFn<'a, J> for F
where
    F: Fn(J, &'a Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + 'a,
{
    type Future = Fut;

    fn call(&self, job: J, cx: &'a Delivery) -> Fut {
        self(job, cx)
    }
}

/// An `async fn(state: &S, job: J, cx: &Delivery)`, which a method is too. Implemented for every such function.
pub trait MethodFn<'a, S, J>: Send + Sync + 'static {
    /// The future of one call.
    type Future: Future<Output = Result<(), HandlerError>> + 'a;
    /// Calls the function.
    fn call(&self, state: &'a S, job: J, cx: &'a Delivery) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<'a, S: 'a, J, F, Fut> MethodFn<'a, S, J> for F
where
    F: Fn(&'a S, J, &'a Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + 'a,
{
    type Future = Fut;

    fn call(&self, state: &'a S, job: J, cx: &'a Delivery) -> Fut {
        self(state, job, cx)
    }
}

/// A [`MethodFn`] for every lifetime, with futures that are `Send`: to it what [`Handler`] is to [`HandlerFn`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle `{J}` with the state `{S}`",
    label = "not a handler of `{J}` with the state `{S}`",
    note = "with a state a handler is an `async fn(state: &{S}, job: {J}, cx: &Delivery) -> Result<(), HandlerError>`, which a method with `&self` is too"
)]
pub trait Method<S, J>: Send + Sync + 'static {
    /// Calls the function.
    fn call<'a>(&self, state: &'a S, job: J, cx: &'a Delivery)
    -> impl Future<Output = Result<(), HandlerError>> + Send;
}

impl<S, J, F> Method<S, J> for F
where
    S: 'static,
    J: Send + 'static,
    F: for<'a> MethodFn<'a, S, J>,
    for<'a> <F as MethodFn<'a, S, J>>::Future: Send,
{
    fn call<'a>(
        &self,
        state: &'a S,
        job: J,
        cx: &'a Delivery,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send {
        MethodFn::call(self, state, job, cx)
    }
}

/// Why a handler did not handle a job. Every type that implements [`Error`] becomes one by `?`; a text or a boxed error
/// by [`HandlerError::new`].
///
/// ```
/// use babelqueue::HandlerError;
///
/// fn parse(text: &str) -> Result<u32, HandlerError> {
///     if text.is_empty() {
///         return Err(HandlerError::fatal("no digits: a retry cannot heal that"));
///     }
///     if text == "busy" {
///         return Err(HandlerError::retry_after("busy", std::time::Duration::from_secs(30)));
///     }
///     Ok(text.parse()?)
/// }
///
/// assert!(parse("").unwrap_err().is_fatal());
/// assert!(!parse("x").unwrap_err().is_fatal());
/// ```
pub struct HandlerError {
    source: Box<dyn Error + Send + Sync>,
    exception: Option<&'static str>,
    verdict: Verdict,
}

/// What the handler says of a later delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Retry,
    RetryAfter(Duration),
    Fatal,
}

impl HandlerError {
    /// A failure that a later delivery may not meet: retry.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: error.into(), exception: None, verdict: Verdict::Retry }
    }

    /// A failure that every later delivery would meet again: straight to the dead-letter topic.
    pub fn fatal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { verdict: Verdict::Fatal, ..Self::new(error) }
    }

    /// A failure to be retried after this delay, on the shortest tier that is as long, whatever the number of attempts. A
    /// delay longer than the longest tier is never cut: the record becomes a dead letter.
    pub fn retry_after(error: impl Into<Box<dyn Error + Send + Sync>>, delay: Duration) -> Self {
        Self { verdict: Verdict::RetryAfter(delay), ..Self::new(error) }
    }

    /// Whether every later attempt would fail as well.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        self.verdict == Verdict::Fatal
    }

    /// The delay that [`HandlerError::retry_after`] asks for.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        match self.verdict {
            Verdict::RetryAfter(delay) => Some(delay),
            Verdict::Retry | Verdict::Fatal => None,
        }
    }

    /// The name of the error's type, where it became a `HandlerError` by `?`.
    pub(crate) fn exception(&self) -> Option<&'static str> {
        self.exception
    }

    /// The same for another error.
    pub(crate) fn with_source(&self, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Box::new(source), exception: self.exception, verdict: self.verdict }
    }

    /// The error that the handler returned.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.source.as_ref()
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self { exception: Some(std::any::type_name::<E>()), ..Self::new(error) }
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerError").field("source", &self.source).field("verdict", &self.verdict).finish()
    }
}
