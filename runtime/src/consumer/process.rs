//! One record: gate, route, decode, handle. What comes of it is settled elsewhere.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::settlement::Counts;
use crate::{
    batch_handler::Failures,
    delivery::Delivery,
    envelope::{self, Envelope, Poison, Verdict},
    handler::HandlerError,
    headers::Projection,
    idempotency::{Guarded, Idempotency},
    record::Record,
    router::{Call, Gathering, Route, Routes, Target},
    settle::{Outcome, UnknownUrn},
};

/// What every record of a consumer is processed by.
pub(super) struct Processor {
    pub(super) routes: Arc<Routes>,
    pub(super) idempotency: Option<Idempotency>,
    pub(super) unknown_urn: UnknownUrn,
    pub(super) counts: Arc<Counts>,
}

impl Processor {
    /// Processes the record of a delivery.
    pub(super) async fn process(&self, record: &Record<'_>, delivery: &mut Delivery) -> Outcome {
        match self.open(record, delivery) {
            Ok((route, data)) => match route.target() {
                Target::One(handler) => self.handle(route, handler.as_ref(), data, delivery).await,
                // Not so: the consumer works in batches then.
                Target::Batch(..) => Outcome::Failed(HandlerError::new("its handler takes batches")),
            },
            Err(outcome) => outcome,
        }
    }

    /// Gate, route and decode: nothing is decoded before the gate is passed and a handler is found.
    pub(super) fn open<'r, 'b>(
        &'r self,
        record: &Record<'b>,
        delivery: &mut Delivery,
    ) -> Result<(&'r Route, &'b str), Outcome> {
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
            tracing::warn!(at = %delivery.at(), offset = record.offset, urn = route.urn(), "{warning}");
        }
        delivery.keep_ids_of(&envelope, &projection);
        // An absent payload is an empty one.
        Ok((route, envelope.data().unwrap_or("{}")))
    }

    /// Whether a record without a handler goes to another topic, for which it has to be an envelope.
    fn needs_unknown_records(&self) -> bool {
        matches!(self.unknown_urn, UnknownUrn::Release | UnknownUrn::DeadLetter)
    }

    pub(super) async fn handle(&self, route: &Route, handler: &dyn Call, data: &str, delivery: &Delivery) -> Outcome {
        let span = tracing::info_span!(
            "babelqueue.handle",
            urn = route.urn(),
            at = %delivery.at(),
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
            match handler.call(data, delivery) {
                Ok(handling) => handling.await,
                Err(error) => Err(HandlerError::fatal(misfit.insert(error).to_string())),
            }
        };
        let guarded = async {
            let Some(guard) = &self.idempotency else { return work.await };
            if guard.run(delivery.message_id(), work).await? == Guarded::Skipped {
                self.counts.duplicate();
            }
            Ok(())
        };
        let result = AssertUnwindSafe(guarded.instrument(span)).catch_unwind().await;
        match (result, misfit) {
            (_, Some(misfit)) => Outcome::Misfit(misfit),
            (Ok(Ok(())), None) => Outcome::Handled,
            (Ok(Err(error)), None) => Outcome::Failed(error),
            (Err(panic), None) => Outcome::Failed(panicked(panic.as_ref())),
        }
    }

    /// Handles a batch; `first` is the first of its deliveries.
    pub(super) async fn handle_batch(
        &self,
        route: &Route,
        batch: Box<dyn Gathering<'_> + '_>,
        first: &Delivery,
        deliveries: impl ExactSizeIterator<Item = &Delivery>,
    ) -> Result<Failures, HandlerError> {
        let span = tracing::info_span!(
            "babelqueue.handle_batch",
            urn = route.urn(),
            at = %first.at(),
            offset = first.offset(),
            records = deliveries.len(),
            otel.kind = "consumer",
            otel.name = tracing::field::Empty,
        );
        #[cfg(feature = "otel")]
        crate::trace::link_to(&span, first.topic(), deliveries.map(|each| (each.headers(), each.trace_id())));
        match AssertUnwindSafe(async { batch.handle().await }.instrument(span)).catch_unwind().await {
            Ok(result) => result,
            Err(panic) => Err(panicked(panic.as_ref())),
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

/// The failure that a panic of the user's code is.
pub(super) fn panicked(panic: &(dyn std::any::Any + Send)) -> HandlerError {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    HandlerError::new(format!("the handler panicked: {}", text.unwrap_or("no message")))
}
