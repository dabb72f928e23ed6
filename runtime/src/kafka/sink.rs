//! Sends records and waits for the broker's acknowledgement; a record that was not sent comes back.

use std::{
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, ClientContext,
    error::{KafkaError as ClientError, RDKafkaErrorCode as Code},
    message::{BorrowedMessage, Message as _, OwnedHeaders},
    producer::{BaseRecord, DeliveryResult, Producer as _, ProducerContext, PurgeConfig, ThreadedProducer},
};
use tokio::sync::{Notify, oneshot};

use super::{errors, line::Place, native, probe::Probe, settings, troubles::Troubles};
use crate::{
    config::{Config, ConfigError},
    error::{Class, KafkaError},
    record::Record,
    time::{Clock, deadline},
};
#[cfg(feature = "testing")]
use crate::{
    lab::{Lab, Observed},
    record::{Batch, TopicPartition},
};

/// A record on its way to Kafka; a failed send hands it back.
#[derive(Clone)]
pub struct OutgoingRecord {
    topic: String,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: OwnedHeaders,
    timestamp: Option<i64>,
}

impl OutgoingRecord {
    /// `timestamp` in Unix milliseconds; `None` is the time of the write.
    pub(crate) fn new(topic: String, key: Option<Vec<u8>>, value: Option<Vec<u8>>, timestamp: Option<i64>) -> Self {
        Self { topic, key, value, headers: OwnedHeaders::new_with_capacity(8), timestamp }
    }

    /// The next hop of a record: its key and, but for those of these names, its headers, in their order. Its timestamp is
    /// the time of the write, as retention goes by it (contract section 2).
    pub(crate) fn next_hop(record: &Record<'_>, topic: &str, value: Option<Vec<u8>>, without: &[&str]) -> Self {
        let mut next = Self::new(topic.to_owned(), record.key.map(<[u8]>::to_vec), value, None);
        for (name, value) in record.headers {
            if !without.iter().any(|other| other.as_bytes() == name) {
                next.push_header(name, value);
            }
        }
        next
    }

    pub(crate) fn push_header(&mut self, name: &[u8], value: Option<&[u8]>) {
        native::push_header(&mut self.headers, name, value);
    }

    /// The topic.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The key; `None` is the null key.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.key.as_deref()
    }

    /// The value: the envelope.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        self.value.as_deref()
    }

    /// The headers, in order; names may repeat.
    #[must_use]
    pub fn headers(&self) -> Vec<(&[u8], Option<&[u8]>)> {
        native::headers(&self.headers)
    }
}

impl fmt::Debug for OutgoingRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        f.debug_struct("OutgoingRecord")
            .field("topic", &self.topic)
            .field("key", &self.key().map(text))
            .field("value_bytes", &self.value.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

/// A record that was not acknowledged, and why. It may have been written all the same when the error is a timeout, or
/// when the broker did not say.
#[derive(Debug)]
pub(crate) struct SendError {
    pub(crate) error: KafkaError,
    pub(crate) record: Box<OutgoingRecord>,
}

/// What became of a record.
pub(crate) type Sent = Result<(), SendError>;

/// Where to answer a send, and what the client's own report leaves out.
struct Report {
    reply: Reply,
    timestamp: Option<i64>,
}

/// Whoever waits for what becomes of a record.
enum Reply {
    Sender(oneshot::Sender<Sent>),
    Place(Place<SendError>),
}

impl Reply {
    fn answer(self, sent: Sent) {
        match self {
            // The sender may have stopped waiting.
            Self::Sender(sender) => drop(sender.send(sent)),
            Self::Place(place) => place.answer(sent),
        }
    }
}

type Client = ThreadedProducer<Reports>;

/// The sending side of a connection: an idempotent client that waits for all in-sync replicas.
pub(crate) struct Sink {
    /// Taken out when this is dropped, and only then.
    client: Option<Arc<Client>>,
    /// Sends each record in a request of its own. Started for the first record that failed as part of a batch that was
    /// too large for its topic, so that it is told apart from the record that really is.
    singly: OnceLock<Option<Client>>,
    config: ClientConfig,
    timeout: Duration,
    /// Sends that wait for room in the local queue.
    waiting: AtomicUsize,
    reports: Reports,
}

/// Counts a send that waits, also when it stops waiting because its future is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn in_line(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Shared with the thread that takes the delivery reports.
#[derive(Clone)]
struct Reports {
    closed: Arc<AtomicBool>,
    room: Arc<Notify>,
    /// Records that the client has and that are not answered; its own count holds events too.
    on_their_way: Arc<AtomicUsize>,
    /// The last one, for whoever asks why a record timed out.
    trouble: Arc<Mutex<Option<KafkaError>>>,
    troubles: Arc<Mutex<Troubles>>,
    clock: Clock,
    #[cfg(feature = "testing")]
    lab: Option<Arc<Lab>>,
    probe: Arc<Probe>,
    admitted: Arc<AtomicBool>,
    /// Why no broker lets the client in, until one does; or why the client is of no use any more.
    refusal: Arc<Mutex<Option<KafkaError>>>,
    /// Set once the client is made, which owns one of these.
    client: Arc<OnceLock<Weak<Client>>>,
}

impl Sink {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        let timeout = config.delivery_timeout;
        let reports = Reports::new(config);
        let config = settings::publisher(config);
        let client = Arc::new(config.create_with_context(reports.clone()).map_err(settings::refused)?);
        let _ = reports.client.set(Arc::downgrade(&client));
        Ok(Self {
            client: Some(client),
            singly: OnceLock::new(),
            config,
            timeout,
            waiting: AtomicUsize::new(0),
            reports,
        })
    }

    /// Sends a record and waits for its acknowledgement, at most the delivery timeout. While the local queue is full it
    /// waits for room.
    ///
    /// Dropping the future does not take the record back: once queued it is sent.
    pub(crate) async fn send(&self, record: OutgoingRecord) -> Sent {
        let Some(client) = &self.client else { return Err(closed(record)) };
        match self.send_with(client, record).await {
            Err(SendError { error, record }) if error.is_too_large() => {
                match self.singly.get_or_init(|| self.start_singly()) {
                    Some(client) => self.send_with(client, *record).await,
                    None => Err(SendError { error, record }),
                }
            }
            Err(SendError { error, record }) if error.is_unconfirmed() => self.send_with(client, *record).await,
            result => result,
        }
    }

    fn start_singly(&self) -> Option<Client> {
        let mut config = self.config.clone();
        config.set("batch.num.messages", "1").create_with_context(self.reports.clone()).ok()
    }

    /// Puts a record into the client's queue and leaves the wait for its acknowledgement to the caller, so that many can
    /// be on their way. Records of one partition are written in the order of these calls. Unlike [`Sink::send`] it does
    /// not send again what failed as part of a batch that was too large.
    pub(crate) async fn queue(&self, record: OutgoingRecord) -> Sending {
        let (sender, reply) = oneshot::channel();
        self.queue_for(record, Reply::Sender(sender)).await;
        Sending { reports: self.reports.clone(), reply }
    }

    /// The same; what becomes of the record is told to this place of a line, without the explanation of
    /// [`Sink::explain`].
    pub(super) async fn queue_in_line(&self, record: OutgoingRecord, place: Place<SendError>) {
        self.queue_for(record, Reply::Place(place)).await;
    }

    /// Why a record has failed, as far as the connection knows.
    pub(super) fn explain(&self, failed: SendError) -> SendError {
        self.reports.explain(failed)
    }

    async fn send_with(&self, client: &Client, record: OutgoingRecord) -> Sent {
        let (sender, reply) = oneshot::channel();
        self.queue_with(client, record, Reply::Sender(sender)).await;
        Sending { reports: self.reports.clone(), reply }.acknowledged().await
    }

    async fn queue_for(&self, record: OutgoingRecord, reply: Reply) {
        match &self.client {
            Some(client) => self.queue_with(client, record, reply).await,
            None => reply.answer(Err(closed(record))),
        }
    }

    async fn queue_with(&self, client: &Client, mut record: OutgoingRecord, reply: Reply) {
        #[cfg(feature = "testing")]
        if let Some(error) =
            self.reports.lab.as_ref().and_then(|lab| lab.faults.refuse(&record.topic, record.value.as_deref()))
        {
            return reply.answer(Err(SendError { error, record: Box::new(record) }));
        }
        let deadline = deadline(self.timeout);
        let mut report = Box::new(Report { reply, timestamp: record.timestamp });
        loop {
            // Made before trying, so that neither room nor the closing is missed in between.
            let room = self.reports.room.notified();
            if self.reports.closed.load(Ordering::Acquire) {
                return report.reply.answer(Err(closed(record)));
            }
            self.reports.on_their_way.fetch_add(1, Ordering::Relaxed);
            let Err((mut failed, back)) = enqueue(client, record, report) else { return self.reports.find_out_again() };
            self.reports.on_their_way.fetch_sub(1, Ordering::Relaxed);
            if failed.error.is_fatal()
                && let Some(cause) = self.reports.refusal()
            {
                failed.error = cause;
            }
            if failed.error.code() != QUEUE_FULL {
                return back.reply.answer(Err(failed));
            }
            let _waiting = Waiting::in_line(&self.waiting);
            if tokio::time::timeout_at(deadline.into(), room).await.is_err() {
                return back.reply.answer(Err(failed));
            }
            (record, report) = (*failed.record, back);
        }
    }

    /// Waits for what is queued, at most until the deadline, and gives up the rest; each pending send is answered.
    /// Returns the number of records that were given up.
    pub(crate) fn close(&self, deadline: Instant) -> usize {
        self.reports.closed.store(true, Ordering::Release);
        let waiting = self.waiting.load(Ordering::Relaxed);
        self.reports.room.notify_waiters();
        let singly = self.singly.get().and_then(Option::as_ref);
        let clients = || self.client.as_deref().into_iter().chain(singly);
        // An error means that the time was up.
        clients().for_each(|client| drop(client.flush(deadline.saturating_duration_since(Instant::now()))));
        let left = self.reports.on_their_way.load(Ordering::Relaxed);
        for client in clients() {
            client.purge(PurgeConfig::default().queue().inflight());
            // The reports of what was purged are taken by this call or by the client's own thread.
            let _ = client.flush(Duration::from_secs(1));
        }
        left + waiting
    }
}

impl Reports {
    fn new(config: &Config) -> Self {
        Self {
            closed: Arc::default(),
            room: Arc::default(),
            on_their_way: Arc::default(),
            trouble: Arc::default(),
            troubles: Arc::default(),
            clock: config.clock.clone(),
            #[cfg(feature = "testing")]
            lab: config.lab.clone(),
            probe: Probe::new(config),
            admitted: Arc::default(),
            refusal: Arc::default(),
            client: Arc::default(),
        }
    }

    fn refusal(&self) -> Option<KafkaError> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether no broker lets the client in; if so, gives back what waits for one: nothing of it was sent.
    fn find_out(&self) {
        let reports = self.clone();
        self.probe.start(move |refusal| {
            let refusal = refusal.filter(|_| !reports.admitted.load(Ordering::Relaxed));
            let is_refused = refusal.is_some();
            let mut known = reports.refusal.lock().unwrap_or_else(PoisonError::into_inner);
            if known.as_ref().is_some_and(KafkaError::is_fatal) {
                return;
            }
            *known = refusal;
            drop(known);
            if is_refused && let Some(client) = reports.client.get().and_then(Weak::upgrade) {
                client.purge(PurgeConfig::default().queue());
            }
        });
    }

    /// A client that was refused tries seldom; whoever sends a record then does not wait for that.
    fn find_out_again(&self) {
        if !self.admitted.load(Ordering::Relaxed) && self.refusal().is_some() {
            self.find_out();
        }
    }

    /// A record that timed out while the broker refused the account was refused; one that timed out otherwise tells what
    /// the connection said last.
    fn explain(&self, mut failed: SendError) -> SendError {
        if failed.error.code() != TIMED_OUT {
            return failed;
        }
        match self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            Some(trouble) if trouble.is_refused() => failed.error = trouble,
            Some(trouble) => failed.error = failed.error.because(&trouble),
            None => {}
        }
        failed
    }
}

#[cfg(feature = "testing")]
impl Reports {
    /// Shows the test kit a record that was written.
    fn saw(&self, message: &BorrowedMessage<'_>) {
        let Some(lab) = &self.lab else { return };
        let at = TopicPartition { topic: message.topic().into(), partition: message.partition() };
        let mut batch = Batch::with_capacity(0, 1);
        batch.push(message.offset(), message.timestamp().to_millis(), message.key(), message.payload(), |headers| {
            native::copy_headers(message, headers);
        });
        lab.observe(Observed::Written { at, record: batch });
    }
}

/// A record on its way to the broker. Dropping this does not take it back.
pub(crate) struct Sending {
    reports: Reports,
    reply: oneshot::Receiver<Sent>,
}

impl Sending {
    /// Waits for the acknowledgement.
    pub(crate) async fn acknowledged(self) -> Sent {
        match self.reply.await {
            Ok(result) => result.map_err(|failed| self.reports.explain(failed)),
            // The client's thread is gone without a report, which closing prevents.
            Err(_) => Err(closed(OutgoingRecord::new(String::new(), None, None, None))),
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let clients = (self.client.take(), self.singly.take());
        // Dropping a client waits for its thread, so it must not happen on an async thread.
        let _ = thread::Builder::new().name("babelqueue-drop".to_owned()).spawn(move || drop(clients));
    }
}

const QUEUE_FULL: &str = "QueueFull";
const TIMED_OUT: &str = "MessageTimedOut";
const ALL_DOWN: &str = "AllBrokersDown";

fn closed(record: OutgoingRecord) -> SendError {
    SendError { error: KafkaError::closed("publisher"), record: Box::new(record) }
}

/// What a report hands back.
fn given_back(message: &BorrowedMessage<'_>, timestamp: Option<i64>) -> Box<OutgoingRecord> {
    let message = message.detach();
    Box::new(OutgoingRecord {
        topic: message.topic().to_owned(),
        key: message.key().map(<[u8]>::to_vec),
        value: message.payload().map(<[u8]>::to_vec),
        headers: message.headers().cloned().unwrap_or_default(),
        timestamp,
    })
}

fn closed_too_early() -> KafkaError {
    KafkaError::new("Closed", "the publisher was closed before the broker's answer", Class::Permanent)
}

fn enqueue(client: &Client, record: OutgoingRecord, report: Box<Report>) -> Result<(), (SendError, Box<Report>)> {
    let OutgoingRecord { topic, key, value, headers, timestamp } = record;
    let mut send: BaseRecord<'_, [u8], [u8], Box<Report>> = BaseRecord::with_opaque_to(&topic, report);
    send.key = key.as_deref();
    send.payload = value.as_deref();
    send.timestamp = timestamp.or_else(|| client.context().clock.stamp());
    send.headers = Some(headers);
    match client.send(send) {
        Ok(()) => Ok(()),
        Err((error, BaseRecord { headers, delivery_opaque: report, .. })) => {
            let headers = headers.unwrap_or_default();
            let record = Box::new(OutgoingRecord { topic, key, value, headers, timestamp });
            Err((SendError { error: error.into(), record }, report))
        }
    }
}

impl ClientContext for Reports {
    fn error(&self, error: ClientError, reason: &str) {
        let code = error.rdkafka_error_code();
        let mut error = KafkaError::from(error).with_context(reason);
        if code == Some(Code::ClusterAuthorizationFailed) {
            // It may not even begin as an idempotent producer, and does not ask again.
            error = error.for_good();
        }
        if self.closed.load(Ordering::Acquire) {
            // Nobody waits for the connection any more.
            tracing::debug!(%error, "publisher");
            return;
        }
        if error.is_fatal() {
            *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        } else if !self.admitted.load(Ordering::Relaxed) && errors::is_of_the_connection(code) {
            self.find_out();
        }
        if self.troubles.lock().unwrap_or_else(PoisonError::into_inner).are_new(error.code(), Instant::now()) {
            tracing::warn!(%error, "publisher");
        } else {
            tracing::debug!(%error, "publisher, the same trouble");
        }
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // "All brokers are down" follows each refused or failed connection and says less.
        if error.code() != ALL_DOWN || trouble.is_none() {
            *trouble = Some(error);
        }
    }
}

impl ProducerContext for Reports {
    type DeliveryOpaque = Box<Report>;

    fn delivery(&self, result: &DeliveryResult<'_>, report: Box<Report>) {
        #[cfg(feature = "testing")]
        let (Ok(message) | Err((_, message))) = result;
        #[cfg(feature = "testing")]
        let topic = message.topic();
        self.on_their_way.fetch_sub(1, Ordering::Relaxed);
        self.room.notify_one();
        let result = match result {
            // The client library takes a record for written when a later one of its partition was, and then knows no offset.
            // But a broker that has nothing of this client yet takes any record as the first one: those before it that it
            // has refused, as it was not the leader yet, would be lost.
            Ok(message) if message.offset() < 0 => {
                Err(SendError { error: KafkaError::unconfirmed(), record: given_back(message, report.timestamp) })
            }
            Ok(_) => {
                self.admitted.store(true, Ordering::Relaxed);
                // The connection works again, so what it said before explains nothing that comes.
                if let Ok(mut trouble) = self.trouble.try_lock()
                    && trouble.is_some()
                {
                    *trouble = None;
                }
                #[cfg(feature = "testing")]
                self.saw(message);
                Ok(())
            }
            Err((error, message)) => {
                let error = match error.rdkafka_error_code() {
                    Some(Code::PurgeQueue | Code::PurgeInflight) => {
                        let refusal = self.refusal().filter(|_| !self.closed.load(Ordering::Acquire));
                        refusal.unwrap_or_else(closed_too_early)
                    }
                    _ => error.clone().into(),
                };
                Err(SendError { error, record: given_back(message, report.timestamp) })
            }
        };
        #[cfg(feature = "testing")]
        if let Some(lab) = &self.lab {
            return lab.faults.answer(topic, Box::new(move || report.reply.answer(result)));
        }
        report.reply.answer(result);
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use std::time::Duration;

    use super::{super::mock::MockBroker, *};
    use crate::config::Scope;

    fn record(value: &str) -> OutgoingRecord {
        OutgoingRecord::new("orders".to_owned(), None, Some(value.into()), None)
    }

    #[tokio::test]
    async fn a_refused_record_is_not_taken_for_written_because_a_later_one_was() {
        let broker = MockBroker::start().unwrap();
        broker.create_topic("orders", 1).unwrap();
        let mut config = Config::new(broker.brokers());
        // Each record has a request of its own.
        config.set(Scope::Publisher, "batch.num.messages".to_owned(), "1".to_owned());
        let sink = Sink::new(&config).unwrap();
        sink.send(record("first")).await.unwrap();
        broker.refuse_next_write(Duration::from_millis(300)).unwrap();
        let (refused, later) = tokio::join!(sink.send(record("refused")), sink.send(record("later")));
        refused.unwrap();
        later.unwrap();
        assert_eq!(broker.end_of("orders").unwrap(), 3);
    }
}
