//! What the client tells of its connection and of the records that it has sent.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use rdkafka::{
    ClientContext,
    error::{KafkaError as ClientError, RDKafkaErrorCode as Code},
    message::{BorrowedMessage, Message as _},
    producer::{DeliveryResult, Producer as _, ProducerContext, PurgeConfig, ThreadedProducer},
};
use tokio::sync::{Notify, oneshot};

#[cfg(feature = "testing")]
use super::native;
use super::{
    errors,
    line::Place,
    outgoing::{OutgoingRecord, SendError, Sent},
    probe::Probe,
    troubles::Troubles,
};
use crate::{
    config::Config,
    error::{Class, KafkaError},
    time::Clock,
};
#[cfg(feature = "testing")]
use crate::{
    lab::{Lab, Observed},
    record::{Batch, TopicPartition},
};

const TIMED_OUT: &str = "MessageTimedOut";
const ALL_DOWN: &str = "AllBrokersDown";

pub(super) type Client = ThreadedProducer<Reports>;

/// Where to answer a send, and what the client's own report leaves out.
pub(super) struct Report {
    pub(super) reply: Reply,
    pub(super) timestamp: Option<i64>,
}

/// Whoever waits for what becomes of a record.
pub(super) enum Reply {
    Sender(oneshot::Sender<Sent>),
    Place(Place<SendError>),
}

impl Reply {
    pub(super) fn answer(self, sent: Sent) {
        match self {
            // The sender may have stopped waiting.
            Self::Sender(sender) => drop(sender.send(sent)),
            Self::Place(place) => place.answer(sent),
        }
    }
}

/// Shared with the thread that takes the delivery reports.
#[derive(Clone)]
pub(super) struct Reports {
    pub(super) closed: Arc<AtomicBool>,
    pub(super) room: Arc<Notify>,
    /// Records that the client has and that are not answered; its own count holds events too.
    pub(super) on_their_way: Arc<AtomicUsize>,
    /// The last one, for whoever asks why a record timed out.
    trouble: Arc<Mutex<Option<KafkaError>>>,
    troubles: Arc<Mutex<Troubles>>,
    pub(super) clock: Clock,
    #[cfg(feature = "testing")]
    pub(super) lab: Option<Arc<Lab>>,
    probe: Arc<Probe>,
    admitted: Arc<AtomicBool>,
    /// Why no broker lets the client in, until one does; or why the client is of no use any more.
    refusal: Arc<Mutex<Option<KafkaError>>>,
    /// Set once the client is made, which owns one of these.
    pub(super) client: Arc<OnceLock<Weak<Client>>>,
}

impl Reports {
    pub(super) fn new(config: &Config) -> Self {
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

    pub(super) fn refusal(&self) -> Option<KafkaError> {
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
    pub(super) fn find_out_again(&self) {
        if !self.admitted.load(Ordering::Relaxed) && self.refusal().is_some() {
            self.find_out();
        }
    }

    /// A record that timed out while the broker refused the account was refused; one that timed out otherwise tells what
    /// the connection said last.
    pub(super) fn explain(&self, mut failed: SendError) -> SendError {
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
