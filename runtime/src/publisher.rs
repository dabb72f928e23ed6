//! From a payload to an acknowledged record (contract section 2).

use std::{
    borrow::Cow,
    fmt,
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
    time::Duration,
};

use serde::Serialize;
use uuid::Uuid;

#[cfg(feature = "validate")]
use crate::envelope::Verdict;
use crate::{
    client::Kafka,
    config::ConfigError,
    envelope::{self, Draft, EncodeError, LANG},
    error::KafkaError,
    headers::{self, Repeated},
    job::Job,
    kafka::{OutgoingRecord, SendError},
    retry_topics::{DelayError, RetryTopics, Tier},
    time::whole_ms,
};
#[cfg(feature = "otel")]
use crate::{record::Headers, trace};

/// Publishes jobs of one type to their topic.
///
/// Publishing is idempotent and waits for all in-sync replicas. The partition is the Java client's choice (murmur2 of
/// the key; a null key goes anywhere), so that one key lies on one partition whatever the language of the producer.
///
/// ```no_run
/// use babelqueue::{Kafka, Publisher, babel_job};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created", key = order_id)]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let publisher = Publisher::<OrderCreated>::new(&Kafka::connect("localhost:9092")?);
/// let id = publisher.publish(&OrderCreated { order_id: 1042 }).await?;
/// println!("published as {id}");
/// # Ok(())
/// # }
/// ```
pub struct Publisher<J> {
    kafka: Kafka,
    topic: Cow<'static, str>,
    retry_topics: Option<RetryTopics>,
    job: PhantomData<fn(J)>,
}

impl<J: Job> Publisher<J> {
    /// A publisher on this connection.
    #[must_use]
    pub fn new(kafka: &Kafka) -> Self {
        Self { kafka: kafka.clone(), topic: Cow::Borrowed(J::TOPIC), retry_topics: None, job: PhantomData }
    }

    /// Publishes to this topic in place of the job's own, such as one of a region or of a test environment.
    #[must_use]
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Cow::Owned(topic.into());
        self
    }

    /// The retry topics of the topic, on which delayed messages wait; needed for [`Message::delay`] alone.
    #[must_use]
    pub fn retry_topics(mut self, topics: RetryTopics) -> Self {
        self.retry_topics = Some(topics);
        self
    }

    /// Publishes a job and returns its `meta.id` once the broker has acknowledged it.
    ///
    /// Dropping the future does not take the record back: once queued it is sent.
    ///
    /// # Errors
    ///
    /// The payload does not serialize or is not valid, or the record was not acknowledged within the delivery timeout; the error hands
    /// the record back.
    pub async fn publish(&self, job: &J) -> Result<Uuid, PublishError> {
        self.message(job).send().await
    }

    /// A message whose key, trace or headers are chosen before it is sent.
    #[must_use = "a message is published by `.send().await`, or by `.await`"]
    pub fn message<'a>(&'a self, job: &'a J) -> Message<'a, J> {
        Message::new(&self.kafka, &self.topic, self.retry_topics.as_ref(), job)
    }
}

impl<J> Clone for Publisher<J> {
    fn clone(&self) -> Self {
        Self {
            kafka: self.kafka.clone(),
            topic: self.topic.clone(),
            retry_topics: self.retry_topics.clone(),
            job: PhantomData,
        }
    }
}

impl<J: Job> fmt::Debug for Publisher<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("urn", &J::URN).field("topic", &self.topic).finish()
    }
}

/// A job that is about to be published: send it by [`Message::send`] or by awaiting it.
///
/// ```no_run
/// # use babelqueue::{Publisher, babel_job};
/// # use serde::{Deserialize, Serialize};
/// # #[babel_job("urn:babel:orders:created")]
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderCreated {
/// #     order_id: u64,
/// # }
/// # async fn example(publisher: Publisher<OrderCreated>, order: OrderCreated) -> Result<(), babelqueue::PublishError> {
/// publisher
///     .message(&order)
///     .key("customer-7")
///     .trace_id("7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b")
///     .header("tenant", "acme")
///     .meta("ext", &serde_json::json!({"acme": {"tier": "gold"}}))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a message is published by `.send().await`, or by `.await`"]
pub struct Message<'a, J> {
    kafka: &'a Kafka,
    topic: &'a str,
    retry_topics: Option<&'a RetryTopics>,
    job: &'a J,
    draft: Draft<'a>,
    key: Key<'a>,
    delay: Option<Duration>,
    headers: Vec<(&'a str, &'a [u8])>,
    /// What the delivery that this message follows from was sent with.
    #[cfg(feature = "otel")]
    delivered: Option<&'a str>,
}

enum Key<'a> {
    /// The job's own.
    OfJob,
    Chosen(Option<&'a [u8]>),
}

impl<'a, J: Job> Message<'a, J> {
    pub(crate) fn new(kafka: &'a Kafka, topic: &'a str, retry_topics: Option<&'a RetryTopics>, job: &'a J) -> Self {
        Self {
            kafka,
            topic,
            retry_topics,
            job,
            draft: envelope::make(J::URN, topic),
            key: Key::OfJob,
            delay: None,
            headers: Vec::new(),
            #[cfg(feature = "otel")]
            delivered: None,
        }
    }

    /// Keeps the `traceparent` of a delivery, for a process that has no tracer of its own.
    #[cfg(feature = "otel")]
    pub(crate) fn follows(mut self, headers: Headers<'a>) -> Self {
        self.delivered = trace::delivered_traceparent(headers);
        self
    }

    /// A record key in place of the job's own. The empty key is a key: it is not the null key.
    pub fn key(mut self, key: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.key = Key::Chosen(Some(key.as_ref()));
        self
    }

    /// The null key in place of the job's own.
    pub fn null_key(mut self) -> Self {
        self.key = Key::Chosen(None);
        self
    }

    /// Holds the message back on a retry topic before it is delivered: on the shortest tier that is as long as the delay,
    /// so that it may come later than asked, by that tier. The tiers are those of [`Publisher::retry_topics`], or of the
    /// consumer whose [`Delivery`](crate::Delivery) made the message. A delay of zero is none.
    ///
    /// ```no_run
    /// # use babelqueue::{Publisher, RetryTopics, babel_job};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated {
    /// #     order_id: u64,
    /// # }
    /// # async fn example(kafka: babelqueue::Kafka, order: OrderCreated) -> Result<(), babelqueue::PublishError> {
    /// use std::time::Duration;
    ///
    /// let tiers = RetryTopics::for_topic("orders").recommended_tiers();
    /// let publisher = Publisher::<OrderCreated>::new(&kafka).retry_topics(tiers);
    /// publisher.message(&order).delay(Duration::from_secs(30)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay).filter(|delay| !delay.is_zero());
        self
    }

    /// Continues a trace; a blank id is replaced by a new one.
    pub fn trace_id(mut self, trace_id: &'a str) -> Self {
        self.draft = self.draft.trace_id(trace_id);
        self
    }

    /// Adds a header beside the `bq-` ones. Headers may repeat.
    pub fn header(mut self, name: &'a str, value: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.headers.push((name, value.as_ref()));
        self
    }

    /// Adds an entry to the envelope's `meta`; `ext` with one block a vendor is the recommended place.
    pub fn meta(mut self, key: &'a str, value: &(impl Serialize + ?Sized)) -> Self {
        self.draft = self.draft.meta(key, value);
        self
    }

    /// Publishes the message and returns its `meta.id` once the broker has acknowledged it.
    ///
    /// # Errors
    ///
    /// The payload does not serialize or is not valid, a header or `meta` entry is not allowed, no tier is as long as the
    /// delay, or the record was not acknowledged within the delivery timeout; the error hands the record back.
    pub async fn send(self) -> Result<Uuid, PublishError> {
        let sink = self.kafka.sink()?;
        let (urn, topic) = (J::URN, self.topic);
        let (record, id, trace_id) = self.into_record()?;
        match sink.send(record).await {
            Ok(()) => tracing::debug!(urn, topic, message_id = %id, trace_id, "published"),
            Err(failed) => {
                tracing::warn!(urn, topic, message_id = %id, trace_id, error = %failed.error, "not published");
                return Err(failed.into());
            }
        }
        Ok(id)
    }

    /// The tier that the message waits on, and for how long it was asked to.
    fn tier(&self) -> Result<Option<(Tier, Duration)>, PublishError> {
        let Some(delay) = self.delay else { return Ok(None) };
        let topics = self.retry_topics.filter(|topics| topics.work_topic() == self.topic);
        let topics = topics.ok_or_else(|| DelayError::NoTiers { topic: self.topic.to_owned() })?;
        topics.validate()?;
        Ok(Some((topics.tier_for(delay)?, delay)))
    }

    /// The record, its `meta.id` and its trace id.
    fn into_record(mut self) -> Result<(OutgoingRecord, Uuid, String), PublishError> {
        let tier = self.tier()?;
        self.draft = self.draft.created_at(self.kafka.config().clock.now_ms());
        let encoded = self.draft.encode(self.job)?;
        #[cfg(feature = "validate")]
        self.validate(&encoded.body)?;
        let key = match self.key {
            Key::OfJob => self.job.key().map(Cow::into_owned),
            Key::Chosen(key) => key.map(<[u8]>::to_vec),
        };
        let mut id = Uuid::encode_buffer();
        let repeated = Repeated {
            urn: J::URN,
            trace_id: &encoded.trace_id,
            message_id: encoded.id.hyphenated().encode_lower(&mut id),
            source_lang: LANG,
            attempts: 0,
        };
        let topic = tier.as_ref().map_or(self.topic, |(tier, _)| &tier.topic).to_owned();
        let mut record = OutgoingRecord::new(topic, key, Some(encoded.body), Some(encoded.created_at));
        for (name, value) in repeated.headers() {
            record.push_header(name.as_bytes(), Some(value.as_bytes()));
        }
        if let Some((_, delay)) = tier {
            record.push_header(headers::DELAY.as_bytes(), Some(whole_ms(delay).to_string().as_bytes()));
            record.push_header(headers::ORIGINAL_TOPIC.as_bytes(), Some(self.topic.as_bytes()));
        }
        #[cfg(feature = "otel")]
        if !self.headers.iter().any(|(name, _)| *name == trace::TRACEPARENT)
            && let Some(traceparent) = trace::current_traceparent().or_else(|| self.delivered.map(str::to_owned))
        {
            record.push_header(trace::TRACEPARENT.as_bytes(), Some(traceparent.as_bytes()));
        }
        for (name, value) in self.headers {
            if name.starts_with(headers::PREFIX) || name.contains('\0') {
                return Err(PublishError::Header { name: name.to_owned() });
            }
            record.push_header(name.as_bytes(), Some(value));
        }
        Ok((record, encoded.id, encoded.trace_id))
    }
}

#[cfg(feature = "validate")]
impl<J: Job> Message<'_, J> {
    /// Judges the payload as it was written: that is what a consumer will see.
    fn validate(&self, body: &[u8]) -> Result<(), PublishError> {
        let Some(schemas) = self.kafka.schemas().filter(|schemas| schemas.covers(J::URN)) else { return Ok(()) };
        if let Verdict::Ok(envelope) = envelope::decode(body) {
            schemas.validate(J::URN, envelope.data().unwrap_or("{}"))?;
        }
        Ok(())
    }
}

impl<'a, J: Job> IntoFuture for Message<'a, J> {
    type Output = Result<Uuid, PublishError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// Why a job was not published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The payload or an added member cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The payload violates the schema of its URN; nothing was sent.
    #[cfg(feature = "validate")]
    #[error("not published: {0}")]
    Invalid(#[from] crate::validate::Violations),
    /// A header of the name cannot be added.
    #[error(
        "header `{name}` cannot be added: names that begin with `bq-` belong to the contract, and none holds a NUL"
    )]
    Header {
        /// The name.
        name: String,
    },
    /// No retry topic holds the message back as long as was asked for; nothing is sent.
    #[error(transparent)]
    Delay(#[from] DelayError),
    /// The sending client does not start, or the retry topics cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The broker did not acknowledge the record in time, or refused it. After a timeout the record may have been
    /// written all the same: consumers tell a second copy by its `meta.id`.
    #[error("not published to `{}`: {error}", record.topic())]
    NotDelivered {
        /// What Kafka answered.
        error: KafkaError,
        /// The record, to be sent again by [`Kafka::resend`] with the same `meta.id`.
        record: Box<OutgoingRecord>,
    },
}

impl From<SendError> for PublishError {
    fn from(SendError { error, record }: SendError) -> Self {
        Self::NotDelivered { error, record }
    }
}

impl Kafka {
    /// Sends a record once more that a failed publish has handed back. It keeps its `meta.id`, so a consumer can tell
    /// that it is the same message.
    ///
    /// # Errors
    ///
    /// As [`Publisher::publish`].
    pub async fn resend(&self, record: OutgoingRecord) -> Result<(), PublishError> {
        Ok(self.sink()?.send(record).await?)
    }
}
