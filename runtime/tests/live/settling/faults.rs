//! The faults of a broker, and of topics that are not as they should be.

use std::{process::Command, time::Duration};

use babelqueue::{Kafka, RetryTopics, Settled};
use rdkafka::Message as _;

use super::{Running, json, lying_on, numbered, publish};
use crate::{
    Check,
    jobs::{brokers, committed, create_topic, create_topic_on, delete_topic, kafka, set_topic, unique},
};

const TIER: Duration = Duration::from_secs(5);

fn retry_topics(topic: &str) -> RetryTopics {
    RetryTopics::for_topic(topic).tiers([TIER])
}

pub(crate) async fn a_dead_letter_topic_that_goes_missing_holds_the_records_until_it_is_back() -> Check {
    // Half of them fail: more than may wait for their write at once, so that the partition waits too.
    const RECORDS: u64 = 1000;
    let (topic, group) = (unique("no-dlq"), unique("group"));
    let dlq = format!("{topic}.dlq");
    create_topic(&topic, 1, &[]).await?;
    let kafka = Kafka::builder().brokers(brokers()).delivery_timeout(Duration::from_secs(2)).build()?;
    let consumer = kafka.consumer(&group).commit_interval(Duration::from_millis(20));
    // At the start it is an error that names it.
    let refused = Running::start(consumer.clone(), RetryTopics::for_topic(&topic)).end.await?;
    assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(&dlq)), "{refused:?}");

    create_topic(&dlq, 1, &[]).await?;
    let mut running = Running::start(consumer, RetryTopics::for_topic(&topic));
    running.assigned().await?;
    delete_topic(&dlq).await?;
    publish(&kafka, &topic, &numbered(0..RECORDS)).await?;
    // Each that waits, and again.
    for _ in 0..600 {
        assert_eq!(running.write_failed().await?.0, dlq);
    }
    assert_eq!(committed(&group, &topic, 0)?, Some(1), "something unsettled is committed");
    create_topic(&dlq, 1, &[]).await?;
    let errors = running.errors(usize::try_from(RECORDS / 2)?).await?;
    assert!(errors.iter().all(|error| error.settled == Settled::DeadLetter { topic: dlq.clone() }));
    let (summary, ledger) = running.stop().await?;
    assert_eq!((summary.handled, summary.dead_lettered, summary.unfinished.len()), (RECORDS / 2, RECORDS / 2, 0));
    assert_eq!(committed(&group, &topic, 0)?, Some(RECORDS.cast_signed()));
    ledger.balance("dead-letter topic missing", 0..RECORDS, &[&dlq])
}

/// Makes a topic take no larger batch than this; from the start it would be refused.
async fn limit(topic: &str, bytes: &str) -> Check {
    set_topic(topic, "max.message.bytes", bytes).await
}

pub(crate) async fn a_dead_letter_that_is_too_large_loses_its_text_and_then_everything_but_where_it_lies() -> Check {
    let (topic, group) = (unique("small-dlq"), unique("group"));
    let dlq = format!("{topic}.dlq");
    for topic in [&topic, &dlq] {
        create_topic(topic, 1, &[]).await?;
    }
    let kafka = kafka()?;
    let mut running = Running::start(kafka.consumer(&group), RetryTopics::for_topic(&topic));
    running.assigned().await?;
    limit(&dlq, "4000").await?;
    let mut jobs = numbered(0..40);
    // The text is in the record and in its error: fits with both, with one, with none.
    for (job, len) in jobs.iter_mut().skip(1).step_by(2).zip([1000, 2500, 5000]) {
        job.text = "x".repeat(len);
    }
    publish(&kafka, &topic, &jobs).await?;
    running.errors(20).await?;
    let (summary, ledger) = running.stop().await?;
    assert_eq!((summary.handled, summary.dead_lettered), (20, 20));
    assert_eq!(committed(&group, &topic, 0)?, Some(40));

    let records = lying_on(&dlq)?;
    let of = |number: &str| {
        let record = records.iter().find(|record| record.key() == Some(number.as_bytes())).ok_or("it is not there")?;
        json(record)
    };
    let (whole, without_text, pointer) = (of("1")?, of("3")?, of("5")?);
    assert!(whole["dead_letter"]["error"].as_str().is_some_and(|error| error.len() > 1000));
    assert_eq!(whole["data"]["number"], 1);
    assert_eq!(
        (&without_text["dead_letter"]["reason"], &without_text["data"]["number"]),
        (&"failed".into(), &3.into())
    );
    assert!(without_text["dead_letter"]["error"].is_null(), "{without_text}");
    assert_eq!(pointer.get("data"), None);
    let error = pointer["dead_letter"]["error"].as_str().ok_or("no error")?;
    assert!(error.contains(&format!("lies at {topic}[0] offset 5")), "{error}");
    assert_eq!((&pointer["dead_letter"]["reason"], &pointer["dead_letter"]["attempts"]), (&"failed".into(), &1.into()));
    // One that is too large does not change the others of its batch.
    for number in (7..40).step_by(2) {
        assert_eq!(of(&number.to_string())?["data"]["number"], number);
    }
    ledger.balance("dead-letter topic too small", 0..40, &[&dlq])
}

pub(crate) async fn what_a_retry_topic_cannot_hold_is_a_dead_letter() -> Check {
    let (topic, group) = (unique("small-retry"), unique("group"));
    let (retry, dlq) = (format!("{topic}.retry.1"), format!("{topic}.dlq"));
    for topic in [&topic, &retry, &dlq] {
        create_topic(topic, 1, &[]).await?;
    }
    let kafka = kafka()?;
    let mut running = Running::start(kafka.consumer(&group), retry_topics(&topic));
    running.assigned().await?;
    limit(&retry, "2000").await?;
    let mut jobs = numbered(0..20);
    jobs[7].text = "x".repeat(3000);
    publish(&kafka, &topic, &jobs).await?;
    running.errors(10).await?;
    let (summary, ledger) = running.stop().await?;
    assert_eq!((summary.handled, summary.retried, summary.dead_lettered), (10, 9, 1));
    assert_eq!(committed(&group, &topic, 0)?, Some(20));
    let dead = json(lying_on(&dlq)?.first().ok_or("no dead letter")?)?;
    assert_eq!((&dead["data"]["number"], &dead["attempts"]), (&7.into(), &1.into()));
    assert_eq!(dead["data"]["text"].as_str().map(str::len), Some(3000));
    ledger.balance("retry topic too small", 0..20, &[&retry, &dlq])
}

/// A broker beside the shared one, which may be stopped: `BABELQUEUE_SPARE_BROKERS` and its process,
/// `BABELQUEUE_SPARE_PROCESS`.
struct Spare {
    brokers: String,
    process: String,
}

impl Spare {
    fn from_environment() -> Result<Self, Box<dyn std::error::Error>> {
        let variable = |name: &str| {
            std::env::var(name).map_err(|_| format!("{name} is not set: run `cargo xtask test live`, which does"))
        };
        Ok(Self { brokers: variable("BABELQUEUE_SPARE_BROKERS")?, process: variable("BABELQUEUE_SPARE_PROCESS")? })
    }

    fn signal(&self, signal: &str) -> Check {
        let sent = Command::new("kill").args([signal, &self.process]).status()?;
        if sent.success() { Ok(()) } else { Err(format!("kill {signal}: {sent}").into()) }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // Whatever became of the test, it must not stay suspended.
        let _ = self.signal("-CONT");
    }
}

pub(crate) async fn a_broker_that_falls_silent_delays_the_retries_and_loses_none() -> Check {
    const RECORDS: u64 = 5000;
    let spare = Spare::from_environment()?;
    let (topic, group) = (unique("silent"), unique("group"));
    let (retry, dlq) = (format!("{topic}.retry.1"), format!("{topic}.dlq"));
    for topic in [&topic, &retry, &dlq] {
        create_topic_on(&spare.brokers, topic, 1, &[]).await?;
    }
    let kafka = Kafka::builder()
        .brokers(&spare.brokers)
        .delivery_timeout(Duration::from_secs(2))
        .consumer_property("session.timeout.ms", "45000")
        .build()?;
    publish(&kafka, &topic, &numbered(0..RECORDS)).await?;
    let consumer = kafka.consumer(&group).commit_interval(Duration::from_millis(20));
    let mut running = Running::start(consumer, retry_topics(&topic));
    // In the middle of its work.
    running.errors(100).await?;
    spare.signal("-STOP")?;
    let (failed, why) = running.write_failed().await?;
    assert_eq!(failed, retry, "{why}");
    spare.signal("-CONT")?;
    running.errors(usize::try_from(RECORDS / 2)? - 100).await?;
    let (summary, ledger) = running.stop().await?;
    assert!(summary.retried >= RECORDS / 2 && summary.unfinished.is_empty(), "{summary:?}");
    ledger.balance_on(&spare.brokers, "broker silent in the middle", 0..RECORDS, &[&retry, &dlq])
}
