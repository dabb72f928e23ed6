//! The contract's sections 3 to 5, sentence by sentence, where no other test of this suite has them.

use std::time::Duration;

use babelqueue::{
    ConsumerBuilder, ConsumerError, Exhausted, Job as _, Kafka, PublishError, Publisher, Reason, RecordError,
    RetryTopics, Settled, Summary, UnknownUrn,
};
use rdkafka::{Message as _, message::OwnedMessage};
use serde_json::json;

use super::{Running, bytes::write, json, lying_on};
use crate::{
    Check,
    jobs::{Numbered, committed, create_topic, headers, kafka, unique},
};

const TIERS: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(3600)];

/// A work topic with two tiers and a dead-letter topic, of one partition each.
struct Stage {
    kafka: Kafka,
    topics: RetryTopics,
    group: String,
}

impl Stage {
    async fn set(name: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let topics = RetryTopics::for_topic(unique(name)).tiers(TIERS);
        let kafka = kafka()?;
        create_topic(topics.work_topic(), 1, &[]).await?;
        kafka.ensure_topics(&topics).await?;
        Ok(Self { kafka, topics, group: unique("group") })
    }

    fn write(&self, body: &str, headers: &[(&str, &str)]) -> Check {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_bytes(), Some(value.as_bytes()))).collect();
        write(self.topics.work_topic(), Some(b"key"), Some(body.as_bytes()), &headers)
    }

    /// Runs a consumer until it has reported so many records.
    async fn run(
        &self,
        topics: RetryTopics,
        errors: usize,
        settings: impl FnOnce(ConsumerBuilder) -> ConsumerBuilder,
    ) -> Result<(Vec<RecordError>, Summary), Box<dyn std::error::Error>> {
        let mut running = Running::start(settings(self.kafka.consumer(&self.group)), topics);
        let errors = running.errors(errors).await?;
        Ok((errors, running.stop().await?.0))
    }

    fn on(&self, suffix: &str) -> Result<Vec<OwnedMessage>, Box<dyn std::error::Error>> {
        lying_on(&format!("{}{suffix}", self.topics.work_topic()))
    }

    fn committed(&self) -> Result<Option<i64>, Box<dyn std::error::Error>> {
        committed(&self.group, self.topics.work_topic(), 0)
    }
}

/// An odd number fails.
fn body(urn: &str, number: u64) -> String {
    json!({"job": urn, "trace_id": "t", "data": {"number": number}, "meta": {"id": "i", "schema_version": 1}, "attempts": 0})
        .to_string()
}

fn header(record: &OwnedMessage, name: &str) -> Option<String> {
    headers(record).into_iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
}

pub(crate) async fn another_version_is_forwarded_as_it_came_and_committed() -> Check {
    let stage = Stage::set("version").await?;
    let of_body = body(Numbered::URN, 2).replace(r#""schema_version":1"#, r#""schema_version":2"#);
    stage.write("never decoded", &[("bq-schema-version", "2"), ("tenant", "a")])?;
    stage.write(&of_body, &[("bq-job", Numbered::URN)])?;
    stage.write(&body(Numbered::URN, 2), &[("bq-schema-version", "1 ")])?;
    let (errors, summary) = stage.run(stage.topics.clone(), 3, |consumer| consumer).await?;
    assert!(errors.iter().all(|error| error.reason == Reason::WrongVersion), "{errors:?}");
    assert_eq!((summary.handled, summary.dead_lettered, stage.committed()?), (0, 3, Some(3)));
    let dead = stage.on(".dlq")?;
    let expected = ["never decoded".to_owned(), of_body, body(Numbered::URN, 2)];
    for (record, value) in dead.iter().zip(&expected) {
        assert_eq!((record.payload(), record.key()), (Some(value.as_bytes()), Some(&b"key"[..])));
    }
    assert_eq!(header(&dead[0], "tenant").as_deref(), Some("a"));
    Ok(())
}

pub(crate) async fn a_blank_version_is_none_and_a_missing_header_leaves_the_body_to_route() -> Check {
    let stage = Stage::set("blank").await?;
    stage.write(&body(Numbered::URN, 2), &[("bq-schema-version", " ")])?;
    stage.write(&body(Numbered::URN, 4), &[("bq-job", " ")])?;
    stage.write(&body("urn:other", 6), &[("bq-job", Numbered::URN)])?;
    stage.write("{}", &[])?;
    let (_, summary) = stage.run(stage.topics.clone(), 1, |consumer| consumer).await?;
    assert_eq!((summary.handled, summary.dead_lettered), (3, 1));
    Ok(())
}

pub(crate) async fn an_unknown_urn_is_settled_as_was_chosen() -> Check {
    let stage = Stage::set("unknown").await?;
    stage.write(&body("urn:unknown", 2), &[])?;
    let running = Running::start(stage.kafka.consumer(&stage.group), stage.topics.clone());
    let Err(ended) = running.end().await else { panic!("it goes on") };
    let Some(ConsumerError::Record { record, .. }) = ended.downcast_ref() else { panic!("{ended}") };
    assert_eq!((record.reason, &record.settled), (Reason::UnknownUrn, &Settled::Stopped));
    assert!(stage.committed()?.is_none_or(|offset| offset == 0));

    let (errors, _) = stage.run(stage.topics.clone(), 1, |consumer| consumer.unknown_urn(UnknownUrn::Release)).await?;
    assert!(matches!(errors[0].settled, Settled::Retry { .. }), "{errors:?}");
    assert_eq!(header(&stage.on(".retry.1")?[0], "bq-attempts").as_deref(), Some("1"));

    stage.write("never decoded", &[("bq-job", "urn:unknown")])?;
    stage.write(&body(Numbered::URN, 1), &[])?;
    let (_, summary) = stage.run(stage.topics.clone(), 1, |consumer| consumer.unknown_urn(UnknownUrn::Delete)).await?;
    assert_eq!((summary.deleted, summary.retried, stage.committed()?), (1, 1, Some(3)));

    stage.write(&body("urn:unknown", 2), &[])?;
    let (_, summary) =
        stage.run(stage.topics.clone(), 1, |consumer| consumer.unknown_urn(UnknownUrn::DeadLetter)).await?;
    assert_eq!(summary.dead_lettered, 1);
    let dead = json(&stage.on(".dlq")?[0])?;
    assert_eq!((&dead["dead_letter"]["reason"], &dead["attempts"]), (&json!("unknown_urn"), &json!(0)));
    Ok(())
}

pub(crate) async fn what_no_retry_can_heal_is_a_dead_letter_at_once() -> Check {
    let stage = Stage::set("hopeless").await?;
    let misfit = body(Numbered::URN, 2).replace(r#"{"number":2}"#, r#"{"number":"two"}"#);
    for body in ["{", r#"{"data":{}}"#, &misfit] {
        stage.write(body, &[])?;
    }
    let (errors, summary) = stage.run(stage.topics.clone(), 3, |consumer| consumer).await?;
    let mut reasons: Vec<_> = errors.iter().map(|error| (error.offset, error.reason)).collect();
    reasons.sort_by_key(|(offset, _)| *offset);
    assert_eq!(reasons, [(0, Reason::Poison), (1, Reason::Poison), (2, Reason::PayloadMisfit)]);
    assert_eq!((summary.handled, summary.retried, stage.committed()?), (0, 0, Some(3)));
    let dead: Vec<_> = stage.on(".dlq")?.iter().map(json).collect::<Result<_, _>>()?;
    let blocks: Vec<_> =
        dead.iter().map(|body| (&body["dead_letter"]["reason"], &body["dead_letter"]["attempts"])).collect();
    assert_eq!(blocks, [(&json!("poison"), &json!(0)), (&json!("poison"), &json!(0)), (&json!("failed"), &json!(1))]);
    Ok(())
}

pub(crate) async fn failures_are_counted_by_the_header_and_end_on_the_dead_letter_topic() -> Check {
    let stage = Stage::set("counted").await?;
    // The header counts, higher or lower than the body.
    for attempts in ["0", "1", "2"] {
        stage.write(
            &body(Numbered::URN, 1).replace(r#""attempts":0"#, r#""attempts":9"#),
            &[("bq-attempts", attempts)],
        )?;
    }
    let (_, summary) = stage.run(stage.topics.clone(), 3, |consumer| consumer).await?;
    assert_eq!((summary.retried, summary.dead_lettered), (2, 1));
    for (suffix, attempts, delay) in [(".retry.1", 1, "60000"), (".retry.2", 2, "3600000")] {
        let record = stage.on(suffix)?.remove(0);
        assert_eq!(json(&record)?["attempts"], attempts);
        assert_eq!(header(&record, "bq-attempts"), Some(attempts.to_string()));
        assert_eq!(header(&record, "bq-delay").as_deref(), Some(delay));
        assert_eq!(header(&record, "bq-original-topic").as_deref(), Some(stage.topics.work_topic()));
    }
    let record = stage.on(".dlq")?.remove(0);
    let dead = json(&record)?;
    assert_eq!((&dead["attempts"], &dead["dead_letter"]["attempts"]), (&json!(3), &json!(3)));
    assert_eq!(
        (&dead["dead_letter"]["reason"], header(&record, "bq-attempts").as_deref()),
        (&json!("failed"), Some("3"))
    );
    Ok(())
}

pub(crate) async fn without_a_dead_letter_topic_it_is_dropped_and_without_tiers_it_is_an_error() -> Check {
    let stage = Stage::set("switched-off").await?;
    let tiers = stage.topics.clone().without_dead_letters();
    stage.write("{", &[])?;
    stage.write("never decoded", &[("bq-schema-version", "2")])?;
    stage.write(&body(Numbered::URN, 1), &[("bq-attempts", "2")])?;
    let (errors, summary) = stage.run(tiers.clone(), 3, |consumer| consumer).await?;
    assert!(errors.iter().all(|error| error.settled == Settled::Dropped), "{errors:?}");
    assert_eq!((summary.dropped, stage.committed()?), (3, Some(3)));

    stage.write(&body(Numbered::URN, 1), &[("bq-attempts", "2")])?;
    let stopping = stage.kafka.consumer(&stage.group).exhausted(Exhausted::Stop);
    assert!(Running::start(stopping, tiers.clone()).end().await.is_err());
    assert!(Running::start(stage.kafka.consumer(&stage.group), tiers.tiers([])).end().await.is_err());
    assert_eq!(stage.committed()?, Some(3));
    Ok(())
}

pub(crate) async fn a_requested_delay_takes_the_smallest_tier_that_is_as_long_or_is_an_error() -> Check {
    let stage = Stage::set("requested").await?;
    let publisher = Publisher::<Numbered>::new(&stage.kafka).topic(stage.topics.work_topic());
    let publisher = publisher.retry_topics(stage.topics.clone());
    for seconds in [59, 61] {
        publisher.message(&Numbered::new(seconds)).delay(Duration::from_secs(seconds)).await?;
    }
    let too_long = publisher.message(&Numbered::new(0)).delay(Duration::from_secs(3601)).await;
    assert!(matches!(too_long, Err(PublishError::Delay(_))), "{too_long:?}");
    for (suffix, seconds) in [(".retry.1", 59), (".retry.2", 61)] {
        let records = stage.on(suffix)?;
        assert_eq!(records.len(), 1);
        assert_eq!(json(&records[0])?["data"]["number"], seconds);
        assert_eq!(header(&records[0], "bq-delay"), Some((seconds * 1000).to_string()));
    }
    assert_eq!(stage.on("")?.len(), 0);
    Ok(())
}

pub(crate) async fn a_redrive_goes_to_the_chosen_topic_marks_replays_and_puts_back_the_rest() -> Check {
    let stage = Stage::set("chosen").await?;
    for number in [1, 3, 5] {
        stage.write(&body(Numbered::URN, number), &[("bq-attempts", "2")])?;
    }
    stage.run(stage.topics.clone(), 3, |consumer| consumer).await?;
    let target = unique("sandbox");
    create_topic(&target, 1, &[]).await?;
    let dlq = format!("{}.dlq", stage.topics.work_topic());
    let redrive = || stage.kafka.redrive(&dlq).group(format!("{}-redrive", stage.group)).to(&target).replay_bypass();
    let report = redrive().maximum(1).run().await?;
    assert_eq!((report.read, report.redriven), (1, 1));
    let report = redrive().select(|letter| letter.data().is_some_and(|data| data.contains('5'))).run().await?;
    assert_eq!((report.read, report.redriven, report.skipped()), (2, 1, 1));
    let redriven = lying_on(&target)?;
    for (record, number) in redriven.iter().zip([1, 5]) {
        let body = json(record)?;
        assert_eq!(
            (&body["attempts"], &body["data"]["number"], body.get("dead_letter")),
            (&json!(0), &json!(number), None)
        );
        assert_eq!(header(record, "bq-attempts").as_deref(), Some("0"));
        assert_eq!(header(record, "bq-replay-bypass").as_deref(), Some("1"));
        assert_eq!((header(record, "bq-original-topic"), record.key()), (None, Some(&b"key"[..])));
    }
    let dead = stage.on(".dlq")?;
    assert_eq!(dead.len(), 4, "three, and the one that was put back");
    assert_eq!(dead[3].payload(), dead[1].payload());
    Ok(())
}

pub(crate) async fn without_its_header_a_waiting_record_goes_to_the_topic_of_its_name() -> Check {
    let work = RetryTopics::for_topic(unique("nameless")).tiers([Duration::from_millis(100)]);
    let kafka = kafka()?;
    create_topic(work.work_topic(), 1, &[]).await?;
    kafka.ensure_topics(&work).await?;
    let retry = work.retry_topic_names().remove(0);
    // Neither a forged delay nor a forged target counts.
    write(&retry, None, Some(b"never decoded"), &[(b"bq-delay", Some(b"99999999999")), (b"tenant", Some(b"a"))])?;
    write(&retry, None, Some(b"never decoded"), &[(b"bq-original-topic", Some(retry.as_bytes()))])?;
    let reinjector = kafka.reinjector([work.clone()]).group(unique("mover"));
    let handle = reinjector.handle();
    let running = tokio::spawn(reinjector.run());
    let records = crate::jobs::read(work.work_topic(), 2)?;
    handle.shutdown();
    assert_eq!(running.await??.reinjected, 2);
    assert!(records.iter().all(|record| record.payload() == Some(b"never decoded")));
    assert_eq!(headers(&records[0]), [("tenant".to_owned(), "a".to_owned())]);
    assert_eq!(headers(&records[1]), []);
    Ok(())
}
