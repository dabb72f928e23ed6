//! What a publisher writes, and what it says when it cannot (contract section 2).

use std::time::{Duration, Instant};

use babelqueue::{Job as _, Kafka, PublishError, Publisher, babel_job, envelope};
use futures_util::future::join_all;
use rdkafka::Message as _;
use serde::{Deserialize, Serialize};

use crate::jobs::{OrderCreated, broker, header, read};

#[tokio::test]
async fn a_record_carries_key_headers_timestamp_and_envelope() {
    let (broker, kafka) = broker(4);
    let order = OrderCreated { order_id: 1042, note: Some("süß ☕".to_owned()) };
    let trace_id = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";
    let publisher = Publisher::new(&kafka);
    let id = publisher
        .message(&order)
        .trace_id(trace_id)
        .header("tenant", "acme")
        .header("tenant", "")
        .meta("ext", &serde_json::json!({"acme": 1}))
        .await
        .unwrap();

    let record = &read(&broker, "orders", 1)[0];
    assert_eq!(record.key(), Some(&b"1042"[..]));
    let body = record.payload().unwrap();
    let envelope::Verdict::Ok(envelope) = envelope::decode(body) else { panic!() };
    assert!(envelope.accepts() && envelope.warnings().is_empty());
    assert_eq!(envelope.data(), Some(r#"{"order_id":1042,"note":"süß ☕"}"#));
    assert_eq!((envelope.urn(), envelope.queue(), envelope.lang()), (OrderCreated::URN, Some("orders"), Some("rust")));
    assert_eq!((envelope.trace_id(), envelope.message_id()), (Some(trace_id), Some(id.to_string().as_str())));
    assert_eq!(record.timestamp().to_millis(), envelope.created_at());
    let text = std::str::from_utf8(body).unwrap();
    assert!(text.contains(r#""ext":{"acme":1}}"#), "{text}");

    use rdkafka::message::Headers as _;
    let names: Vec<_> = record.headers().unwrap().iter().map(|header| header.key).collect();
    assert_eq!(
        names,
        [
            "bq-job",
            "bq-trace-id",
            "bq-message-id",
            "bq-schema-version",
            "bq-source-lang",
            "bq-attempts",
            "tenant",
            "tenant"
        ]
    );
    for (name, value) in [
        ("bq-job", OrderCreated::URN),
        ("bq-trace-id", trace_id),
        ("bq-message-id", &id.to_string()),
        ("bq-schema-version", "1"),
        ("bq-source-lang", "rust"),
        ("bq-attempts", "0"),
        ("tenant", "acme"),
    ] {
        assert_eq!(header(record, name), Some(value.as_bytes()), "{name}");
    }
}

#[tokio::test]
async fn the_key_is_the_jobs_own_unless_another_is_chosen() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    let order = OrderCreated::number(7);
    publisher.publish(&order).await.unwrap();
    publisher.message(&order).key("").await.unwrap();
    publisher.message(&order).null_key().await.unwrap();
    publisher.message(&order).key(b"\xff\x00").await.unwrap();
    let records = read(&broker, "orders", 4);
    let keys: Vec<_> = records.iter().map(|record| record.key()).collect();
    assert_eq!(keys, [Some(&b"7"[..]), Some(&b""[..]), None, Some(&b"\xff\x00"[..])]);
}

#[tokio::test]
async fn a_key_lies_on_the_partition_that_the_java_client_chooses() {
    // `Utils.toPositive(Utils.murmur2(key)) % 15` of the Java client.
    const JAVA: [(&str, i32); 5] = [("TT-1", 2), ("", 6), ("21", 0), ("ключ", 14), ("1042", 14)];
    let (broker, kafka) = broker(15);
    let publisher = Publisher::new(&kafka);
    for (key, _) in JAVA {
        publisher.message(&OrderCreated::number(0)).key(key).await.unwrap();
    }
    for record in read(&broker, "orders", JAVA.len()) {
        let key = std::str::from_utf8(record.key().unwrap()).unwrap();
        let (_, partition) = JAVA.into_iter().find(|(of, _)| *of == key).unwrap();
        assert_eq!(record.partition(), partition, "{key}");
    }
}

#[tokio::test]
async fn many_records_at_once_wait_for_room_and_none_is_lost() {
    let (broker, _) = broker(4);
    let kafka = broker.builder().publisher_property("queue.buffering.max.messages", "100").build().unwrap();
    let publisher = Publisher::new(&kafka);
    let orders: Vec<_> = (0..3000).map(OrderCreated::number).collect();
    let results = join_all(orders.iter().map(|order| publisher.publish(order))).await;
    assert!(results.iter().all(Result::is_ok));
    let mut ids: Vec<u64> = read(&broker, "orders", 3000)
        .iter()
        .map(|r| String::from_utf8_lossy(r.key().unwrap()).parse().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..3000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_dropped_publish_is_sent_all_the_same_and_harms_nothing() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    let order = OrderCreated::number(1);
    {
        let publishing = std::pin::pin!(publisher.publish(&order));
        assert!(futures_util::poll!(publishing).is_pending());
    }
    publisher.publish(&OrderCreated::number(2)).await.unwrap();
    let keys: Vec<_> = read(&broker, "orders", 2).iter().map(|record| record.key().unwrap().to_vec()).collect();
    assert_eq!(keys, [b"1", b"2"]);
}

#[tokio::test]
async fn a_record_above_the_clients_limit_is_refused_at_once_and_comes_back() {
    let (_broker, kafka) = broker(1);
    let order = OrderCreated { order_id: 1, note: Some("x".repeat(1_100_000)) };
    let Err(PublishError::NotDelivered { error, record }) = Publisher::new(&kafka).publish(&order).await else {
        panic!("it was published")
    };
    assert_eq!(error.code(), "MessageSizeTooLarge");
    assert!(!error.is_retriable());
    assert_eq!((record.topic(), record.key()), ("orders", Some(&b"1"[..])));
    assert!(record.value().unwrap().len() > 1_100_000);
    assert_eq!(record.headers()[0], (&b"bq-job"[..], Some(OrderCreated::URN.as_bytes())));
}

#[babel_job("urn:babel:orders:measured")]
#[derive(Serialize, Deserialize)]
struct Measured {
    ratio: f64,
}

#[tokio::test]
async fn an_unreachable_broker_is_an_error_within_the_delivery_timeout_and_the_record_can_be_resent() {
    let (broker, _) = broker(1);
    let kafka = Kafka::builder().brokers(broker.brokers()).delivery_timeout(Duration::from_secs(2)).build().unwrap();
    broker.down().unwrap();
    let start = Instant::now();
    let Err(PublishError::NotDelivered { error, record }) =
        Publisher::new(&kafka).publish(&OrderCreated::number(5)).await
    else {
        panic!("it was published")
    };
    assert!(error.is_retriable(), "{error}");
    assert!(error.to_string().contains("Connect to"), "the reason is missing: {error}");
    assert!(!format!("{record:?}").contains("123, 34"), "bytes are no reading: {record:?}");
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());

    broker.up().unwrap();
    let id = header_of(&record, "bq-message-id");
    kafka.resend(*record).await.unwrap();
    let record = &read(&broker, "orders", 1)[0];
    assert_eq!(header(record, "bq-message-id").map(<[u8]>::to_vec), id);
}

fn header_of(record: &babelqueue::OutgoingRecord, name: &str) -> Option<Vec<u8>> {
    record.headers().into_iter().find(|(other, _)| *other == name.as_bytes())?.1.map(<[u8]>::to_vec)
}

#[tokio::test]
async fn what_cannot_be_encoded_is_an_error_before_anything_is_sent() {
    let (_broker, kafka) = broker(1);
    let nan = Publisher::new(&kafka).publish(&Measured { ratio: f64::NAN }).await;
    assert!(matches!(nan, Err(PublishError::Encode(babelqueue::EncodeError::Payload(_)))), "{nan:?}");
    let publisher = Publisher::new(&kafka);
    let order = OrderCreated::number(1);
    let own = publisher.message(&order).header("bq-job", "x").await;
    assert!(matches!(own, Err(PublishError::Header { .. })), "{own:?}");
    let meta = publisher.message(&order).meta("ts", &1).await;
    assert!(matches!(meta, Err(PublishError::Encode(babelqueue::EncodeError::Member { .. }))), "{meta:?}");
}

#[tokio::test]
async fn closing_delivers_what_is_queued() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    let order = OrderCreated::number(1);
    let publishing = tokio::spawn({
        let (publisher, order) = (publisher.clone(), order.clone());
        async move { publisher.publish(&order).await }
    });
    tokio::task::yield_now().await;
    let report = kafka.close(Duration::from_secs(10)).await;
    assert_eq!(report.undelivered, 0);
    publishing.await.unwrap().unwrap();
    assert_eq!(read(&broker, "orders", 1).len(), 1);

    let Err(PublishError::NotDelivered { error, .. }) = publisher.publish(&order).await else { panic!() };
    assert_eq!(error.code(), "Closed");
}

#[tokio::test]
async fn after_closing_nothing_is_published_even_if_nothing_was_before() {
    let (_broker, kafka) = broker(1);
    assert_eq!(kafka.close(Duration::from_secs(1)).await.undelivered, 0);
    let result = Publisher::new(&kafka).publish(&OrderCreated::number(1)).await;
    let Err(PublishError::NotDelivered { error, .. }) = result else { panic!("{result:?}") };
    assert_eq!(error.code(), "Closed");
}

#[tokio::test]
async fn closing_without_a_broker_counts_what_was_not_delivered_and_answers_every_pending_send() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&kafka);
    publisher.publish(&OrderCreated::number(0)).await.unwrap();
    broker.down().unwrap();
    let orders: Vec<_> = (1..=10).map(OrderCreated::number).collect();
    let pending = join_all(orders.iter().map(|order| publisher.publish(order)));
    let closing = async {
        tokio::task::yield_now().await;
        kafka.close(Duration::from_millis(500)).await
    };
    let (results, report) = futures_util::future::join(pending, closing).await;
    assert_eq!(report.undelivered, 10);
    for result in results {
        let Err(PublishError::NotDelivered { error, record }) = result else { panic!("{result:?}") };
        assert_eq!(error.code(), "Closed");
        assert_eq!(record.topic(), "orders");
    }
}

#[tokio::test]
async fn closing_answers_also_the_sends_that_wait_for_room() {
    let (broker, _) = broker(1);
    let kafka = broker.builder().publisher_property("queue.buffering.max.messages", "100").build().unwrap();
    let publisher = Publisher::new(&kafka);
    publisher.publish(&OrderCreated::number(0)).await.unwrap();
    broker.down().unwrap();
    let orders: Vec<_> = (1..=300).map(OrderCreated::number).collect();
    let pending = join_all(orders.iter().map(|order| publisher.publish(order)));
    let closing = async {
        tokio::task::yield_now().await;
        kafka.close(Duration::from_millis(500)).await
    };
    let start = Instant::now();
    let (results, report) = futures_util::future::join(pending, closing).await;
    assert_eq!(report.undelivered, 300);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    for (result, order) in results.into_iter().zip(&orders) {
        let Err(PublishError::NotDelivered { error, record }) = result else { panic!("{result:?}") };
        assert_eq!(error.code(), "Closed");
        assert_eq!(record.key(), Some(order.order_id.to_string().as_bytes()));
    }
}
