//! Handlers of typed jobs, and what they see of a delivery.

use std::{error::Error, fmt, future::Future, sync::Arc, time::Duration};

use crate::{
    client::Kafka,
    envelope::Envelope,
    headers::{self, Projection},
    job::Job,
    kafka::Progress,
    publisher::Message,
    record::{Batch, Headers, Record, TopicPartition},
    retry_topics::RetryTopics,
};

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

/// One delivery of a job: where it came from and how it travelled.
pub struct Delivery {
    kafka: Kafka,
    retry_topics: Arc<[RetryTopics]>,
    partition: TopicPartition,
    batch: Arc<Batch>,
    progress: Arc<Progress>,
    pub(crate) index: usize,
    pub(crate) attempts: i64,
    /// From the body, for a producer that sets no `bq-` headers.
    body_trace_id: Option<String>,
    body_message_id: Option<String>,
}

impl Delivery {
    /// The delivery of a record of a batch.
    pub(crate) fn new(
        kafka: Kafka,
        retry_topics: Arc<[RetryTopics]>,
        partition: TopicPartition,
        batch: Arc<Batch>,
        index: usize,
        progress: Arc<Progress>,
    ) -> Self {
        Self {
            kafka,
            retry_topics,
            partition,
            batch,
            progress,
            index,
            attempts: 0,
            body_trace_id: None,
            body_message_id: None,
        }
    }

    /// A record of which no more is known yet.
    pub(crate) fn begin(&mut self, attempts: i64) {
        self.attempts = attempts;
        (self.body_trace_id, self.body_message_id) = (None, None);
    }

    /// Keeps the ids that the body alone carries.
    pub(crate) fn keep_ids_of(&mut self, envelope: &Envelope<'_>, headers: &Projection<'_>) {
        let missing = |there: bool, id: Option<&str>| if there { None } else { id.map(str::to_owned) };
        self.body_trace_id = missing(headers.trace_id, envelope.trace_id());
        self.body_message_id = missing(headers.message_id, envelope.message_id());
    }

    pub(crate) fn kafka(&self) -> &Kafka {
        &self.kafka
    }

    pub(crate) fn batch(&self) -> Arc<Batch> {
        Arc::clone(&self.batch)
    }

    /// The partition that the record was read from, with its topic.
    pub(crate) fn at(&self) -> &TopicPartition {
        &self.partition
    }

    pub(crate) fn record(&self) -> Option<Record<'_>> {
        self.batch.get(self.index)
    }

    /// The topic that the record was read from.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.partition.topic
    }

    /// The partition that the record was read from.
    #[must_use]
    pub fn partition(&self) -> i32 {
        self.partition.partition
    }

    /// The record's offset in its partition.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.record().map_or(-1, |record| record.offset)
    }

    /// The record's timestamp in Unix milliseconds, when it has one.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        self.record()?.timestamp
    }

    /// The record's key; `None` is the null key, which is not the empty one.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.record()?.key
    }

    /// The record's headers, `bq-` ones and others.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        self.record().map_or_else(Headers::default, |record| record.headers)
    }

    /// The id that every hop of this message keeps; empty when its producer set none.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.id(headers::TRACE_ID, self.body_trace_id.as_deref())
    }

    /// The id of this message, `meta.id`; empty when its producer set none.
    #[must_use]
    pub fn message_id(&self) -> &str {
        self.id(headers::MESSAGE_ID, self.body_message_id.as_deref())
    }

    fn id<'a>(&'a self, header: &str, body: Option<&'a str>) -> &'a str {
        self.headers().get_str(header).filter(|id| !headers::is_blank(id)).or(body).unwrap_or_default()
    }

    /// How many attempts failed before this one, as the message says (header `bq-attempts`, else the body). A delivery
    /// that is repeated after a crash or a rebalance does not count.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.attempts.max(0)).unwrap_or(u32::MAX)
    }

    /// Whether this is a deliberate replay: a dead letter that was redriven with
    /// [`Redrive::replay_bypass`](crate::Redrive::replay_bypass), or its retries. What it caused outside at its first
    /// delivery may have happened already; see [`Delivery::unless_replay`].
    #[must_use]
    pub fn is_replay(&self) -> bool {
        self.headers().get(headers::REPLAY_BYPASS) == Some(b"1")
    }

    /// Does something that must not happen again when a message is replayed, such as sending a mail or charging a card;
    /// `None` when this delivery is a replay. A retry is no replay, and neither is a delivery that is repeated after a
    /// crash: this guards against redriving alone.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated { order_id: u64 }
    /// # async fn store(order_id: u64) -> Result<(), std::io::Error> { Ok(()) }
    /// # async fn send_mail(order_id: u64) -> Result<(), std::io::Error> { Ok(()) }
    /// async fn on_created(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    ///     store(job.order_id).await?;
    ///     cx.unless_replay(async || send_mail(job.order_id).await).await.transpose()?;
    ///     Ok(())
    /// }
    /// # let _ = babelqueue::routes![OrderCreated => on_created];
    /// ```
    pub async fn unless_replay<T, F>(&self, effect: impl FnOnce() -> F) -> Option<T>
    where
        F: Future<Output = T>,
    {
        if self.is_replay() { None } else { Some(effect().await) }
    }

    /// Waits until the handler is asked to end: the consumer shuts down, or the partition was revoked or lost.
    ///
    /// A handler that succeeds all the same has handled its record, if it returns within
    /// [`shutdown_timeout`](crate::ConsumerBuilder::shutdown_timeout) or, where the partition was revoked, within
    /// [`revoke_timeout`](crate::ConsumerBuilder::revoke_timeout). After that, and after a loss, the record is delivered to
    /// the partition's next owner, which may have it already. So it is after an error, which counts as no try: a handler
    /// may give up without its record coming nearer to the dead letters.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated { order_id: u64 }
    /// # async fn print(order_id: u64) -> Result<(), std::io::Error> { Ok(()) }
    /// async fn on_created(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    ///     tokio::select! {
    ///         printed = print(job.order_id) => Ok(printed?),
    ///         () = cx.cancelled() => Err(HandlerError::new("not printed yet")),
    ///     }
    /// }
    /// # let _ = babelqueue::routes![OrderCreated => on_created];
    /// ```
    pub async fn cancelled(&self) {
        self.progress.stopped().await;
    }

    /// Whether the handler is asked to end; see [`Delivery::cancelled`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.progress.is_stopped()
    }

    /// A message that continues the trace of this delivery; send it by awaiting it.
    ///
    /// With the feature `otel` handlers run in a span whose parent is the delivered `traceparent` (a malformed one is
    /// ignored), and every message is sent with the `traceparent` of the span that sends it. Without one, `trace_id`
    /// names the trace when it is a UUID; such a trace counts as sampled. A message of a delivery that is sent outside of
    /// any span keeps the delivered `traceparent`. Spans reach OpenTelemetry by the layer of `tracing-opentelemetry`.
    ///
    /// ```
    /// # use babelqueue::{Delivery, HandlerError, babel_job};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated { order_id: u64 }
    /// # #[babel_job("urn:babel:invoices:requested")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct InvoiceRequested { order_id: u64 }
    /// async fn on_created(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    ///     cx.message(&InvoiceRequested { order_id: job.order_id }).await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn message<'a, J: Job>(&'a self, job: &'a J) -> Message<'a, J> {
        let retry_topics = self.retry_topics.iter().find(|topics| topics.work_topic() == J::TOPIC);
        let message = Message::new(&self.kafka, J::TOPIC, retry_topics, job).trace_id(self.trace_id());
        #[cfg(feature = "otel")]
        let message = message.follows(self.headers());
        message
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("partition", &self.partition)
            .field("offset", &self.offset())
            .field("message_id", &self.message_id())
            .field("trace_id", &self.trace_id())
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
