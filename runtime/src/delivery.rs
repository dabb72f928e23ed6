//! What a handler sees of a delivery.

use std::{fmt, future::Future, sync::Arc};

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

/// What all deliveries of one assignment of a partition share.
pub(crate) struct Assignment {
    pub(crate) kafka: Kafka,
    /// Those of the consumer, whatever topic they are of.
    pub(crate) retry_topics: Arc<[RetryTopics]>,
    pub(crate) partition: TopicPartition,
    pub(crate) progress: Arc<Progress>,
}

/// One delivery of a job: where it came from and how it travelled.
pub struct Delivery {
    assignment: Arc<Assignment>,
    batch: Arc<Batch>,
    pub(crate) index: usize,
    pub(crate) attempts: i64,
    /// From the body, for a producer that sets no `bq-` headers.
    body_trace_id: Option<String>,
    body_message_id: Option<String>,
}

impl Delivery {
    /// The delivery of a record of a batch.
    pub(crate) fn new(assignment: &Arc<Assignment>, batch: &Arc<Batch>, index: usize) -> Self {
        Self {
            assignment: Arc::clone(assignment),
            batch: Arc::clone(batch),
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
        &self.assignment.kafka
    }

    /// The partition that the record was read from, with its topic.
    pub(crate) fn at(&self) -> &TopicPartition {
        &self.assignment.partition
    }

    pub(crate) fn record(&self) -> Option<Record<'_>> {
        self.batch.get(self.index)
    }

    /// The topic that the record was read from.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.assignment.partition.topic
    }

    /// The partition that the record was read from.
    #[must_use]
    pub fn partition(&self) -> i32 {
        self.assignment.partition.partition
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
        self.assignment.progress.stopped().await;
    }

    /// Whether the handler is asked to end; see [`Delivery::cancelled`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.assignment.progress.is_stopped()
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
        let retry_topics = self.assignment.retry_topics.iter().find(|topics| topics.work_topic() == J::TOPIC);
        let message = Message::new(&self.assignment.kafka, J::TOPIC, retry_topics, job).trace_id(self.trace_id());
        #[cfg(feature = "otel")]
        let message = message.follows(self.headers());
        message
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("partition", &self.assignment.partition)
            .field("offset", &self.offset())
            .field("message_id", &self.message_id())
            .field("trace_id", &self.trace_id())
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
