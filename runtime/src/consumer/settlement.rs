//! Carries out what the policy decides, for the records of one assigned partition: the one settle path.
//!
//! A record that goes to another topic does not hold up those behind it: the worker goes on, and the record counts as
//! finished once the broker has acknowledged the write.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
};

use super::{
    ConsumerBuilder, Reason, RecordError, Settled, Summary,
    builder::Hooks,
    hop::{Form, Hop},
    report::{Explained, explain},
};
#[cfg(feature = "testing")]
use crate::lab::{End, Observed};
use crate::{
    deliver::{Next, Undelivered, deliver},
    delivery::{Assignment, Delivery},
    envelope::{self, Envelope, Verdict},
    error::KafkaError,
    event::Event,
    headers,
    kafka::{OutgoingRecord, SendError, Sent, Ticket},
    member::{Left, ended_or_panicked},
    retry_topics::RetryTopics,
    settle::{Decision, Outcome, Rules, decide},
};

/// Records of a partition that may wait for their write before the worker waits for them: so many KiB of them.
const UNSETTLED_KIB: u32 = 4096;

/// What a consumer has done so far.
#[derive(Default)]
pub(super) struct Counts {
    handled: AtomicU64,
    duplicates: AtomicU64,
    retried: AtomicU64,
    dead_lettered: AtomicU64,
    dropped: AtomicU64,
    deleted: AtomicU64,
}

impl Counts {
    /// One more record that the idempotency guard has skipped.
    pub(super) fn duplicate(&self) {
        self.duplicates.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn summary(&self, left: Left) -> Summary {
        let Left { unfinished, uncommitted, left_group } = left;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Summary {
            handled: count(&self.handled),
            duplicates: count(&self.duplicates),
            retried: count(&self.retried),
            dead_lettered: count(&self.dead_lettered),
            dropped: count(&self.dropped),
            deleted: count(&self.deleted),
            unfinished,
            uncommitted,
            left_group,
        }
    }
}

/// Settles the records of one assignment.
pub(super) struct Settlement {
    pub(super) assignment: Arc<Assignment>,
    rules: Rules,
    topics: Option<RetryTopics>,
    hooks: Hooks,
    counts: Arc<Counts>,
    /// A write ends with an error when the sending client can send nothing more.
    writing: JoinSet<Result<(), KafkaError>>,
    room: Arc<Semaphore>,
}

impl Settlement {
    pub(super) fn new(settings: &ConsumerBuilder, assignment: Assignment, counts: Arc<Counts>) -> Self {
        Self {
            topics: settings.retry_topics_of(&assignment.partition.topic).cloned(),
            assignment: Arc::new(assignment),
            rules: settings.rules,
            hooks: settings.hooks.clone(),
            counts,
            writing: JoinSet::new(),
            room: Arc::new(Semaphore::new(UNSETTLED_KIB as usize)),
        }
    }

    /// Carries out the policy; returns the record if it has to stop the consumer.
    pub(super) async fn settle(
        &mut self,
        delivery: &Delivery,
        ticket: Ticket,
        outcome: &Outcome,
    ) -> Option<RecordError> {
        if self.assignment.progress.is_stopped() && matches!(outcome, Outcome::Failed(_)) {
            // A handler that gives up when it is asked to end has not failed: the record is left to the next owner.
            self.assignment.progress.leave(ticket);
            return None;
        }
        let offset = delivery.offset();
        let decision = decide(outcome, delivery.attempts, self.topics.as_ref(), &self.rules);
        #[cfg(feature = "testing")]
        self.show(delivery, &decision);
        match decision {
            Decision::Commit => {
                tracing::debug!(at = %delivery.at(), offset, trace_id = delivery.trace_id(), "handled");
                self.finish(ticket, &self.counts.handled);
                return None;
            }
            Decision::Delete => {
                tracing::info!(at = %delivery.at(), offset, trace_id = delivery.trace_id(), "no handler, let go by");
                self.finish(ticket, &self.counts.deleted);
                return None;
            }
            _ => {}
        }
        if self.assignment.progress.is_closed() {
            // Its next owner handles it again, and settles it.
            return None;
        }
        let explained = explain(outcome)?;
        let mut error = self.describe(delivery, &explained);
        let dead_letters = self.topics.as_ref().and_then(RetryTopics::dead_letter_topic_name);
        let hop = Hop::new(delivery, &decision, dead_letters, explained);
        match hop.and_then(|(hop, form)| Some((hop.record(form)?, hop, form))) {
            Some((record, hop, form)) => {
                self.write(record, hop, form, error, ticket).await;
                None
            }
            None if decision == Decision::Drop => {
                error.settled = Settled::Dropped;
                report(&self.hooks, &error);
                self.finish(ticket, &self.counts.dropped);
                None
            }
            None => {
                report(&self.hooks, &error);
                Some(error)
            }
        }
    }

    /// Shows a test kit what was made of a record.
    #[cfg(feature = "testing")]
    fn show(&self, delivery: &Delivery, decision: &Decision) {
        let Some(lab) = &self.assignment.kafka.config().lab else { return };
        lab.observe(Observed::Processed {
            at: delivery.at(),
            offset: delivery.offset(),
            message_id: delivery.message_id(),
            attempts: delivery.attempts(),
            end: match decision {
                Decision::Commit => End::Handled,
                Decision::Delete => End::Deleted,
                _ => End::NotHandled,
            },
        });
    }

    fn finish(&self, ticket: Ticket, counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
        self.assignment.progress.finish(ticket);
    }

    /// Writes a record to another topic, in turn, and leaves the wait for its acknowledgement to a task.
    async fn write(&mut self, record: OutgoingRecord, hop: Hop, form: Form, error: RecordError, ticket: Ticket) {
        let kib = u32::try_from(hop.size() / 1024).unwrap_or(u32::MAX).saturating_add(1).min(UNSETTLED_KIB);
        let room = tokio::select! {
            biased;
            room = Arc::clone(&self.room).acquire_many_owned(kib) => room,
            // Left to the next owner.
            () = self.assignment.progress.stopped() => return,
        };
        // The room is never closed, and a client that does not start is found out before the first record.
        let (Ok(room), Ok(sink)) = (room, self.assignment.kafka.sink()) else { return };
        let sending = sink.queue(record).await;
        let write = Write {
            assignment: Arc::clone(&self.assignment),
            hooks: self.hooks.clone(),
            counts: Arc::clone(&self.counts),
            ticket,
            hop,
            form,
            error,
            _room: room,
        };
        self.writing.spawn(async move { write.finish(sending.acknowledged().await).await });
    }

    /// Is ready when the sending client can send nothing more; writes that are acknowledged are let go.
    pub(super) async fn client_ended(&mut self) -> KafkaError {
        loop {
            match self.writing.join_next().await.map(ended_or_panicked) {
                Some(Some(Err(error))) => return error,
                Some(_) => {}
                None => pending().await,
            }
        }
    }

    /// Waits until the writes on their way are acknowledged, or can no longer be.
    pub(super) async fn finished(&mut self) {
        while let Some(written) = self.writing.join_next().await {
            ended_or_panicked(written);
        }
    }

    /// What is known of the record; that it stops the consumer unless something else is done with it.
    fn describe(&self, delivery: &Delivery, explained: &Explained) -> RecordError {
        let headers = delivery.headers();
        let (urn, trace_id) = (headers.get_str(headers::JOB), headers.get_str(headers::TRACE_ID));
        // What is not spoken here, or named by its header and not known, is not decoded (contract section 3).
        let decodes = match explained.reason {
            Reason::WrongVersion => false,
            Reason::UnknownUrn => urn.is_none(),
            _ => urn.is_none() || trace_id.is_none(),
        };
        let value = delivery.record().and_then(|record| record.value).filter(|_| decodes);
        let body = match value.map(envelope::decode) {
            Some(Verdict::Ok(envelope)) => Some(envelope),
            _ => None,
        };
        let urn = urn.or_else(|| body.as_ref().map(Envelope::urn));
        let trace_id = trace_id.or_else(|| body.as_ref().and_then(Envelope::trace_id));
        RecordError {
            partition: delivery.at().clone(),
            offset: delivery.offset(),
            urn: urn.map(str::to_owned),
            trace_id: trace_id.map(str::to_owned),
            reason: explained.reason,
            error: explained.error.clone(),
            settled: Settled::Stopped,
        }
    }
}

/// A record on its way to another topic.
struct Write {
    assignment: Arc<Assignment>,
    hooks: Hooks,
    counts: Arc<Counts>,
    ticket: Ticket,
    hop: Hop,
    form: Form,
    error: RecordError,
    /// Given back when the write has ended.
    _room: OwnedSemaphorePermit,
}

impl Write {
    /// Sees the write through. It ends unwritten only with the assignment or with the sending client, which is the error;
    /// the record is not committed then.
    async fn finish(mut self, acknowledged: Sent) -> Result<(), KafkaError> {
        if let Err(SendError { error, record }) = acknowledged {
            let assignment = Arc::clone(&self.assignment);
            let Ok(sink) = assignment.kafka.sink() else { return Ok(()) };
            if error.is_end_of_client() {
                return Err(error);
            }
            let record = match error.is_too_large() {
                // The batch may have been too large, and not the record.
                true => *record,
                false => self.failed(&error, *record, Duration::ZERO).into_record(),
            };
            let delivered = deliver(sink, record, &assignment.progress, |error, record, again_in| {
                self.failed(error, record, again_in)
            });
            match delivered.await {
                Ok(()) => {}
                Err(Undelivered::AssignmentEnded) => return Ok(()),
                Err(Undelivered::ClientEnded(error)) => return Err(error),
            }
        }
        self.assignment.progress.finish(self.ticket);
        self.error.settled = self.hop.settled(self.form);
        match self.error.settled {
            Settled::Retry { .. } => &self.counts.retried,
            _ => &self.counts.dead_lettered,
        }
        .fetch_add(1, Ordering::Relaxed);
        report(&self.hooks, &self.error);
        Ok(())
    }

    /// What to send after a failed write: something smaller where the record is too large, else the same again.
    fn failed(&mut self, error: &KafkaError, record: OutgoingRecord, again_in: Duration) -> Next {
        if error.is_too_large() {
            let smaller = self.form.smaller().and_then(|form| Some((form, self.hop.record(form)?)));
            if let Some((form, smaller)) = smaller {
                tracing::warn!(at = %self.error.partition, offset = self.error.offset, topic = record.topic(), "too large");
                self.form = form;
                return Next::Instead(smaller);
            }
        }
        let RecordError { partition, offset, .. } = &self.error;
        self.hooks.event(&Event::write_failed(partition, *offset, record.topic(), error, again_in));
        Next::Again(record)
    }
}

fn report(hooks: &Hooks, error: &RecordError) {
    match error.settled {
        Settled::Retry { .. } => tracing::warn!(trace_id = error.trace_id, "{error}"),
        _ => tracing::error!(trace_id = error.trace_id, "{error}"),
    }
    hooks.error(error);
}
