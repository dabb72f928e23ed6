//! Retries and dead letters across SDKs: what one of them fails, the other takes up.

use std::time::Duration;

use babelqueue::{Job as _, RetryTopics, Settled};
use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use rdkafka::{
    ClientConfig, Message as _,
    producer::{FutureProducer, FutureRecord},
};
use serde_json::json;

use super::{Running, json, lying_on, numbered, publish};
use crate::{
    Check,
    interop::python,
    jobs::{Numbered, brokers, create_topic, headers, kafka, unique},
};

/// A work topic with its retry topic and its dead-letter topic.
async fn topics(name: &str) -> Result<(String, RetryTopics), Box<dyn std::error::Error>> {
    let topic = unique(name);
    // The tier of the scripts.
    let retry_topics = RetryTopics::for_topic(&topic).tiers([Duration::from_secs(1)]);
    for topic in [&topic, &format!("{topic}.retry.1"), &format!("{topic}.dlq")] {
        create_topic(topic, 1, &[]).await?;
    }
    Ok((topic, retry_topics))
}

pub(crate) async fn python_retries_what_we_fail() -> Check {
    let (topic, retry_topics) = topics("we-fail").await?;
    let (group, kafka) = (unique("group"), kafka()?);
    publish(&kafka, &topic, &numbered(0..10)).await?;
    let mut running = Running::start(kafka.consumer(&group), retry_topics);
    running.errors(5).await?;
    let (summary, _) = running.stop().await?;
    assert_eq!((summary.handled, summary.retried), (5, 5));

    python("reinject.py", &[&brokers(), &topic, "1000", &unique("mover"), "5"], "")?;
    let handled = python("work.py", &[&brokers(), &topic, &group, Numbered::URN, "5", "handle"], "")?;
    let expected: Vec<_> =
        [1, 3, 5, 7, 9].map(|number| json!({"number": number, "attempts": 1, "failed": false})).into();
    assert_eq!(handled, expected);
    Ok(())
}

pub(crate) async fn we_retry_what_python_fails() -> Check {
    let (topic, retry_topics) = topics("python-fails").await?;
    let (group, kafka) = (unique("group"), kafka()?);
    publish(&kafka, &topic, &numbered(0..10)).await?;
    let failed = python("work.py", &[&brokers(), &topic, &group, Numbered::URN, "10", "fail"], "")?;
    assert_eq!(failed.iter().filter(|line| line["failed"] == true).count(), 5);
    python("reinject.py", &[&brokers(), &topic, "1000", &unique("mover"), "5"], "")?;

    // Of two tries Python had the first.
    let mut running = Running::start(kafka.consumer(&group).max_tries(2), retry_topics);
    let dlq = format!("{topic}.dlq");
    let errors = running.errors(5).await?;
    assert!(errors.iter().all(|error| error.settled == Settled::DeadLetter { topic: dlq.clone() }), "{errors:?}");
    let (summary, _) = running.stop().await?;
    assert_eq!((summary.handled, summary.dead_lettered), (0, 5));
    for (record, number) in lying_on(&dlq)?.iter().zip([1, 3, 5, 7, 9]) {
        let body = json(record)?;
        assert_eq!((&body["data"]["number"], &body["attempts"]), (&json!(number), &json!(2)));
        assert_eq!((&body["dead_letter"]["attempts"], &body["meta"]["lang"]), (&json!(2), &json!("rust")));
        assert_eq!(record.key(), Some(number.to_string().as_bytes()));
        let names: Vec<_> = headers(record).into_iter().map(|(name, _)| name).collect();
        for name in ["bq-attempts", "bq-original-topic"] {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{names:?}");
        }
    }
    Ok(())
}

/// Values that are no envelope of a numbered job.
const POISON: [&[u8]; 8] = [
    b"not JSON",
    b"\xff\xfe",
    "Grüße \u{1F600} \"\\/\u{1}".as_bytes(),
    br#"{"job":"urn:babel:live:numbered","data":[]}"#,
    br#"{ "job":"urn:babel:live:numbered", "data":{"n":1e400}, "x":18446744073709551616}"#,
    br#"{"dead_letter":1}"#,
    br#"{"x":"\ud800"}"#,
    b"{}",
];

pub(crate) async fn python_and_we_wrap_poison_alike() -> Check {
    let (ours, retry_topics) = topics("our-poison").await?;
    let (theirs, _) = topics("python-poison").await?;
    let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    for topic in [&ours, &theirs] {
        for value in POISON {
            let record = FutureRecord::<[u8], [u8]>::to(topic).payload(value).key(b"\xff".as_slice());
            producer.send(record, Duration::from_secs(10)).await.map_err(|(error, _)| error)?;
        }
    }
    let mut running = Running::start(kafka()?.consumer(unique("group")), retry_topics);
    running.errors(POISON.len()).await?;
    running.stop().await?;
    let count = POISON.len().to_string();
    python("work.py", &[&brokers(), &theirs, &unique("group"), Numbered::URN, &count, "handle"], "")?;

    // As a tool in Python reads them.
    for (topic, lang) in [(&ours, "rust"), (&theirs, "python")] {
        let dlq = format!("{topic}.dlq");
        let unwrapped = python("unwrap.py", &[&brokers(), &dlq, &count], "")?;
        assert_eq!(unwrapped.len(), POISON.len());
        for (line, value) in unwrapped.iter().zip(POISON) {
            let expected = json!({
                "original": BASE64.encode(value),
                "reason": "poison",
                "attempts": 0,
                "original_queue": topic,
                "lang": lang,
            });
            assert_eq!(*line, expected, "{}", String::from_utf8_lossy(value));
        }
    }
    // As we read them: the same but for the block.
    let without_block = |topic: &str| -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
        lying_on(&format!("{topic}.dlq"))?
            .iter()
            .map(|record| {
                assert_eq!(record.key(), Some(&b"\xff"[..]));
                let text = std::str::from_utf8(record.payload().ok_or("no value")?)?;
                let at = text.rfind(r#""dead_letter":{"#).ok_or("no block")?;
                Ok(text.as_bytes()[..at].to_vec())
            })
            .collect()
    };
    assert_eq!(without_block(&ours)?, without_block(&theirs)?);
    Ok(())
}
