//! The records of one assigned partition, in order: gate, route, decode, handle, settle.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::{Cause, settlement::Settlement};
use crate::{
    envelope::{self, Envelope, Poison, Verdict},
    handler::{Delivery, HandlerError},
    headers::Projection,
    idempotency::{Guarded, Idempotency},
    kafka::Batches,
    record::Record,
    retry_topics::RetryTopics,
    router::{Route, Routes},
    settle::{Outcome, UnknownUrn},
};

/// How long the writes of a partition may take once a record has stopped its consumer.
const LAST_WRITES: Duration = Duration::from_secs(5);

pub(super) struct Worker {
    pub(super) routes: Arc<Routes>,
    pub(super) retry_topics: Arc<[RetryTopics]>,
    pub(super) batches: Batches,
    pub(super) idempotency: Option<Idempotency>,
    pub(super) settlement: Settlement,
}

impl Worker {
    /// Works until the assignment ends, or returns why it had to stop.
    pub(super) async fn run(mut self) -> Option<Cause> {
        let stopped = self.work().await;
        match stopped {
            None => self.settlement.finished().await,
            // What cannot be written soon is left uncommitted, and delivered again.
            Some(_) => drop(tokio::time::timeout(LAST_WRITES, self.settlement.finished()).await),
        }
        // A failure of an assignment that has ended is left to the partition's next owner.
        stopped.filter(|_| !self.settlement.progress.is_stopped())
    }

    async fn work(&mut self) -> Option<Cause> {
        loop {
            let batch = tokio::select! {
                batch = self.batches.next() => Arc::new(batch?),
                error = self.settlement.client_ended() => return Some(Cause::Kafka(error)),
            };
            let mut delivery = Delivery::new(
                self.settlement.kafka.clone(),
                Arc::clone(&self.retry_topics),
                self.settlement.partition.clone(),
                Arc::clone(&batch),
            );
            while let Some(record) = batch.get(delivery.index) {
                if self.settlement.progress.is_stopped() {
                    return None;
                }
                self.settlement.progress.start(record.offset);
                let outcome = self.process(&record, &mut delivery).await;
                if let Some(stopped) = self.settlement.settle(&delivery, record.offset, &outcome).await {
                    return Some(Cause::Record(stopped));
                }
                delivery.index += 1;
            }
        }
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
        delivery.begin(projection.attempts.unwrap_or_default());
        projection
            .version_gate()
            .map_err(|version| Outcome::WrongVersion(String::from_utf8_lossy(version).into_owned()))?;

        let named = projection.job.map(|urn| self.routes.find(urn));
        if matches!(named, Some(None)) && !self.needs_unknown_records() {
            return Err(Outcome::UnknownUrn);
        }
        let envelope = decode(record)?;
        delivery.attempts = projection.attempts.unwrap_or_else(|| envelope.attempts().max(0));
        let route = named.unwrap_or_else(|| self.routes.find(envelope.urn())).ok_or(Outcome::UnknownUrn)?;
        if let Some(version) = envelope.schema_version().filter(|version| *version != 1) {
            return Err(Outcome::WrongVersion(version.to_string()));
        }
        for warning in envelope.warnings() {
            tracing::warn!(at = %self.settlement.partition, offset = record.offset, urn = route.urn(), "{warning}");
        }
        delivery.keep_ids_of(&envelope, &projection);
        // An absent payload is an empty one.
        Ok((route, envelope.data().unwrap_or("{}")))
    }

    /// Whether a record without a handler goes to another topic, for which it has to be an envelope.
    fn needs_unknown_records(&self) -> bool {
        matches!(self.settlement.rules.unknown_urn, UnknownUrn::Release | UnknownUrn::DeadLetter)
    }

    async fn handle(&self, route: &Route, data: &str, delivery: &Delivery) -> Outcome {
        let span = tracing::info_span!(
            "babelqueue.handle",
            urn = route.urn(),
            at = %self.settlement.partition,
            offset = delivery.offset(),
            trace_id = delivery.trace_id(),
            message_id = delivery.message_id(),
            attempts = delivery.attempts(),
            otel.kind = "consumer",
            otel.name = tracing::field::Empty,
        );
        #[cfg(feature = "otel")]
        crate::trace::continue_from(
            &span,
            delivery.topic(),
            delivery.headers(),
            delivery.trace_id(),
            delivery.attempts(),
        );
        // Decoded within, so that a panic of the user's decoding is caught, and a duplicate is not decoded.
        let mut misfit = None;
        let work = async {
            match route.call(data, delivery) {
                Ok(handling) => handling.await,
                Err(error) => Err(HandlerError::fatal(misfit.insert(error).to_string())),
            }
        };
        let guarded = async {
            let Some(guard) = &self.idempotency else { return work.await };
            if guard.run(delivery.message_id(), work).await? == Guarded::Skipped {
                self.settlement.count_duplicate();
            }
            Ok(())
        };
        let result = AssertUnwindSafe(guarded.instrument(span)).catch_unwind().await;
        match (result, misfit) {
            (_, Some(misfit)) => Outcome::Misfit(misfit),
            (Ok(Ok(())), None) => Outcome::Handled,
            (Ok(Err(error)), None) => Outcome::Failed(error),
            (Err(panic), None) => Outcome::Failed(HandlerError::new(panic_text(panic.as_ref()))),
        }
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
