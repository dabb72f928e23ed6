//! Records go back to their work topic when their tier's delay is over (contract section 4).

use std::{
    collections::HashMap,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use babelqueue::{
    ConfigError, Delivery, Event, HandlerError, Kafka, ReinjectSummary, Reinjector, ReinjectorError, RetryTopics,
    ShutdownHandle, routes,
    testing::{TestBroker, TestKit, WriteError},
};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{Consumer as _, StreamConsumer},
    message::{Header, Headers as _, OwnedHeaders, OwnedMessage},
    producer::{FutureProducer, FutureRecord},
};
use tokio::{
    sync::mpsc::{UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

use crate::jobs::{self, OrderCreated};

const TIER: Duration = Duration::from_millis(300);
const GROUP: &str = "babelqueue-retry-reinject";

/// One retry topic with the tier of these tests, and its work topic.
fn broker(partitions: i32) -> (TestBroker, Kafka) {
    let broker = TestBroker::start(&[("orders", 1), ("orders.retry.1", partitions)]).unwrap();
    let kafka = broker.kafka().unwrap();
    (broker, kafka)
}

fn orders() -> RetryTopics {
    RetryTopics::for_topic("orders").tiers([TIER])
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

type RawHeader<'a> = (&'a str, Option<&'a [u8]>);

/// A record on the retry topic.
#[derive(Clone, Default)]
struct Waiting<'a> {
    partition: i32,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    headers: &'a [RawHeader<'a>],
    timestamp: Option<i64>,
}

impl<'a> Waiting<'a> {
    fn value(value: &'a str) -> Self {
        Self { value: Some(value.as_bytes()), ..Self::default() }
    }
}

async fn send(broker: &TestBroker, records: &[Waiting<'_>]) {
    send_within("0", broker, records).await;
}

/// In one batch, which this broker hands out whole.
async fn send_together(broker: &TestBroker, records: &[Waiting<'_>]) {
    send_within("500", broker, records).await;
}

async fn send_within(linger_ms: &str, broker: &TestBroker, records: &[Waiting<'_>]) {
    let producer: FutureProducer =
        ClientConfig::new().set("bootstrap.servers", broker.brokers()).set("linger.ms", linger_ms).create().unwrap();
    let sends = records.iter().map(|each| {
        let headers = each
            .headers
            .iter()
            .fold(OwnedHeaders::new(), |headers, (key, value)| headers.insert(Header { key, value: *value }));
        let record = FutureRecord::<[u8], [u8]> {
            topic: "orders.retry.1",
            partition: Some(each.partition),
            payload: each.value,
            key: each.key,
            timestamp: each.timestamp,
            headers: Some(headers),
        };
        producer.send(record, Duration::from_secs(10))
    });
    for sent in futures_util::future::join_all(sends).await {
        sent.unwrap();
    }
}

/// Reads so many records of the only partition of a topic, from its start on.
async fn read(broker: &TestBroker, topic: &str, count: usize) -> Vec<OwnedMessage> {
    let consumer: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", broker.brokers())
        .set("group.id", "not-a-member")
        .set("enable.auto.commit", "false")
        .create()
        .unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, Offset::Beginning).unwrap();
    consumer.assign(&list).unwrap();
    let mut records = Vec::new();
    let all = async {
        while records.len() < count {
            // Errors are of a broker that is down, which the client survives.
            if let Ok(record) = consumer.recv().await {
                records.push(record.detach());
            }
        }
    };
    if tokio::time::timeout(Duration::from_secs(30), all).await.is_err() {
        panic!("{} records of {count} on {topic} within 30 s", records.len());
    }
    records
}

struct Running {
    handle: ShutdownHandle,
    task: JoinHandle<Result<ReinjectSummary, ReinjectorError>>,
}

impl Running {
    fn start(reinjector: Reinjector) -> Self {
        Self { handle: reinjector.handle(), task: tokio::spawn(reinjector.run()) }
    }

    async fn stop(self) -> ReinjectSummary {
        self.handle.shutdown();
        self.task.await.unwrap().unwrap()
    }
}

fn text(record: &OwnedMessage) -> String {
    String::from_utf8_lossy(record.payload().unwrap_or_default()).into_owned()
}

#[tokio::test]
async fn a_record_goes_on_byte_for_byte_without_the_headers_of_its_retry_topic() {
    let (broker, kafka) = broker(1);
    let headers: &[RawHeader<'_>] = &[
        ("bq-job", Some(b"urn:babel:orders:created")),
        ("bq-attempts", Some(b"1")),
        ("bq-delay", Some(b"99999999999")),
        ("tenant", Some(b"\xff\xfe")),
        ("bq-original-topic", Some(b"orders")),
        ("tenant", None),
        ("tenant", Some(b"")),
    ];
    let waiting = [
        Waiting { key: Some(b"k-7"), value: Some(b"{\"attempts\": 1 }"), headers, ..Waiting::default() },
        Waiting { key: None, value: None, headers, ..Waiting::default() },
        Waiting { key: Some(b""), value: Some(b""), headers, ..Waiting::default() },
        Waiting { key: Some(b"\xff\x00"), value: Some(b"\xff\x00 poison"), headers, ..Waiting::default() },
    ];
    let before = now();
    send(&broker, &waiting).await;
    let running = Running::start(kafka.reinjector([orders()]));
    let records = read(&broker, "orders", waiting.len()).await;
    let summary = running.stop().await;
    assert_eq!(summary.reinjected, 4);
    assert!(summary.left_group && summary.uncommitted.is_none(), "{summary:?}");
    for (record, waited) in records.iter().zip(&waiting) {
        assert_eq!((record.key(), record.payload()), (waited.key, waited.value));
        let kept: Vec<_> = record.headers().unwrap().iter().map(|header| (header.key, header.value)).collect();
        assert_eq!(kept, [headers[0], headers[1], headers[3], headers[5], headers[6]]);
        // The time of the write.
        assert!(record.timestamp().to_millis().unwrap() >= before + 300);
    }
}

#[tokio::test]
async fn without_a_usable_header_the_name_of_the_retry_topic_says_where_to() {
    let (broker, kafka) = broker(1);
    let named: [&[RawHeader<'_>]; 5] = [
        &[],
        &[("bq-original-topic", Some(b" "))],
        &[("bq-original-topic", Some(b"\xff"))],
        &[("bq-original-topic", Some(b"orders.retry.1"))],
        &[("bq-original-topic", Some(b"no such\0topic"))],
    ];
    let waiting: Vec<_> = named.iter().map(|headers| Waiting { headers, ..Waiting::value("x") }).collect();
    send(&broker, &waiting).await;
    let running = Running::start(kafka.reinjector([orders()]));
    for record in read(&broker, "orders", named.len()).await {
        assert!(jobs::header(&record, "bq-original-topic").is_none());
    }
    assert_eq!(running.stop().await.reinjected, 5);
}

#[tokio::test]
async fn records_keep_their_order_and_none_goes_on_before_its_time() {
    const RECORDS: usize = 2000;
    let (broker, kafka) = broker(1);
    let running = Running::start(kafka.reinjector([orders()]));
    let start = now();
    // Later and later, the last one due a tier after it is written.
    let texts: Vec<_> = (0..RECORDS).map(|number| number.to_string()).collect();
    let waiting: Vec<_> = texts.iter().map(|text| Waiting::value(text)).collect();
    send(&broker, &waiting).await;
    let written: Vec<_> = read(&broker, "orders.retry.1", RECORDS)
        .await
        .iter()
        .map(|record| record.timestamp().to_millis().unwrap())
        .collect();
    let records = read(&broker, "orders", RECORDS).await;
    for (number, record) in records.iter().enumerate() {
        assert_eq!(text(record), number.to_string());
        let waited = record.timestamp().to_millis().unwrap() - written[number];
        assert!(waited >= 300, "{number} waited {waited} ms of {TIER:?}");
    }
    assert!(written[0] >= start);
    assert_eq!(running.stop().await.reinjected, RECORDS as u64);
}

#[tokio::test]
async fn clocks_that_are_ahead_hold_a_record_for_one_tier_and_not_one_after_the_other() {
    let (broker, kafka) = broker(1);
    let ahead = [1, 86_400_000, now() * 1000, now() * 100_000];
    let running = Running::start(kafka.reinjector([orders()]));
    let waiting: Vec<_> = ahead
        .iter()
        .cycle()
        .take(40)
        .map(|ms| Waiting { timestamp: Some(now() + ms), ..Waiting::value("x") })
        .collect();
    send(&broker, &waiting).await;
    let records = read(&broker, "orders", waiting.len()).await;
    // One after the other they would take 12 s.
    let (first, last) = (records[0].timestamp().to_millis().unwrap(), records[39].timestamp().to_millis().unwrap());
    assert!(last - first < 6000, "{} ms", last - first);
    running.stop().await;
}

#[tokio::test]
async fn a_partition_whose_head_is_far_from_due_holds_no_other() {
    let broker = TestBroker::start(&[("orders", 1), ("orders.retry.1", 3), ("orders.retry.2", 1)]).unwrap();
    let kafka = broker.kafka().unwrap();
    let long_ago = Some(now() - 3_600_000);
    let far = Waiting { partition: 0, ..Waiting::value("far from due") };
    let behind = Waiting { partition: 0, timestamp: long_ago, ..Waiting::value("behind it") };
    let due = |partition| Waiting { partition, timestamp: long_ago, ..Waiting::value("due") };
    send(&broker, &[far, behind, due(1), due(2)]).await;
    let tiers = RetryTopics::for_topic("orders").tiers([Duration::from_secs(3600), Duration::from_secs(7200)]);
    let running = Running::start(kafka.reinjector([tiers]));
    let records = read(&broker, "orders", 2).await;
    assert!(records.iter().all(|record| text(record) == "due"));
    // And the shutdown does not wait for what is not due.
    let asked = Instant::now();
    assert_eq!(running.stop().await.reinjected, 2);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
}

#[tokio::test]
async fn after_the_broker_was_down_records_go_on_in_their_order_and_the_failure_was_reported() {
    const RECORDS: usize = 50;
    let (broker, _) = broker(1);
    // A long session, so that the partition is not lost.
    let kafka = broker
        .builder()
        .delivery_timeout(Duration::from_millis(500))
        .consumer_property("session.timeout.ms", "60000")
        .build()
        .unwrap();
    let texts: Vec<_> = (0..RECORDS).map(|number| number.to_string()).collect();
    // The first one is due at once; the others were fetched with it, and wait for a tier from then on.
    let timestamp = Some(now() + 86_400_000);
    let mut waiting: Vec<_> = texts.iter().map(|text| Waiting { timestamp, ..Waiting::value(text) }).collect();
    waiting[0].timestamp = Some(0);
    send_together(&broker, &waiting).await;
    let (sender, mut events) = unbounded_channel();
    let tier = RetryTopics::for_topic("orders").tiers([Duration::from_secs(4)]);
    let running = Running::start(kafka.reinjector([tier]).on_event(move |event| {
        let _ = sender.send(event.clone());
    }));
    read(&broker, "orders", 1).await;
    broker.down().unwrap();
    let failed = async {
        loop {
            if let Some(Event::WriteFailed { partition, offset, topic, again_in, .. }) = events.recv().await {
                return (partition.to_string(), offset, topic, again_in);
            }
        }
    };
    let failed = tokio::time::timeout(Duration::from_secs(30), failed).await.expect("the failure is reported");
    assert_eq!(failed, ("orders.retry.1[0]".to_owned(), 1, "orders".to_owned(), Duration::from_millis(250)));
    broker.up().unwrap();
    let mut first = HashMap::new();
    let records = read(&broker, "orders", RECORDS).await;
    for (at, record) in records.iter().enumerate() {
        first.entry(text(record)).or_insert(at);
    }
    let order: Vec<_> = texts.iter().filter_map(|text| first.get(text)).collect();
    assert!(order.is_sorted(), "{order:?}");
    running.stop().await;
}

#[tokio::test]
async fn behind_a_record_that_cannot_be_written_nothing_goes_on_and_nothing_is_committed() {
    let (broker, _) = broker(1);
    let kafka = broker.builder().publisher_property("message.max.bytes", "1500").build().unwrap();
    let large = "x".repeat(2_000);
    let waiting = ["0", &large, "2", "3"].map(|text| Waiting { timestamp: Some(0), ..Waiting::value(text) });
    send_together(&broker, &waiting).await;
    let (sender, mut events) = unbounded_channel();
    let running = Running::start(kafka.reinjector([orders()]).on_event(move |event| {
        let _ = sender.send(event.clone());
    }));
    // Tried twice: whatever could have gone on meanwhile has.
    let mut failures = 0;
    while failures < 2 {
        if let Some(Event::WriteFailed { offset, .. }) = events.recv().await {
            assert_eq!(offset, 1);
            failures += 1;
        }
    }
    assert_eq!(running.stop().await.reinjected, 1);
    assert_eq!(jobs::committed_of(&broker, GROUP, "orders.retry.1", 0), Some(1));
    let looking: StreamConsumer =
        ClientConfig::new().set("bootstrap.servers", broker.brokers()).set("group.id", "end").create().unwrap();
    assert_eq!(looking.fetch_watermarks("orders", 0, Duration::from_secs(10)).unwrap(), (0, 1));
}

#[tokio::test]
async fn a_write_that_fails_a_few_times_is_overtaken_by_none_behind_it() {
    async fn fail_once(seen: &UnboundedSender<u64>, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        if cx.attempts() == 0 {
            return Err(HandlerError::new("the warehouse is closed"));
        }
        Ok(seen.send(job.order_id)?)
    }
    let (sender, mut seen) = unbounded_channel();
    let kit = TestKit::start(routes![sender; OrderCreated => fail_once]).await.unwrap();
    let mut retried = None;
    for order in 0..20 {
        let id = kit.publish(&OrderCreated::number(order)).await.unwrap();
        retried = Some(kit.retried(id, 1).await.unwrap());
    }
    // The fifth one, thrice, and later another one.
    kit.fail_writes("orders", [5, 6, 7, 15], WriteError::Retriable);
    kit.advance(retried.unwrap().delay);
    for order in 0..20 {
        assert_eq!(seen.recv().await, Some(order));
    }
    assert_eq!(kit.shutdown().await.unwrap().handled, 20);
}

#[tokio::test]
async fn a_wait_longer_than_the_poll_interval_keeps_the_member_in_its_group() {
    let (broker, _) = broker(1);
    let kafka = broker.builder().consumer_property("max.poll.interval.ms", "2500").build().unwrap();
    send(&broker, &[Waiting::value("x")]).await;
    let (sender, mut events) = unbounded_channel();
    let tier = RetryTopics::for_topic("orders").tiers([Duration::from_secs(5)]);
    let running = Running::start(kafka.reinjector([tier]).on_event(move |event| {
        let _ = sender.send(event.clone());
    }));
    read(&broker, "orders", 1).await;
    assert_eq!(running.stop().await.reinjected, 1);
    while let Some(event) = events.recv().await {
        assert!(matches!(event, Event::Assigned { .. } | Event::Revoked { .. }), "{event}");
    }
}

#[tokio::test]
async fn what_went_on_is_committed_and_a_new_reinjector_does_not_write_it_again() {
    let (broker, kafka) = broker(1);
    for round in 1..=3 {
        send(&broker, &[Waiting { timestamp: Some(now() - 10_000), ..Waiting::value("x") }]).await;
        let running = Running::start(kafka.reinjector([orders()]));
        read(&broker, "orders", round).await;
        assert_eq!(running.stop().await.reinjected, 1);
    }
    assert_eq!(jobs::committed_of(&broker, GROUP, "orders.retry.1", 0), Some(3));
}

#[tokio::test]
async fn settings_that_leave_nothing_to_do_are_refused() {
    let (_broker, kafka) = broker(1);
    let refused = async |reinjector: Reinjector| match reinjector.run().await {
        Err(ReinjectorError::Config(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(kafka.reinjector([])).await, ConfigError::Setting { name: "retry_topics", .. }));
    let without = RetryTopics::for_topic("orders");
    assert!(matches!(refused(kafka.reinjector([without])).await, ConfigError::Setting { name: "retry_topics", .. }));
    let twice = kafka.reinjector([orders(), orders()]);
    assert!(matches!(refused(twice).await, ConfigError::RetryTopics { .. }));
    let zero = RetryTopics::for_topic("orders").tiers([Duration::ZERO]);
    assert!(matches!(refused(kafka.reinjector([zero])).await, ConfigError::RetryTopics { .. }));
    let nameless = kafka.reinjector([orders()]).group("");
    assert!(matches!(refused(nameless).await, ConfigError::Setting { name: "group", .. }));
}
