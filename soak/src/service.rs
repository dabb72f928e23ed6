//! The service as users have one: a consumer for each line, and the reinjector of both.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use babelqueue::{
    Consumer, Delivery, HandlerError, Health, Kafka, Reinjector, Settled, ShutdownHandle, Summary,
    idempotency::{Idempotency, MemoryStore, StoreFailure},
    routes,
};
use tokio::task::JoinHandle;

use crate::{
    Result,
    fate::{Fates, TRIES},
    ledger::Ledger,
    note::Note,
    topics::Line,
};

/// How many messages the idempotency guard remembers: few, so that its bound is reached early.
const REMEMBERED: usize = 10_000;
const REMEMBER_FOR: Duration = Duration::from_secs(3600);
/// How many handlers of a consumer run at once.
const CONCURRENCY: usize = 64;

struct Handlers {
    fates: Fates,
    ledger: Arc<Ledger>,
}

impl Handlers {
    async fn handle(&self, note: Note, cx: &Delivery) -> std::result::Result<(), HandlerError> {
        let pause = self.fates.pause(note.number);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        if self.fates.fails(note.number, cx.attempts(), cx.is_replay()) {
            self.ledger.failed.fetch_add(1, Relaxed);
            return Err(HandlerError::new("as planned"));
        }
        self.ledger.handle(note.number).map_err(HandlerError::new)
    }
}

/// A consumer or reinjector at work.
struct Working<T> {
    name: String,
    handle: ShutdownHandle,
    task: JoinHandle<Result<T>>,
}

impl<T> Working<T> {
    /// Asks it to end, and waits until it has.
    async fn stop(self) -> Result<T> {
        self.handle.shutdown();
        self.task.await?.map_err(|error| format!("{}: {error}", self.name).into())
    }
}

pub(crate) struct Service {
    consumers: Vec<Working<Summary>>,
    reinjector: Working<babelqueue::ReinjectSummary>,
}

impl Service {
    pub(crate) fn start(kafka: &Kafka, lines: &[Line], fates: Fates, ledger: &Arc<Ledger>) -> (Self, Vec<Health>) {
        let consumers = lines.iter().map(|line| (line, consumer(kafka, line, fates, ledger)));
        let (consumers, health) = consumers
            .map(|(line, consumer)| {
                let (health, handle) = (consumer.health(), consumer.handle());
                let task = tokio::spawn(async { Ok(consumer.run().await?) });
                (Working { name: line.group("handlers"), handle, task }, health)
            })
            .unzip();
        let reinjector = reinjector(kafka, lines);
        let handle = reinjector.handle();
        let task = tokio::spawn(async { Ok(reinjector.run().await?) });
        (Self { consumers, reinjector: Working { name: "the reinjector".to_owned(), handle, task } }, health)
    }

    /// Is ready when a part of it has ended: none does before it is asked to.
    pub(crate) async fn has_failed(&self) {
        while !self.reinjector.task.is_finished() && !self.consumers.iter().any(|consumer| consumer.task.is_finished())
        {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// Stops the reinjector, then the consumers; what any of them left undone.
    pub(crate) async fn stop(self) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        let mut judge = |name: &str, left_group: bool, uncommitted: Option<String>, unfinished: usize| {
            if !left_group || uncommitted.is_some() || unfinished > 0 {
                faults.push(format!(
                    "{name}: left the group: {left_group}, uncommitted: {uncommitted:?}, unfinished: {unfinished}"
                ));
            }
        };
        let name = self.reinjector.name.clone();
        let summary = self.reinjector.stop().await?;
        judge(&name, summary.left_group, summary.uncommitted.map(|error| error.to_string()), 0);
        for consumer in self.consumers {
            let name = consumer.name.clone();
            let summary = consumer.stop().await?;
            let uncommitted = summary.uncommitted.map(|error| error.to_string());
            judge(&name, summary.left_group, uncommitted, summary.unfinished.len());
        }
        Ok(faults)
    }
}

fn consumer(kafka: &Kafka, line: &Line, fates: Fates, ledger: &Arc<Ledger>) -> Consumer {
    let handlers = Handlers { fates, ledger: Arc::clone(ledger) };
    let ledger = Arc::clone(ledger);
    kafka
        .consumer(line.group("handlers"))
        .topics([&line.topic])
        .retry_topics(line.retry_topics.clone())
        .max_tries(TRIES)
        .order(line.order)
        .concurrency(CONCURRENCY)
        .idempotency(Idempotency::new(MemoryStore::new(REMEMBERED, REMEMBER_FOR), StoreFailure::RunAnyway))
        .on_error(move |error| match error.settled {
            Settled::Retry { .. } => drop(ledger.retried.fetch_add(1, Relaxed)),
            Settled::DeadLetter { .. } => drop(ledger.dead_lettered.fetch_add(1, Relaxed)),
            _ => eprintln!("{error}"),
        })
        .on_event(move |event| eprintln!("{event}"))
        .serve(routes![handlers; Note => Handlers::handle])
}

fn reinjector(kafka: &Kafka, lines: &[Line]) -> Reinjector {
    let group = lines.iter().map(|line| line.group("reinjector")).next().unwrap_or_default();
    kafka
        .reinjector(lines.iter().map(|line| line.retry_topics.clone()))
        .group(group)
        .on_event(|event| eprintln!("reinjector: {event}"))
}
