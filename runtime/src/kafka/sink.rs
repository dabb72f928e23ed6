//! Sends records and waits for the broker's acknowledgement; a record that was not sent comes back.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig,
    producer::{BaseRecord, Producer as _, PurgeConfig},
};
use tokio::sync::oneshot;

use super::{
    line::Place,
    outgoing::{OutgoingRecord, SendError, Sent},
    reports::{Client, Reply, Report, Reports},
    settings,
};
use crate::{
    config::{Config, ConfigError},
    error::KafkaError,
    time::deadline,
};

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

fn closed(record: OutgoingRecord) -> SendError {
    SendError { error: KafkaError::closed("publisher"), record: Box::new(record) }
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
