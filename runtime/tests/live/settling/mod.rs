//! Settling on a real broker (contract sections 3 and 4): what goes wrong there, with a ledger of every record.

mod bytes;
mod faults;
mod killed;
mod python;
mod sentences;

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex},
    time::Duration,
};

use babelqueue::{
    ConsumerBuilder, Delivery, Event, HandlerError, Kafka, Publisher, RecordError, RetryTopics, ShutdownHandle,
    Summary, routes,
};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    message::OwnedMessage,
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinHandle,
};

pub(crate) use self::{
    bytes::{a_record_comes_back_from_all_hops_byte_for_byte, what_is_not_the_hops_own_arrives_byte_for_byte},
    faults::{
        a_broker_that_falls_silent_delays_the_retries_and_loses_none,
        a_dead_letter_that_is_too_large_loses_its_text_and_then_everything_but_where_it_lies,
        a_dead_letter_topic_that_goes_missing_holds_the_records_until_it_is_back,
        what_a_retry_topic_cannot_hold_is_a_dead_letter,
    },
    killed::{WORKER, killed_between_the_acknowledgement_and_the_commit_nothing_is_lost, worker},
    python::{python_and_we_wrap_poison_alike, python_retries_what_we_fail, we_retry_what_python_fails},
    sentences::{
        a_blank_version_is_none_and_a_missing_header_leaves_the_body_to_route,
        a_redrive_goes_to_the_chosen_topic_marks_replays_and_puts_back_the_rest,
        a_requested_delay_takes_the_smallest_tier_that_is_as_long_or_is_an_error,
        an_unknown_urn_is_settled_as_was_chosen, another_version_is_forwarded_as_it_came_and_committed,
        failures_are_counted_by_the_header_and_end_on_the_dead_letter_topic,
        what_no_retry_can_heal_is_a_dead_letter_at_once,
        without_a_dead_letter_topic_it_is_dropped_and_without_tiers_it_is_an_error,
        without_its_header_a_waiting_record_goes_to_the_topic_of_its_name,
    },
};
use crate::{
    Check,
    jobs::{Numbered, brokers},
};

const PATIENCE: Duration = Duration::from_secs(90);

/// What became of records: each that was settled, and how often it was handled.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<u64, u32>>>);

impl Ledger {
    /// Handles even numbers, and fails odd ones with their text.
    async fn handle(&self, job: Numbered, _: &Delivery) -> Result<(), HandlerError> {
        if job.number % 2 == 1 {
            return Err(HandlerError::new(format!("odd: {}", job.text)));
        }
        *self.0.lock().map_err(|_| HandlerError::new("poisoned"))?.entry(job.number).or_default() += 1;
        Ok(())
    }

    /// Every number was handled, or lies on one of the topics, under its key.
    fn balance(&self, what: &str, numbers: Range<u64>, topics: &[&str]) -> Check {
        self.balance_on(&brokers(), what, numbers, topics)
    }

    fn balance_on(&self, brokers: &str, what: &str, numbers: Range<u64>, topics: &[&str]) -> Check {
        let mut settled = self.0.lock().map_err(|_| "poisoned")?.clone();
        for topic in topics {
            for record in lying_on_broker(brokers, topic)? {
                let key = record.key().and_then(|key| std::str::from_utf8(key).ok()).ok_or("a record has no key")?;
                *settled.entry(key.parse()?).or_default() += 1;
            }
        }
        let lost: Vec<_> = numbers.clone().filter(|number| !settled.contains_key(number)).collect();
        assert!(lost.is_empty(), "{what}: {} of {numbers:?} lost: {lost:?}", lost.len());
        let again: u32 = settled.values().map(|count| count - 1).sum();
        println!("{what}: {} records, 0 lost, {again} written or handled again", settled.len());
        Ok(())
    }
}

/// A running consumer of a ledger, and what it says.
struct Running {
    ledger: Ledger,
    errors: UnboundedReceiver<RecordError>,
    events: UnboundedReceiver<Event>,
    handle: ShutdownHandle,
    end: JoinHandle<Result<Summary, babelqueue::ConsumerError>>,
}

impl Running {
    fn start(consumer: ConsumerBuilder, topics: RetryTopics) -> Self {
        let ledger = Ledger::default();
        let (error, errors) = unbounded_channel();
        let (event, events) = unbounded_channel();
        let consumer = consumer
            .topics([topics.work_topic()])
            .retry_topics(topics)
            .on_error(move |reported| drop(error.send(reported.clone())))
            .on_event(move |reported| drop(event.send(reported.clone())))
            .serve(routes![ledger.clone(); Numbered => Ledger::handle]);
        Self { ledger, errors, events, handle: consumer.handle(), end: tokio::spawn(consumer.run()) }
    }

    async fn errors(&mut self, count: usize) -> Result<Vec<RecordError>, Box<dyn std::error::Error>> {
        let mut errors = Vec::new();
        while errors.len() < count {
            errors.push(
                tokio::time::timeout(PATIENCE, self.errors.recv())
                    .await
                    .map_err(|_| format!("{} of {count} records settled", errors.len()))?
                    .ok_or("the consumer ended")?,
            );
        }
        Ok(errors)
    }

    /// Waits for its partitions.
    async fn assigned(&mut self) -> Check {
        let assigned = |event| matches!(event, Event::Assigned { partitions } if !partitions.is_empty()).then_some(());
        self.event(assigned).await
    }

    /// The next failed write: to which topic, and why.
    async fn write_failed(&mut self) -> Result<(String, String), Box<dyn std::error::Error>> {
        self.event(|event| match event {
            Event::WriteFailed { topic, error, .. } => Some((topic, error.to_string())),
            _ => None,
        })
        .await
    }

    async fn event<T>(&mut self, wanted: impl Fn(Event) -> Option<T>) -> Result<T, Box<dyn std::error::Error>> {
        let next = async {
            loop {
                let event = self.events.recv().await?;
                if let Some(found) = wanted(event) {
                    return Some(found);
                }
            }
        };
        Ok(tokio::time::timeout(PATIENCE, next).await?.ok_or("the consumer ended")?)
    }

    async fn stop(self) -> Result<(Summary, Ledger), Box<dyn std::error::Error>> {
        self.handle.shutdown();
        let ledger = self.ledger.clone();
        Ok((self.end().await?, ledger))
    }

    /// Waits for its end, without asking for it.
    async fn end(self) -> Result<Summary, Box<dyn std::error::Error>> {
        Ok(tokio::time::timeout(PATIENCE, self.end).await???)
    }
}

/// Publishes these jobs, each with its number as its key.
async fn publish(kafka: &Kafka, topic: &str, jobs: &[Numbered]) -> Check {
    let publisher = Publisher::<Numbered>::new(kafka).topic(topic);
    let keys: Vec<_> = jobs.iter().map(|job| job.number.to_string()).collect();
    let all = jobs.iter().zip(&keys).map(|(job, key)| publisher.message(job).key(key).send());
    futures_util::future::try_join_all(all).await?;
    Ok(())
}

fn numbered(numbers: Range<u64>) -> Vec<Numbered> {
    numbers.map(Numbered::new).collect()
}

/// All records of a topic, by partition and in order.
fn lying_on(topic: &str) -> Result<Vec<OwnedMessage>, Box<dyn std::error::Error>> {
    lying_on_broker(&brokers(), topic)
}

fn lying_on_broker(brokers: &str, topic: &str) -> Result<Vec<OwnedMessage>, Box<dyn std::error::Error>> {
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", brokers).set("group.id", format!("{topic}-reader")).create()?;
    let metadata = consumer.fetch_metadata(Some(topic), PATIENCE)?;
    let partitions = metadata.topics().first().map_or(0, |topic| topic.partitions().len());
    let mut records = Vec::new();
    for partition in 0..i32::try_from(partitions)? {
        let (_, end) = consumer.fetch_watermarks(topic, partition, PATIENCE)?;
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, partition, Offset::Beginning)?;
        consumer.assign(&list)?;
        let mut next = 0;
        while next < end {
            let record = consumer.poll(PATIENCE).ok_or("nothing more to read")??;
            next = record.offset() + 1;
            records.push(record.detach());
        }
    }
    Ok(records)
}

/// The body of a record, as JSON.
fn json(record: &OwnedMessage) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    Ok(serde_json::from_slice(record.payload().ok_or("no value")?)?)
}
