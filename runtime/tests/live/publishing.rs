//! Publishing to a real broker (contract section 2).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use babelqueue::{Job as _, Kafka, PublishError, Publisher};
use rdkafka::{
    ClientConfig, Message as _,
    message::Timestamp,
    producer::{FutureProducer, FutureRecord},
};

use crate::{
    Check,
    jobs::{Numbered, brokers, create_topic, headers, kafka, read, unique},
};

pub(crate) async fn a_record_reads_back_as_the_contract_says() -> Check {
    let topic = unique("readback");
    create_topic(&topic, 4, &[]).await?;
    let kafka = kafka()?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&topic);
    let before = now()?;
    let id = publisher.message(&Numbered { number: 7, text: "süß ☕".to_owned() }).key("k-7").await?;
    let after = now()?;

    let record = read(&topic, 1)?.remove(0);
    let Some(Timestamp::CreateTime(created_at)) = Some(record.timestamp()) else { return Err("no CreateTime".into()) };
    assert!((before..=after).contains(&created_at), "{before} {created_at} {after}");
    assert_eq!(record.key(), Some(&b"k-7"[..]));
    let headers = headers(&record);
    let trace_id =
        headers.iter().find(|(name, _)| name == "bq-trace-id").map(|(_, value)| value.clone()).unwrap_or_default();
    let expected = [
        ("bq-job", Numbered::URN),
        ("bq-trace-id", &trace_id),
        ("bq-message-id", &id.to_string()),
        ("bq-schema-version", "1"),
        ("bq-source-lang", "rust"),
        ("bq-attempts", "0"),
    ];
    assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let value = String::from_utf8_lossy(record.payload().unwrap_or_default());
    assert_eq!(
        value,
        format!(
            r#"{{"job":"{}","trace_id":"{trace_id}","data":{{"number":7,"text":"süß ☕"}},"meta":{{"id":"{id}","queue":"{topic}","lang":"rust","schema_version":1,"created_at":{created_at}}},"attempts":0}}"#,
            Numbered::URN
        )
    );
    Ok(())
}

fn now() -> Result<i64, Box<dyn std::error::Error>> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}

pub(crate) async fn an_unknown_topic_is_an_error_within_the_delivery_timeout() -> Check {
    let kafka = Kafka::builder().brokers(brokers()).delivery_timeout(Duration::from_secs(20)).build()?;
    let start = Instant::now();
    let result = Publisher::<Numbered>::new(&kafka).topic(unique("nowhere")).publish(&Numbered::new(1)).await;
    let Err(PublishError::NotDelivered { error, record }) = result else { return Err(format!("{result:?}").into()) };
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(error.code().starts_with("UnknownTopic"), "{error}");
    assert!(record.topic().starts_with("live-nowhere"));
    println!("unknown topic: {error} after {:?}", start.elapsed());
    Ok(())
}

pub(crate) async fn a_record_too_large_for_its_topic_fails_alone() -> Check {
    let topic = unique("small");
    create_topic(&topic, 1, &[("max.message.bytes", "2000")]).await?;
    // The large one and the small ones wait for each other, so that they travel in one batch.
    let kafka = Kafka::builder().brokers(brokers()).publisher_property("linger.ms", "200").build()?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&topic);
    let large = Numbered { number: 0, text: "x".repeat(3000) };
    let small: Vec<_> = (1..=20).map(Numbered::new).collect();
    let (refused, sent) = futures_util::future::join(
        publisher.publish(&large),
        futures_util::future::join_all(small.iter().map(|job| publisher.publish(job))),
    )
    .await;
    let Err(PublishError::NotDelivered { error, record }) = refused else { return Err("3 kB into 2 kB".into()) };
    assert_eq!(error.code(), "MessageSizeTooLarge");
    assert!(record.value().unwrap_or_default().len() > 3000);
    for result in sent {
        result?;
    }
    assert_eq!(read(&topic, 20)?.len(), 20);
    Ok(())
}

/// The broker's retention goes by the record's time: this is why every later hop writes the time of its write.
pub(crate) async fn a_back_dated_record_is_gone_before_it_is_read() -> Check {
    let topic = unique("old");
    create_topic(&topic, 1, &[("retention.ms", "3600000"), ("segment.ms", "100")]).await?;
    let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    let day_ago = now()? - 24 * 3600 * 1000;
    let old = FutureRecord::<str, str>::to(&topic).payload("old").timestamp(day_ago);
    producer.send(old, Duration::from_secs(10)).await.map_err(|(error, _)| error)?;
    let kafka = kafka()?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&topic);
    publisher.publish(&Numbered::new(1)).await?;
    // Until the retention check has gone by the old record may still be there.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let first = read(&topic, 1)?.remove(0);
        if first.offset() == 1 {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err("the retention check left the old record for a minute".into());
        }
    }
}
