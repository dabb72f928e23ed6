//! The records of one assigned partition, in order: gate, route, decode, handle, settle.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::FutureExt as _;
use tokio::sync::{Mutex, mpsc::UnboundedReceiver};
use tracing::Instrument as _;

use super::{Hooks, RecordError, Summary, report::explain};
use crate::{
    client::Kafka,
    envelope::{self, Envelope, Poison, Verdict},
    error::KafkaError,
    handler::{Delivery, HandlerError},
    headers::{self, Projection},
    idempotency::{Guarded, Idempotency},
    kafka::Progress,
    record::{Batch, Record, TopicPartition},
    router::{Route, Routes},
    settle::{Decision, Outcome, UnknownUrn, decide},
};

/// Held by the worker of a partition: a new assignment waits until the handler of the last one has ended.
pub(super) type Turn = Arc<Mutex<()>>;

pub(super) struct Worker {
    pub(super) partition: TopicPartition,
    pub(super) batches: UnboundedReceiver<Batch>,
    pub(super) progress: Arc<Progress>,
    pub(super) routes: Arc<Routes>,
    pub(super) kafka: Kafka,
    pub(super) unknown_urn: UnknownUrn,
    pub(super) idempotency: Option<Idempotency>,
    pub(super) hooks: Hooks,
    pub(super) counts: Arc<Counts>,
}

#[derive(Default)]
pub(super) struct Counts {
    handled: AtomicU64,
    duplicates: AtomicU64,
    rejected: AtomicU64,
    deleted: AtomicU64,
}

impl Counts {
    pub(super) fn summary(
        &self,
        unfinished: Vec<(TopicPartition, i64)>,
        uncommitted: Option<KafkaError>,
        left_group: bool,
    ) -> Summary {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Summary {
            handled: count(&self.handled),
            duplicates: count(&self.duplicates),
            rejected: count(&self.rejected),
            deleted: count(&self.deleted),
            unfinished,
            uncommitted,
            left_group,
        }
    }
}

impl Worker {
    /// Works until the assignment ends, or returns the record that it had to stop at.
    pub(super) async fn run(mut self, turn: Turn) -> Option<RecordError> {
        let _turn = turn.lock().await;
        while let Some(batch) = self.batches.recv().await {
            let batch = Arc::new(batch);
            let mut delivery = Delivery::new(self.kafka.clone(), self.partition.clone(), Arc::clone(&batch));
            while let Some(record) = batch.get(delivery.index) {
                if self.progress.is_stopped() {
                    return None;
                }
                self.progress.start(record.offset);
                let outcome = self.process(&record, &mut delivery).await;
                if let Some(stopped) = self.settle(&delivery, record.offset, &outcome) {
                    // A failure of an assignment that has ended is left to the partition's next owner.
                    return Some(stopped).filter(|_| !self.progress.is_stopped());
                }
                delivery.index += 1;
            }
            self.progress.release(batch.size());
        }
        None
    }

    async fn process(&self, record: &Record<'_>, delivery: &mut Delivery) -> Outcome {
        match self.open(record, delivery) {
            Ok((route, data)) => self.handle(route, data, delivery).await,
            Err(outcome) => outcome,
        }
    }

    /// Gate, route and decode: nothing is decoded before the gate is passed and a handler is found.
    fn open<'r, 'b>(&'r self, record: &Record<'b>, delivery: &mut Delivery) -> Result<(&'r Route, &'b str), Outcome> {
        let projection = Projection::read(record.headers);
        projection
            .version_gate()
            .map_err(|version| Outcome::WrongVersion(String::from_utf8_lossy(version).into_owned()))?;

        let named = match projection.job {
            Some(urn) => Some(self.routes.find(urn).ok_or(Outcome::UnknownUrn)?),
            None => None,
        };
        let envelope = decode(record)?;
        let route = match named {
            Some(route) => route,
            None => self.routes.find(envelope.urn()).ok_or(Outcome::UnknownUrn)?,
        };
        if let Some(version) = envelope.schema_version().filter(|version| *version != 1) {
            return Err(Outcome::WrongVersion(version.to_string()));
        }
        for warning in envelope.warnings() {
            tracing::warn!(at = %self.partition, offset = record.offset, urn = route.urn(), "{warning}");
        }
        delivery.attempts = projection.attempts.unwrap_or_else(|| envelope.attempts());
        delivery.keep_ids_of(&envelope, &projection);
        // An absent payload is an empty one.
        Ok((route, envelope.data().unwrap_or("{}")))
    }

    async fn handle(&self, route: &Route, data: &str, delivery: &Delivery) -> Outcome {
        let handling = match route.call(data, delivery) {
            Ok(handling) => handling,
            Err(misfit) => return Outcome::Misfit(misfit),
        };
        let span = tracing::info_span!(
            "babelqueue.handle",
            urn = route.urn(),
            at = %self.partition,
            offset = delivery.offset(),
            trace_id = delivery.trace_id(),
            message_id = delivery.message_id(),
            attempts = delivery.attempts(),
        );
        let guarded = async {
            let Some(guard) = &self.idempotency else { return handling.await };
            if guard.run(delivery.message_id(), handling).await? == Guarded::Skipped {
                self.counts.duplicates.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        match AssertUnwindSafe(guarded.instrument(span)).catch_unwind().await {
            Ok(Ok(())) => Outcome::Handled,
            Ok(Err(error)) => Outcome::Failed(error),
            Err(panic) => Outcome::Failed(HandlerError::new(panic_text(panic.as_ref()))),
        }
    }

    /// Carries out the policy; returns the record if it has to stop the consumer.
    fn settle(&self, delivery: &Delivery, offset: i64, outcome: &Outcome) -> Option<RecordError> {
        let decision = decide(outcome, self.unknown_urn);
        let counter = match decision {
            Decision::Commit => {
                tracing::debug!(at = %self.partition, offset, trace_id = delivery.trace_id(), "handled");
                &self.counts.handled
            }
            Decision::Delete => {
                tracing::info!(at = %self.partition, offset, trace_id = delivery.trace_id(), "no handler, let go by");
                &self.counts.deleted
            }
            Decision::Reject | Decision::Stop => {
                let error = self.describe(delivery, offset, outcome, decision == Decision::Reject)?;
                tracing::error!(trace_id = error.trace_id, committed = error.committed, "{error}");
                self.hooks.error(&error);
                if decision == Decision::Stop {
                    return Some(error);
                }
                &self.counts.rejected
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.progress.finish(offset);
        None
    }

    fn describe(&self, delivery: &Delivery, offset: i64, outcome: &Outcome, committed: bool) -> Option<RecordError> {
        let (reason, error) = explain(outcome)?;
        let headers = delivery.headers();
        let body = delivery.record().and_then(|record| record.value).map(envelope::decode);
        let body = match &body {
            Some(Verdict::Ok(envelope)) => Some(envelope),
            _ => None,
        };
        let urn = headers.get_str(headers::JOB).or_else(|| body.map(Envelope::urn));
        let trace_id = headers.get_str(headers::TRACE_ID).or_else(|| body.and_then(Envelope::trace_id));
        Some(RecordError {
            partition: self.partition.clone(),
            offset,
            urn: urn.map(str::to_owned),
            trace_id: trace_id.map(str::to_owned),
            reason,
            error,
            committed,
        })
    }
}

fn decode<'b>(record: &Record<'b>) -> Result<Envelope<'b>, Outcome> {
    let value = record.value.ok_or(Outcome::Poison(Poison::NoValue))?;
    match envelope::decode(value) {
        Verdict::Ok(envelope) => Ok(envelope),
        Verdict::NoIdentity => Err(Outcome::NoIdentity),
        Verdict::Poison(poison) => Err(Outcome::Poison(poison)),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("no message"))
}
