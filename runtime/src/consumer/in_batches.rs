//! Records of one partition whose handlers take many at once: consecutive records of one URN are gathered, handled
//! together, and settled each. Records of other URNs between them are handled in their turn.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::OwnedSemaphorePermit, time::sleep_until};

use super::{
    Cause,
    process::{Processor, panicked},
    worker::Worker,
};
use crate::{
    batch_handler::{BatchFailure, Failures},
    delivery::Delivery,
    handler::HandlerError,
    kafka::Ticket,
    record::{Batch, Record},
    router::{CallBatch, Gathering, Route, Target},
    settle::Outcome,
    time::deadline,
};

/// Bytes of the records that are gathered, at most; one record more is taken.
const BYTES: usize = 8 * 1024 * 1024;

/// Works until the assignment ends, or returns why the consumer has to stop. A batch waits so long to fill.
pub(super) async fn work(worker: &mut Worker, wait: Duration) -> Option<Cause> {
    let processor = Arc::clone(&worker.processor);
    InBatches { worker, processor: &processor, wait, run: None }.work().await
}

struct InBatches<'a> {
    worker: &'a mut Worker,
    processor: &'a Processor,
    wait: Duration,
    run: Option<Run<'a>>,
}

/// What is gathered so far.
struct Run<'a> {
    route: &'a Route,
    jobs: Box<dyn Gathering<'a> + 'a>,
    max: usize,
    records: Vec<(Arc<Delivery>, Ticket)>,
    /// The messages, where those that were handled before are skipped.
    ids: HashSet<String>,
    bytes: usize,
    /// When it is handled even if it is not full.
    until: Instant,
}

impl Run<'_> {
    fn is_full(&self) -> bool {
        self.records.len() >= self.max || self.bytes >= BYTES
    }
}

impl<'a> InBatches<'a> {
    async fn work(&mut self) -> Option<Cause> {
        loop {
            let until = self.run.as_ref().map_or_else(Instant::now, |run| run.until);
            let batch = tokio::select! {
                biased;
                // First, or it would not be looked at as long as there is a backlog.
                error = self.worker.settlement.client_ended() => return Some(Cause::Kafka(error)),
                batch = self.worker.batches.next() => Some(Arc::new(batch?)),
                () = sleep_until(until.into()), if self.run.is_some() => None,
            };
            let stopped = match batch {
                Some(batch) => self.take(&batch).await,
                None => self.handle_run().await,
            };
            if self.ends(stopped.as_ref()) {
                return stopped;
            }
        }
    }

    fn ends(&self, stopped: Option<&Cause>) -> bool {
        stopped.is_some() || self.worker.progress().is_stopped()
    }

    /// Takes the records of a batch in their order.
    async fn take(&mut self, batch: &Arc<Batch>) -> Option<Cause> {
        self.worker.progress().begin(batch);
        for (index, record) in (0..batch.len()).filter_map(|index| Some((index, batch.get(index)?))) {
            let delivery = self.worker.delivery(batch, index);
            let ticket = self.worker.progress().take(record.offset);
            let mut stopped = self.take_one(&record, delivery, ticket).await;
            if stopped.is_none() && self.run.as_ref().is_some_and(Run::is_full) {
                stopped = self.handle_run().await;
            }
            if self.ends(stopped.as_ref()) {
                return stopped;
            }
        }
        None
    }

    /// Gathers a record, or handles it behind what was gathered.
    async fn take_one(&mut self, record: &Record<'_>, mut delivery: Delivery, ticket: Ticket) -> Option<Cause> {
        let (route, data) = match self.processor.open(record, &mut delivery) {
            Ok(opened) => opened,
            Err(outcome) => return self.settle(&delivery, ticket, &outcome).await,
        };
        // A message that is gathered already is handled first: then it is known as such.
        let other = |run: &Run<'_>| run.route.urn() != route.urn() || run.ids.contains(delivery.message_id());
        if self.run.as_ref().is_some_and(other) {
            let stopped = self.handle_run().await;
            if self.ends(stopped.as_ref()) {
                return stopped;
            }
        }
        match route.target() {
            Target::Batch(handler, max) => {
                let outcome = self.gather(route, handler.as_ref(), *max, (record, data), (delivery, ticket)).await;
                let (delivery, outcome) = outcome?;
                self.settle(&delivery, ticket, &outcome).await
            }
            Target::One(handler) => {
                let _permit = self.permit().await?;
                self.worker.progress().start(ticket);
                let outcome = self.processor.handle(route, handler.as_ref(), data, &delivery).await;
                let stopped = self.settle(&delivery, ticket, &outcome).await;
                if stopped.is_some() { stopped } else { self.worker.committed(record.offset).await }
            }
        }
    }

    /// Adds a record to the run, or tells what has become of it: its message was handled before, or does not fit.
    async fn gather(
        &mut self,
        route: &'a Route,
        handler: &'a dyn CallBatch,
        max: usize,
        (record, data): (&Record<'_>, &str),
        (delivery, ticket): (Delivery, Ticket),
    ) -> Option<(Arc<Delivery>, Outcome)> {
        let delivery = Arc::new(delivery);
        if let Some(guard) = &self.processor.idempotency {
            match guard.has_seen(delivery.message_id()).await {
                Ok(false) => {}
                Ok(true) => {
                    self.processor.counts.duplicate();
                    return Some((delivery, Outcome::Handled));
                }
                Err(error) => return Some((delivery, Outcome::Failed(error.into()))),
            }
        }
        let wait = self.wait;
        let run = self.run.get_or_insert_with(|| Run {
            route,
            jobs: handler.begin(),
            max,
            records: Vec::new(),
            ids: HashSet::new(),
            bytes: 0,
            until: deadline(wait),
        });
        // A panic of the user's decoding is the record's own failure.
        match catch_unwind(AssertUnwindSafe(|| run.jobs.add(data, &delivery))) {
            Ok(Ok(())) => {}
            Ok(Err(misfit)) => return Some((delivery, Outcome::Misfit(misfit))),
            Err(panic) => return Some((delivery, Outcome::Failed(panicked(panic.as_ref())))),
        }
        if self.processor.idempotency.is_some() && !delivery.message_id().is_empty() {
            run.ids.insert(delivery.message_id().to_owned());
        }
        run.bytes += record.size();
        run.records.push((delivery, ticket));
        None
    }

    /// Handles what was gathered, and settles each record of it.
    async fn handle_run(&mut self) -> Option<Cause> {
        let Run { route, jobs, records, .. } = self.run.take()?;
        let _permit = self.permit().await?;
        let ((first, _), (last, _)) = records.first().zip(records.last())?;
        records.iter().for_each(|(_, ticket)| self.worker.progress().start(*ticket));
        let deliveries = records.iter().map(|(delivery, _)| delivery.as_ref());
        let mut outcome = outcomes(self.processor.handle_batch(route, jobs, first, deliveries).await);
        let mut stopped = None;
        for (delivery, ticket) in &records {
            let outcome = outcome(delivery.offset());
            if let (Outcome::Handled, Some(guard)) = (&outcome, &self.processor.idempotency) {
                guard.remember(delivery.message_id()).await;
            }
            // Those behind a record that stops the consumer were handled all the same.
            stopped = stopped.or(self.settle(delivery, *ticket, &outcome).await);
        }
        if stopped.is_some() { stopped } else { self.worker.committed(last.offset()).await }
    }

    /// To run a handler; `None` when the assignment ends meanwhile.
    async fn permit(&mut self) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = self.worker.progress().stopped() => None,
            // The semaphore is never closed.
            permit = Arc::clone(&self.worker.handlers).acquire_owned() => permit.ok(),
        }
    }

    async fn settle(&mut self, delivery: &Delivery, ticket: Ticket, outcome: &Outcome) -> Option<Cause> {
        self.worker.progress().start(ticket);
        self.worker.settlement.settle(delivery, ticket, outcome).await.map(Cause::Record)
    }
}

/// What became of each record of a batch, by its offset.
fn outcomes(result: Result<Failures, HandlerError>) -> impl FnMut(i64) -> Outcome {
    let mut result = result.map_err(BatchFailure::new);
    move |offset| match &mut result {
        Ok(failures) => failures.take(offset).map_or(Outcome::Handled, Outcome::Failed),
        Err(failure) => Outcome::Failed(failure.of_one()),
    }
}
