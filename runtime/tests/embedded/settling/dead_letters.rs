//! What becomes a dead letter, and what it looks like.

use babelqueue::{ConsumerError, Exhausted, Publisher, Reason, RetryTopics, Settled};
use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use rdkafka::Message as _;
use serde_json::json;

use super::{GROUP, Running, block_of, body, broker, foreign, headers, lying_on, text, tiers, timeless, told};
use crate::jobs::{Foreign, OrderCreated, committed};

fn dead() -> Settled {
    Settled::DeadLetter { topic: "orders.dlq".to_owned() }
}

/// The block with the moment left out.
fn block(reason: &str, error: &str, attempts: u32) -> String {
    let error = serde_json::to_string(error).unwrap();
    format!(
        r#"{{"reason":"{reason}","error":{error},"exception":null,"original_queue":"orders","attempts":{attempts},"lang":"rust"}}"#
    )
}

#[tokio::test]
async fn what_no_retry_can_heal_or_has_no_try_left_is_a_dead_letter_byte_for_byte() {
    let (broker, kafka) = broker();
    let misfit = body(4, "", 0).replace(r#""order_id":4"#, r#""order_id":"four""#);
    let records = [
        foreign(1, "fail", 2).header("tenant", Some(b"\xff")),
        foreign(2, "fatal", 0),
        foreign(3, "panic", 2).header("bq-attempts", Some(b"5")).header("bq-delay", Some(b"5000")),
        Foreign::value(misfit.clone()).header("bq-attempts", Some(b"1")),
    ];
    for record in &records {
        Foreign { key: Some(b"\xff"), ..record.clone() }.send(&broker).await;
    }
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    let mut errors = running.errors(4).await;
    errors.sort_by_key(|error| error.offset);
    use Reason::{Failed, PayloadMisfit};
    assert_eq!(errors.iter().map(|error| error.reason).collect::<Vec<_>>(), [Failed, Failed, Failed, PayloadMisfit]);
    assert!(errors.iter().all(|error| error.settled == dead()), "{errors:?}");
    let summary = running.stop().await;
    assert_eq!((summary.handled, summary.retried, summary.dead_lettered), (0, 0, 4));
    assert_eq!(committed(&broker, GROUP, 0), Some(4));

    let records = lying_on(&broker, "orders.dlq");
    let expected = [
        (body(1, "fail", 3), 3, "the warehouse is closed"),
        (body(2, "fatal", 1), 1, "no such warehouse (fatal)"),
        (body(3, "panic", 6), 6, "the handler panicked: no stock"),
        (misfit.replace(r#""attempts":0"#, r#""attempts":2"#), 2, errors[3].error.as_str()),
    ];
    for (record, (body, attempts, error)) in records.iter().zip(&expected) {
        let (found, rest) = block_of(record);
        assert_eq!((timeless(found), rest.as_str()), (block("failed", error, *attempts), body.as_str()));
        assert_eq!(record.key(), Some(&b"\xff"[..]));
        let attempts = attempts.to_string();
        let own = [("bq-attempts", Some(attempts.as_bytes())), ("bq-original-topic", Some(&b"orders"[..]))];
        let foreign = headers(record);
        assert_eq!(foreign[foreign.len() - 2..], own);
    }
    assert_eq!(headers(&records[0])[0], ("tenant", Some(&b"\xff"[..])));
    assert_eq!(headers(&records[2]).len(), 2);
    assert_eq!(records.len(), 4);
}

#[tokio::test]
async fn poison_goes_to_the_dead_letters_once_with_every_byte_and_null_stays_null() {
    let (broker, kafka) = broker();
    let spliced = r#"{ "job":"urn:babel:orders:created", "data":1e400, "attempts": 1 }"#;
    let records = [
        Foreign::value(spliced).header("bq-attempts", Some(b"1")).header("tenant", Some(b"a")),
        Foreign { key: Some(b""), ..Foreign::value(r#"{"a":"#) },
        Foreign::value(b"\xff\xfe".to_vec()),
        // A text that is empty, and none at all.
        Foreign::value(""),
        Foreign { key: Some(b"k1"), ..Foreign::default() },
        Foreign::value(r#"{"data":{}}"#),
        Foreign::value(r#"{"dead_letter":1}"#),
    ];
    for record in &records {
        record.send(&broker).await;
    }
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    let mut errors = running.errors(records.len()).await;
    errors.sort_by_key(|error| error.offset);
    assert!(errors.iter().all(|error| error.reason == Reason::Poison && error.settled == dead()), "{errors:?}");
    assert_eq!(running.stop().await.dead_lettered, 7);
    assert_eq!(committed(&broker, GROUP, 0), Some(7));
    for topic in ["orders.retry.1", "orders.retry.2"] {
        assert_eq!(lying_on(&broker, topic).len(), 0, "{topic}");
    }

    let dead = lying_on(&broker, "orders.dlq");
    assert_eq!(dead.iter().map(|record| record.key()).collect::<Vec<_>>(), records.map(|record| record.key));
    let (found, rest) = block_of(&dead[0]);
    assert_eq!((timeless(found), rest.as_str()), (block("poison", &errors[0].error, 1), spliced));
    let all: [(&str, Option<&[u8]>); 3] =
        [("tenant", Some(b"a")), ("bq-attempts", Some(b"1")), ("bq-original-topic", Some(b"orders"))];
    assert_eq!(headers(&dead[0]), all);
    let wrapped = |index: usize| serde_json::from_str::<serde_json::Value>(text(&dead[index])).unwrap();
    assert_eq!(wrapped(1)["raw"], r#"{"a":"#);
    assert_eq!(
        (&wrapped(2)["raw"], &wrapped(2)["raw_encoding"]),
        (&json!(BASE64.encode(b"\xff\xfe")), &json!("base64"))
    );
    assert_eq!((&wrapped(3)["raw"], wrapped(3).get("raw_encoding")), (&json!(""), None));
    assert_eq!(dead[4].payload(), None);
    assert_eq!(block_of(&dead[5]).1, r#"{"data":{}}"#);
    assert_eq!(wrapped(6)["raw"], r#"{"dead_letter":1}"#);
    for index in [1, 2, 3, 5, 6] {
        assert_eq!(wrapped(index)["dead_letter"]["reason"], "poison");
        assert_eq!(wrapped(index)["dead_letter"]["error"], errors[index].error);
    }
}

#[tokio::test]
async fn a_record_of_another_version_goes_to_the_dead_letters_as_it_came() {
    let (broker, kafka) = broker();
    let newer =
        r#"{ "job":"urn:babel:orders:created", "meta":{"schema_version":2}, "data":{"order_id":1}, "attempts":1 }"#;
    let records = [
        Foreign::value(b"\xff never decoded".to_vec()).header("bq-schema-version", Some(b"2")),
        Foreign::default().header("bq-schema-version", Some(b"1 ")),
        Foreign::value(newer).header("bq-attempts", Some(b"7")).header("tenant", None),
    ];
    for record in &records {
        Foreign { key: Some(b"k"), ..record.clone() }.send(&broker).await;
    }
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    let errors = running.errors(3).await;
    assert!(errors.iter().all(|error| error.reason == Reason::WrongVersion && error.settled == dead()), "{errors:?}");
    running.stop().await;
    assert_eq!(committed(&broker, GROUP, 0), Some(3));
    for (sent, found) in records.iter().zip(lying_on(&broker, "orders.dlq")) {
        assert_eq!((found.key(), found.payload()), (Some(&b"k"[..]), sent.value.as_deref()));
        let from = [("bq-original-topic", Some(&b"orders"[..]))];
        assert_eq!(headers(&found), [&sent.headers[..], &from].concat());
    }
}

#[tokio::test]
async fn without_a_dead_letter_topic_such_records_are_reported_and_dropped() {
    let (broker, kafka) = broker();
    foreign(1, "fail", 2).send(&broker).await;
    foreign(2, "fatal", 0).send(&broker).await;
    Foreign::value("not JSON").send(&broker).await;
    foreign(3, "", 0).header("bq-schema-version", Some(b"2")).send(&broker).await;
    Publisher::new(&kafka).publish(&OrderCreated::number(4)).await.unwrap();
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers().without_dead_letters()));
    assert_eq!(running.handled().await, 4);
    let errors = running.errors(4).await;
    assert!(errors.iter().all(|error| error.settled == Settled::Dropped), "{errors:?}");
    let summary = running.stop().await;
    assert_eq!((summary.handled, summary.dropped, summary.dead_lettered), (1, 4, 0));
    assert_eq!(committed(&broker, GROUP, 0), Some(5));
    assert_eq!(lying_on(&broker, "orders.dlq").len(), 0);
}

#[tokio::test]
async fn without_a_dead_letter_topic_the_consumer_can_be_told_to_stop() {
    let (broker, kafka) = broker();
    let publisher = Publisher::new(&kafka);
    for order in [told(1, ""), told(2, "fail"), told(3, "fatal"), told(4, "")] {
        publisher.publish(&order).await.unwrap();
    }
    let retry_topics = tiers().without_dead_letters();
    let running = Running::start(kafka.consumer(GROUP).retry_topics(retry_topics).exhausted(Exhausted::Stop));
    let Err(ConsumerError::Record { record, summary }) = running.end().await else { panic!("it goes on") };
    assert_eq!((record.offset, record.reason, record.settled), (2, Reason::Failed, Settled::Stopped));
    // The retry before it was still seen through.
    assert_eq!((summary.handled, summary.retried, summary.dropped), (1, 1, 0));
    assert_eq!(lying_on(&broker, "orders.retry.1").len(), 1);
    assert_eq!(committed(&broker, GROUP, 0), Some(2));
}

#[tokio::test]
async fn a_consumer_of_dead_letters_never_writes_one() {
    let (broker, kafka) = broker();
    Foreign::value("not JSON").send_to(&broker, "orders.dlq").await;
    foreign(1, "", 3).send_to(&broker, "orders.dlq").await;
    // It has the retry topics of another topic, as a service with several jobs may.
    let consumer = kafka.consumer(GROUP).topics(["orders", "orders.dlq"]);
    let mut running = Running::start(consumer.clone());
    assert_eq!(running.handled().await, 1);
    assert_eq!(running.errors(1).await[0].settled, Settled::Dropped);
    running.stop().await;
    assert_eq!(lying_on(&broker, "orders.dlq").len(), 2);
    let refused = Running::start(consumer.retry_topics(RetryTopics::for_topic("orders"))).end().await;
    assert!(matches!(refused, Err(ConsumerError::Config(_))), "{refused:?}");
}
