//! Redrive: what is written where, byte for byte, what is committed, and where a run ends (contract section 5).

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    task::Poll,
    time::{Duration, Instant},
};

use babelqueue::{
    ConfigError, Delivery, HandlerError, Kafka, RedriveError, RedriveReport, Skipped, routes,
    testing::{TestBroker, TestKit},
};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    message::{Header, Headers as _, OwnedHeaders, OwnedMessage},
    producer::{BaseProducer, BaseRecord, FutureProducer, FutureRecord, Producer as _},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::jobs::OrderCreated;

const DLQ: &str = "orders.dlq";
const GROUP: &str = "babelqueue-redrive";

type Pairs = Vec<(String, Option<Vec<u8>>)>;

/// A record of the dead-letter topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Letter {
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Pairs,
}

impl Letter {
    fn new(value: impl Into<Vec<u8>>) -> Self {
        Self { key: Some(b"k".to_vec()), value: Some(value.into()), headers: Vec::new() }
    }

    /// A dead letter of order `number`.
    fn of(number: u64) -> Self {
        Self::new(body(number, ",\"dead_letter\":{\"reason\":\"failed\",\"error\":\"odd\",\"failed_at\":1,\"original_queue\":\"orders\",\"attempts\":3}", 3))
            .header("bq-job", Some(b"urn:babel:orders:created"))
            .header("bq-attempts", Some(b"3"))
            .header("bq-original-topic", Some(b"orders"))
    }

    fn header(mut self, name: &str, value: Option<&[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.map(<[u8]>::to_vec)));
        self
    }

    async fn send(&self, broker: &TestBroker, partition: i32) {
        let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", broker.brokers()).create().unwrap();
        let headers = self
            .headers
            .iter()
            .fold(OwnedHeaders::new(), |headers, (key, value)| headers.insert(Header { key, value: value.as_deref() }));
        let record = FutureRecord::<[u8], [u8]> {
            topic: DLQ,
            partition: Some(partition),
            payload: self.value.as_deref(),
            key: self.key.as_deref(),
            timestamp: None,
            headers: Some(headers),
        };
        producer.send(record, Duration::from_secs(10)).await.unwrap();
    }
}

impl From<&OwnedMessage> for Letter {
    fn from(record: &OwnedMessage) -> Self {
        let headers = record.headers().into_iter().flat_map(|headers| headers.iter());
        Self {
            key: record.key().map(<[u8]>::to_vec),
            value: record.payload().map(<[u8]>::to_vec),
            headers: headers.map(|each| (each.key.to_owned(), each.value.map(<[u8]>::to_vec))).collect(),
        }
    }
}

fn body(number: u64, rest: &str, attempts: u32) -> String {
    format!(
        r#"{{"job":"urn:babel:orders:created","trace_id":"t","data":{{"order_id":{number},"x":1.50}},"meta":{{"id":"{number}","queue":"orders","schema_version":1}},"attempts":{attempts}{rest},"vendor":1e2}}"#
    )
}

/// A broker with `orders` and `orders.dlq`, of so many partitions each, and these dead letters on the first one.
async fn broker(partitions: i32, letters: &[Letter]) -> (TestBroker, Kafka) {
    let broker = TestBroker::start(&[("orders", partitions), (DLQ, partitions)]).unwrap();
    for letter in letters {
        letter.send(&broker, 0).await;
    }
    let kafka = broker.kafka().unwrap();
    (broker, kafka)
}

fn client(broker: &TestBroker, group: &str) -> BaseConsumer {
    ClientConfig::new()
        .set("bootstrap.servers", broker.brokers())
        .set("group.id", group)
        .set("enable.partition.eof", "true")
        .create()
        .unwrap()
}

/// All records of one partition.
fn all(broker: &TestBroker, topic: &str, partition: i32) -> Vec<OwnedMessage> {
    let consumer = client(broker, "reader");
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
    consumer.assign(&list).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut records = Vec::new();
    loop {
        assert!(Instant::now() < deadline, "no end of {topic} within 30 s");
        match consumer.poll(Duration::from_secs(1)) {
            Some(Ok(message)) => records.push(message.detach()),
            Some(Err(rdkafka::error::KafkaError::PartitionEOF(_))) => return records,
            Some(Err(error)) => panic!("{error}"),
            None => {}
        }
    }
}

fn letters(records: &[OwnedMessage]) -> Vec<Letter> {
    records.iter().map(Letter::from).collect()
}

fn committed(broker: &TestBroker, group: &str, partition: i32) -> Option<i64> {
    let mut list = TopicPartitionList::new();
    list.add_partition(DLQ, partition);
    let list = client(broker, group).committed_offsets(list, Duration::from_secs(10)).unwrap();
    list.elements().first().and_then(|element| element.offset().to_raw()).filter(|offset| *offset >= 0)
}

/// The order of a record that was read back.
fn number(record: &OwnedMessage) -> u64 {
    let body: serde_json::Value = serde_json::from_slice(record.payload().unwrap()).unwrap();
    body["data"]["order_id"].as_u64().unwrap()
}

fn numbers(records: &[OwnedMessage]) -> Vec<u64> {
    records.iter().map(number).collect()
}

/// What is not redriven, and goes back as it is.
fn unredrivable() -> Vec<(Letter, Skipped)> {
    let wrapper = r#"{"raw":"\ud83d\ude00","dead_letter":{"reason":"poison","original_queue":"orders"}}"#;
    let spliced = r#" {"job":"urn:babel:orders:created","data":[ ],"dead_letter":{"reason":"poison"}} "#;
    vec![
        (Letter::new(wrapper).header("bq-original-topic", Some(b"orders")), Skipped::Undecodable),
        (Letter::new(spliced), Skipped::Undecodable),
        (Letter { key: None, ..Letter::new("") }, Skipped::Undecodable),
        (Letter { value: None, ..Letter::new("") }.header("n", None).header("", Some(b"")), Skipped::Undecodable),
        (Letter::new(b"\xff\xfe".to_vec()).header("x", Some(b"\xff")).header("x", None), Skipped::Undecodable),
        (Letter::of(1).header("bq-schema-version", Some(b"2")), Skipped::WrongVersion),
        (Letter::new(r#"{"job":"urn:babel:orders:created","data":{}}"#), Skipped::NoSource),
        (Letter::new(r#"{"job":"urn:x","meta":{"queue":"orders.dlq"}}"#), Skipped::SourceIsDeadLetterTopic),
    ]
}

#[tokio::test]
async fn a_redriven_record_starts_over_and_keeps_every_other_byte() {
    let letter = Letter { key: Some(b"\xff\0".to_vec()), ..Letter::of(7) }
        .header("tenant", Some(b"\xff"))
        .header("bq-delay", Some(b"5000"))
        .header("bq-replay-bypass", Some(b"1"))
        .header("tenant", None);
    let null_key = Letter { key: None, ..Letter::of(8) };
    let empty_key = Letter { key: Some(Vec::new()), ..Letter::of(9) };
    let (broker, kafka) = broker(1, &[letter.clone(), null_key, empty_key]).await;
    let before = all(&broker, DLQ, 0);

    let report = kafka.redrive(DLQ).run().await.unwrap();
    assert_eq!((report.read, report.redriven, report.skipped(), report.failed), (3, 3, 0, 0), "{report:?}");
    assert_eq!(report.targets.into_iter().collect::<Vec<_>>(), [("orders".to_owned(), 3)]);
    assert!(report.uncommitted.is_none() && !report.interrupted && !report.dry);

    let work = all(&broker, "orders", 0);
    let expected = Letter {
        value: Some(body(7, "", 0).into()),
        headers: vec![
            letter.headers[0].clone(),
            letter.headers[3].clone(),
            letter.headers[6].clone(),
            ("bq-attempts".to_owned(), Some(b"0".to_vec())),
        ],
        ..letter
    };
    assert_eq!(Letter::from(&work[0]), expected);
    assert_eq!((work[1].key(), work[2].key()), (None, Some(&b""[..])));
    // The time of the write, as retention goes by it.
    let time = |record: &OwnedMessage| record.timestamp().to_millis().unwrap();
    assert!(time(&work[0]) >= time(&before[2]));
    assert_eq!(all(&broker, DLQ, 0).len(), 3);
    assert_eq!(committed(&broker, GROUP, 0), Some(3));
    assert_eq!(kafka.redrive(DLQ).run().await.unwrap().read, 0);
}

#[tokio::test]
async fn what_is_skipped_goes_back_whole_and_a_second_run_over_it_ends() {
    let skipped = unredrivable();
    let mut all_letters: Vec<_> = skipped.iter().map(|(letter, _)| letter.clone()).collect();
    all_letters.insert(3, Letter::of(1));
    let (broker, kafka) = broker(1, &all_letters).await;
    let count = all_letters.len() as i64;

    let report = kafka.redrive(DLQ).run().await.unwrap();
    assert_eq!((report.read, report.redriven, report.skipped()), (9, 1, 8), "{report:?}");
    for (_, reason) in &skipped {
        let expected = skipped.iter().filter(|(_, other)| other == reason).count() as u64;
        assert_eq!(report.skipped.get(reason), Some(&expected), "{reason}");
    }
    assert_eq!(numbers(&all(&broker, "orders", 0)), [1]);
    assert_eq!(committed(&broker, GROUP, 0), Some(count));
    let back = letters(&all(&broker, DLQ, 0)).split_off(all_letters.len());
    assert_eq!(back, skipped.iter().map(|(letter, _)| letter.clone()).collect::<Vec<_>>());

    let report = kafka.redrive(DLQ).run().await.unwrap();
    assert_eq!((report.read, report.redriven, report.skipped()), (8, 0, 8), "{report:?}");
    assert_eq!(committed(&broker, GROUP, 0), Some(count + 8));
    assert_eq!(letters(&all(&broker, DLQ, 0)).split_off(all_letters.len() + 8), back);
}

#[tokio::test]
async fn only_what_is_selected_is_redriven() {
    let other = r#"{"job":"urn:babel:orders:cancelled","data":{"order_id":3},"dead_letter":{"reason":"unknown_urn","error":"no handler","failed_at":1,"original_queue":"orders"}}"#;
    let odd = Letter::of(2);
    let (broker, kafka) = broker(1, &[Letter::of(1), odd.clone(), Letter::new(other)]).await;
    let dry = |choose: fn(babelqueue::Redrive) -> babelqueue::Redrive| {
        let redrive = choose(kafka.redrive(DLQ)).dry_run();
        async { redrive.run().await.unwrap().redriven }
    };
    assert_eq!(dry(|all| all).await, 3);
    assert_eq!(dry(|all| all.urn("urn:babel:orders:created")).await, 2);
    assert_eq!(dry(|all| all.urn("urn:babel:orders:created").urn("urn:babel:orders:cancelled")).await, 3);
    assert_eq!(dry(|all| all.reason("unknown_urn")).await, 1);
    assert_eq!(dry(|all| all.error_contains("odd").error_contains("handler")).await, 3);
    assert_eq!(dry(|all| all.error_contains("handler")).await, 1);
    assert_eq!(dry(|all| all.older_than(Duration::from_secs(1))).await, 3);
    assert_eq!(dry(|all| all.younger_than(Duration::from_secs(1))).await, 0);
    assert_eq!(dry(|all| all.select(|letter| letter.message_id() == Some("2")).reason("failed")).await, 1);

    let report = kafka.redrive(DLQ).select(|letter| letter.message_id() == Some("2")).run().await.unwrap();
    assert_eq!((report.redriven, report.skipped.get(&Skipped::NotSelected)), (1, Some(&2)));
    assert_eq!(numbers(&all(&broker, "orders", 0)), [2]);
    assert_eq!(numbers(&all(&broker, DLQ, 0)), [1, 2, 3, 1, 3]);
}

#[tokio::test]
async fn behind_the_maximum_all_is_left_for_the_next_run() {
    let letters: Vec<_> = (0..10).map(Letter::of).collect();
    let (broker, kafka) = broker(1, &letters).await;
    let even = |redrive: babelqueue::Redrive| {
        redrive.select(|letter| letter.message_id().is_some_and(|id| id.parse::<u64>().unwrap().is_multiple_of(2)))
    };
    let report = even(kafka.redrive(DLQ)).maximum(2).run().await.unwrap();
    // 0 and 2; 1 went back, and 3 is the first that is left.
    assert_eq!((report.read, report.redriven, report.skipped()), (3, 2, 1), "{report:?}");
    assert_eq!(committed(&broker, GROUP, 0), Some(3));
    assert_eq!(all(&broker, DLQ, 0).len(), 11);
    let report = even(kafka.redrive(DLQ)).maximum(100).run().await.unwrap();
    assert_eq!((report.read, report.redriven, report.skipped()), (8, 3, 5), "{report:?}");
    assert_eq!(numbers(&all(&broker, "orders", 0)), [0, 2, 4, 6, 8]);
}

#[tokio::test]
async fn the_maximum_holds_for_all_partitions_together() {
    let (broker, kafka) = broker(3, &[]).await;
    for number in 0..30 {
        Letter::of(number).send(&broker, (number % 3) as i32).await;
    }
    let report = kafka.redrive(DLQ).maximum(7).run().await.unwrap();
    assert_eq!((report.read, report.redriven), (7, 7), "{report:?}");
    let redriven = || (0..3).flat_map(|partition| numbers(&all(&broker, "orders", partition))).collect::<Vec<_>>();
    assert_eq!(redriven().len(), 7);
    assert_eq!(kafka.redrive(DLQ).run().await.unwrap().redriven, 23);
    let mut redriven = redriven();
    redriven.sort_unstable();
    assert_eq!(redriven, (0..30).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let mut letters: Vec<_> = unredrivable().into_iter().map(|(letter, _)| letter).collect();
    letters.push(Letter::of(1));
    let (broker, kafka) = broker(2, &letters).await;
    for _ in 0..2 {
        let plan = kafka.redrive(DLQ).to("sandbox").dry_run().run().await.unwrap();
        assert!(plan.dry && plan.uncommitted.is_none());
        assert_eq!((plan.read, plan.redriven, plan.skipped.get(&Skipped::Undecodable)), (9, 3, Some(&5)), "{plan:?}");
        assert_eq!(plan.targets.get("sandbox"), Some(&3));
    }
    assert_eq!((committed(&broker, GROUP, 0), committed(&broker, GROUP, 1)), (None, None));
    assert_eq!(all(&broker, DLQ, 0).len(), letters.len());
    assert_eq!(all(&broker, "orders", 0).len() + all(&broker, DLQ, 1).len(), 0);

    // It tells what a run would do that continues where the group is: behind the first record with a topic to go to, with
    // the six before that at the end.
    let run = kafka.redrive(DLQ).maximum(1).to("sandbox").run().await.unwrap();
    assert_eq!((run.read, run.redriven), (7, 1), "{run:?}");
    let plan = kafka.redrive(DLQ).dry_run().run().await.unwrap();
    assert_eq!((plan.read, plan.skipped.get(&Skipped::Undecodable)), (8, Some(&5)), "{plan:?}");
}

#[tokio::test]
async fn it_ends_where_the_topic_ended_when_it_started() {
    let letters: Vec<_> = (0..5).map(Letter::of).collect();
    let (broker, kafka) = broker(1, &letters).await;
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", broker.brokers()).create().unwrap();
    // The signal is looked at before the end is asked for, and next when that was answered and nothing is read yet.
    let mut looked = 0;
    let add_behind_the_end = poll_fn(|_| {
        looked += 1;
        if looked == 2 {
            for _ in 0..5 {
                let value = body(99, "", 0);
                producer.send(BaseRecord::<[u8], _>::to(DLQ).payload(&value).partition(0)).unwrap();
            }
            producer.flush(Duration::from_secs(10)).unwrap();
        }
        Poll::Pending
    });
    let report = kafka.redrive(DLQ).run_until(add_behind_the_end).await.unwrap();
    assert_eq!((report.read, report.redriven), (5, 5), "{report:?}");
    assert_eq!(numbers(&all(&broker, "orders", 0)), [0, 1, 2, 3, 4]);
    assert_eq!((committed(&broker, GROUP, 0), all(&broker, DLQ, 0).len()), (Some(5), 10));
}

#[tokio::test]
async fn the_dead_letter_topic_is_no_target_of_itself() {
    let (broker, kafka) = broker(1, &[Letter::of(1)]).await;
    for (redrive, setting) in [
        (kafka.redrive(DLQ).to(DLQ), "to"),
        (kafka.redrive(DLQ).to("no topic"), "to"),
        (kafka.redrive(""), "redrive"),
        (kafka.redrive(DLQ).group(""), "group"),
        (kafka.redrive(DLQ).maximum(0), "maximum"),
        (kafka.redrive(DLQ).rate(0), "rate"),
    ] {
        let refused = redrive.run().await.unwrap_err();
        assert!(
            matches!(&refused, RedriveError::Config(ConfigError::Setting { name, .. }) if *name == setting),
            "{refused}"
        );
    }
    assert_eq!(all(&broker, DLQ, 0).len(), 1);
}

#[tokio::test]
async fn a_record_that_can_be_written_nowhere_keeps_its_place() {
    let large = Letter::new(body(1, &format!(",\"padding\":\"{}\"", "x".repeat(2_000)), 0));
    let (broker, _) = broker(1, &[Letter::of(0), large, Letter::of(2)]).await;
    let kafka = broker.builder().publisher_property("message.max.bytes", "1500").build().unwrap();
    let error = kafka.redrive(DLQ).run().await.unwrap_err();
    let RedriveError::Write { failure, report } = &error else { panic!("{error}") };
    assert_eq!((failure.offset, failure.topic.as_str()), (1, "orders"), "{error}");
    assert!(failure.restored.is_err(), "{error}");
    assert!(report.redriven >= 1 && report.failed == 1, "{report:?}");
    assert_eq!(committed(&broker, GROUP, 0), Some(1));
    // Again it is the first one, and what is sent is not yet finished.
    assert!(kafka.redrive(DLQ).run().await.is_err());
    assert_eq!(committed(&broker, GROUP, 0), Some(1));
    // A record that only goes back is not lost either.
    let error = kafka.redrive(DLQ).group("other").urn("urn:none").run().await.unwrap_err();
    let RedriveError::Write { failure, .. } = &error else { panic!("{error}") };
    assert_eq!((failure.offset, failure.topic.as_str()), (1, DLQ), "{error}");
    assert_eq!(committed(&broker, "other", 0), Some(1));
}

#[tokio::test]
async fn a_rate_and_a_signal_are_kept_to_and_progress_is_told() {
    let letters: Vec<_> = (0..100).map(Letter::of).collect();
    let (broker, kafka) = broker(1, &letters).await;
    let told = Arc::new(Mutex::new(Vec::<RedriveReport>::new()));
    let (sender, mut receiver) = unbounded_channel();
    let redrive = kafka.redrive(DLQ).rate(20).on_progress({
        let told = Arc::clone(&told);
        move |report| {
            told.lock().unwrap().push(report.clone());
            let _ = sender.send(report.redriven);
        }
    });
    let start = Instant::now();
    let signal = async {
        while let Some(redriven) = receiver.recv().await {
            if redriven >= 20 {
                return;
            }
        }
    };
    let report = redrive.run_until(signal).await.unwrap();
    let allowed = start.elapsed().as_secs_f64() * 20.0 + 2.0;
    assert!(report.interrupted && (20.0..allowed).contains(&(report.redriven as f64)), "{report:?} of {allowed}");
    assert!(told.lock().unwrap().iter().all(|each| each.redriven <= report.redriven));
    assert_eq!(committed(&broker, GROUP, 0), Some(report.redriven.cast_signed()));
    assert_eq!(all(&broker, "orders", 0).len() as u64, report.redriven);
}

#[tokio::test]
async fn a_handler_sees_a_replay_and_its_retries_and_leaves_out_what_must_not_happen_twice() {
    /// Fails for good at first, and once more in each further round.
    async fn see(
        sender: &UnboundedSender<(bool, Option<u64>)>,
        job: OrderCreated,
        cx: &Delivery,
    ) -> Result<(), HandlerError> {
        let mailed = cx.unless_replay(async || job.order_id).await;
        sender.send((cx.is_replay(), mailed))?;
        match cx.attempts() {
            0 if cx.offset() == 0 => Err(HandlerError::fatal("no such warehouse")),
            0 => Err(HandlerError::new("the warehouse is closed")),
            _ => Ok(()),
        }
    }
    let (sender, mut receiver) = unbounded_channel();
    let kit = TestKit::start(routes![sender; OrderCreated => see]).await.unwrap();
    let id = kit.publish(&OrderCreated::number(1)).await.unwrap();
    kit.dead_lettered(id).await.unwrap();
    let redrives = [kit.kafka().redrive(DLQ), kit.kafka().redrive(DLQ).group("again").replay_bypass()];
    for (nth, redrive) in redrives.into_iter().enumerate() {
        assert_eq!(redrive.run().await.unwrap().redriven, 1);
        kit.advance(kit.retried(id, nth + 1).await.unwrap().delay);
        assert_eq!(kit.handled(id).await.unwrap(), 2);
    }
    let (plain, replay) = ((false, Some(1)), (true, None));
    for expected in [plain, plain, plain, replay, replay] {
        assert_eq!(receiver.try_recv(), Ok(expected));
    }
}

#[tokio::test]
async fn a_new_group_begins_with_the_oldest_dead_letter_whatever_consumers_begin_with() {
    let (broker, _) = broker(1, &[Letter::of(0)]).await;
    let kafka = broker.builder().consumer_property("auto.offset.reset", "latest").build().unwrap();
    let report = kafka.redrive(DLQ).run().await.unwrap();
    assert_eq!((report.read, report.redriven), (1, 1));
}
