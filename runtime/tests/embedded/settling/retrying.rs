//! A failure waits on a retry topic, and holds up nobody.

use std::time::Duration;

use babelqueue::{Delivery, HandlerError, Publisher, Reason, Settled, routes, testing::TestBroker};
use rdkafka::Message as _;
use tokio::sync::mpsc::unbounded_channel;

use super::{GROUP, Running, TIERS, body, broker, foreign, headers, lying_on, text, tiers, told};
use crate::jobs::{Foreign, OrderCreated, committed, read};

#[tokio::test]
async fn each_failure_waits_on_the_next_tier_and_the_records_behind_it_are_handled() {
    let (broker, kafka) = broker();
    let records = [foreign(1, "fail", 0), foreign(2, "panic", 1), foreign(3, "fail", 4)];
    for record in &records {
        record.send(&broker).await;
    }
    Publisher::new(&kafka).publish(&OrderCreated::number(4)).await.unwrap();

    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()).max_tries(9));
    assert_eq!(running.handled().await, 4);
    let mut errors = running.errors(3).await;
    errors.sort_by_key(|error| error.offset);
    let settled = |tier: usize| Settled::Retry { topic: format!("orders.retry.{tier}"), delay: TIERS[tier - 1] };
    let found: Vec<_> =
        errors.iter().map(|error| (error.reason, error.error.as_str(), error.settled.clone())).collect();
    assert_eq!(
        found,
        [
            (Reason::Failed, "the warehouse is closed", settled(1)),
            (Reason::Failed, "the handler panicked: no stock", settled(2)),
            // The tiers are used up: the last one again.
            (Reason::Failed, "the warehouse is closed", settled(2)),
        ]
    );
    let summary = running.stop().await;
    assert_eq!((summary.handled, summary.retried, summary.dead_lettered), (1, 3, 0));
    assert_eq!(committed(&broker, GROUP, 0), Some(4));
    assert_eq!(lying_on(&broker, "orders.dlq").len(), 0);

    let (first, second) = (lying_on(&broker, "orders.retry.1"), lying_on(&broker, "orders.retry.2"));
    let own = |attempts: &'static str, delay: &'static str| {
        [("bq-attempts", attempts), ("bq-delay", delay), ("bq-original-topic", "orders")]
            .map(|(name, value)| (name, Some(value.as_bytes())))
    };
    assert_eq!(first.iter().map(text).collect::<Vec<_>>(), [body(1, "fail", 1)]);
    assert_eq!(second.iter().map(text).collect::<Vec<_>>(), [body(2, "panic", 2), body(3, "fail", 5)]);
    assert_eq!(headers(&first[0]), own("1", "5000"));
    assert_eq!(headers(&second[0]), own("2", "60000"));
    assert_eq!(headers(&second[1]), own("5", "60000"));
}

#[tokio::test]
async fn a_hop_replaces_its_own_headers_and_keeps_the_key_and_all_others_in_their_order() {
    let (broker, kafka) = broker();
    // As another SDK or an earlier hop left it; the header counts, not the body.
    let record = foreign(1, "fail", 7)
        .header("tenant", Some(b"\xff\x00"))
        .header("bq-attempts", Some(b"9"))
        .header("bq-delay", Some(b"5000"))
        .header("bq-job", Some(b"urn:babel:orders:created"))
        .header("bq-attempts", Some(b"1"))
        .header("tenant", None)
        .header("bq-original-topic", Some(b"elsewhere"))
        .header("tenant", Some(b""))
        .header("bq-schema-version", Some(b"1"))
        .header("traceparent", Some(b"00-malformed"))
        .header("bq-of-tomorrow", Some(b"x"));
    let keys: [Option<&[u8]>; 3] = [None, Some(b""), Some(b"\xff\x01")];
    for key in keys {
        crate::jobs::Foreign { key, ..record.clone() }.send(&broker).await;
    }
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    running.errors(3).await;
    running.stop().await;

    let records = lying_on(&broker, "orders.retry.2");
    assert_eq!(records.iter().map(|record| record.key()).collect::<Vec<_>>(), keys);
    for record in &records {
        assert_eq!(text(record), body(1, "fail", 2));
        let expected: [(&str, Option<&[u8]>); 10] = [
            ("tenant", Some(b"\xff\x00")),
            ("bq-job", Some(b"urn:babel:orders:created")),
            ("tenant", None),
            ("tenant", Some(b"")),
            ("bq-schema-version", Some(b"1")),
            ("traceparent", Some(b"00-malformed")),
            ("bq-of-tomorrow", Some(b"x")),
            ("bq-attempts", Some(b"2")),
            ("bq-delay", Some(b"60000")),
            ("bq-original-topic", Some(b"orders")),
        ];
        assert_eq!(headers(record), expected);
    }
}

#[tokio::test]
async fn a_delay_of_the_handlers_choosing_takes_the_tier_that_is_as_long_or_ends_as_a_dead_letter() {
    let (broker, kafka) = broker();
    let publisher = Publisher::new(&kafka);
    for (order, note) in [(1, "after 0"), (2, "after 5"), (3, "after 6"), (4, "after 60"), (5, "after 61")] {
        publisher.publish(&told(order, note)).await.unwrap();
    }
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    let mut errors = running.errors(5).await;
    errors.sort_by_key(|error| error.offset);
    let retry = |tier: usize, seconds| Settled::Retry {
        topic: format!("orders.retry.{tier}"),
        delay: Duration::from_secs(seconds),
    };
    assert_eq!(
        errors.iter().map(|error| error.settled.clone()).collect::<Vec<_>>(),
        [retry(1, 0), retry(1, 5), retry(2, 6), retry(2, 60), Settled::DeadLetter { topic: "orders.dlq".to_owned() }]
    );
    let summary = running.stop().await;
    assert_eq!((summary.retried, summary.dead_lettered), (4, 1));
    let delays: Vec<_> = ["orders.retry.1", "orders.retry.2"]
        .iter()
        .flat_map(|topic| lying_on(&broker, topic))
        .map(|record| String::from_utf8(crate::jobs::header(&record, "bq-delay").unwrap().to_vec()).unwrap())
        .collect();
    assert_eq!(delays, ["0", "5000", "6000", "60000"]);
    let dead = lying_on(&broker, "orders.dlq");
    assert!(text(&dead[0]).contains("busy (asked to be retried after 61s)"), "{}", text(&dead[0]));
}

#[tokio::test]
async fn the_partitioner_picks_the_partition_of_a_retry_topic_that_has_fewer() {
    let broker = TestBroker::start(&[("orders", 6), ("orders.retry.1", 2)]).unwrap();
    let kafka = broker.kafka().unwrap();
    let publisher = Publisher::new(&kafka);
    let straight = Publisher::<OrderCreated>::new(&kafka).topic("orders.retry.1");
    for order in 0..10 {
        publisher.publish(&told(order, "fail")).await.unwrap();
        straight.publish(&told(order, "straight")).await.unwrap();
    }
    let retry_topics = babelqueue::RetryTopics::for_topic("orders").tiers([TIERS[0]]);
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(retry_topics));
    let errors = running.errors(10).await;
    assert!(errors.iter().any(|error| error.partition.partition > 1), "no record lay on a partition that is missing");
    running.stop().await;
    let mut partitions = std::collections::HashMap::<Vec<u8>, Vec<i32>>::new();
    for record in read(&broker, "orders.retry.1", 20) {
        partitions.entry(record.key().unwrap().to_vec()).or_default().push(record.partition());
    }
    assert!(partitions.values().all(|each| each.len() == 2 && each[0] == each[1]), "{partitions:?}");
}

#[tokio::test]
async fn a_negative_count_is_no_more_tries() {
    let (broker, kafka) = broker();
    let body = body(1, "fail", 0).replace(r#""attempts":0"#, r#""attempts":-9223372036854775808"#);
    Foreign::value(body).send(&broker).await;
    let mut running = Running::start(kafka.consumer(GROUP).retry_topics(tiers()));
    running.errors(1).await;
    running.stop().await;
    let retries = lying_on(&broker, "orders.retry.1");
    assert_eq!(headers(&retries[0])[0], ("bq-attempts", Some(&b"1"[..])));
    assert!(text(&retries[0]).contains(r#""attempts":1,"#), "{}", text(&retries[0]));
}

/// A payload whose decoding goes wrong.
#[babelqueue::babel_job("urn:babel:orders:created")]
#[derive(serde::Serialize)]
struct Broken {}

impl<'de> serde::Deserialize<'de> for Broken {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("index out of bounds")
    }
}

#[tokio::test]
async fn a_panic_while_decoding_is_a_failure_of_the_record_alone() {
    async fn handle(_: Broken, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
    let (broker, kafka) = broker();
    foreign(1, "", 0).send(&broker).await;
    let (_sender, handled) = unbounded_channel();
    let consumer = kafka.consumer(GROUP).retry_topics(tiers());
    let mut running = Running::with(consumer, handled, |consumer| consumer.serve(routes![Broken => handle]));
    let errors = running.errors(1).await;
    assert_eq!(errors[0].error, "the handler panicked: index out of bounds");
    assert_eq!(running.stop().await.retried, 1);
}
