//! Job types and raw clients that the tests share.

use std::time::{Duration, Instant};

use babelqueue::{Delivery, HandlerError, Kafka, Routes, babel_job, routes, testing::TestBroker};
use rdkafka::{
    ClientConfig, Message as _,
    consumer::{BaseConsumer, Consumer as _},
    message::{Header, OwnedHeaders, OwnedMessage},
    producer::{FutureProducer, FutureRecord},
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

#[babel_job("urn:babel:orders:created", key = order_id)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderCreated {
    pub(crate) order_id: u64,
    #[serde(default)]
    pub(crate) note: Option<String>,
}

impl OrderCreated {
    pub(crate) fn number(order_id: u64) -> Self {
        Self { order_id, note: None }
    }
}

/// A broker with the topic `orders` of so many partitions, and a connection to it.
pub(crate) fn broker(partitions: i32) -> (TestBroker, Kafka) {
    let broker = TestBroker::start(&[("orders", partitions)]).unwrap();
    let kafka = broker.kafka().unwrap();
    (broker, kafka)
}

/// What a handler saw.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) job: OrderCreated,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) attempts: u32,
    pub(crate) trace_id: String,
    pub(crate) message_id: String,
    pub(crate) key: Option<Vec<u8>>,
}

/// Routes that pass every order on.
pub(crate) fn seen() -> (Routes, UnboundedReceiver<Seen>) {
    async fn on_created(sender: &UnboundedSender<Seen>, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        sender.send(Seen {
            job,
            partition: cx.partition(),
            offset: cx.offset(),
            attempts: cx.attempts(),
            trace_id: cx.trace_id().to_owned(),
            message_id: cx.message_id().to_owned(),
            key: cx.key().map(<[u8]>::to_vec),
        })?;
        Ok(())
    }
    let (sender, receiver) = unbounded_channel();
    (routes![sender; OrderCreated => on_created], receiver)
}

/// A record as another producer writes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreign {
    pub(crate) key: Option<&'static [u8]>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) headers: Vec<(&'static str, Option<&'static [u8]>)>,
}

impl Foreign {
    pub(crate) fn value(value: impl Into<Vec<u8>>) -> Self {
        Self { value: Some(value.into()), ..Self::default() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: Option<&'static [u8]>) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) async fn send(&self, broker: &TestBroker) {
        self.send_to(broker, "orders").await;
    }

    pub(crate) async fn send_to(&self, broker: &TestBroker, topic: &str) {
        let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", broker.brokers()).create().unwrap();
        let headers = self
            .headers
            .iter()
            .fold(OwnedHeaders::new(), |headers, (key, value)| headers.insert(Header { key, value: *value }));
        let record = FutureRecord::<[u8], [u8]> {
            topic,
            partition: Some(0),
            payload: self.value.as_deref(),
            key: self.key,
            timestamp: None,
            headers: Some(headers),
        };
        producer.send(record, Duration::from_secs(10)).await.unwrap();
    }
}

/// The first `count` records of a topic, in no particular order of partitions.
pub(crate) fn read(broker: &TestBroker, topic: &str, count: usize) -> Vec<OwnedMessage> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", broker.brokers())
        .set("group.id", "reader")
        .set("auto.offset.reset", "earliest")
        .create()
        .unwrap();
    consumer.subscribe(&[topic]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut records = Vec::new();
    while records.len() < count {
        assert!(Instant::now() < deadline, "{} records of {count} within 30 s", records.len());
        // `None` also stands for a rebalance that went by.
        if let Some(message) = consumer.poll(Duration::from_secs(1)) {
            records.push(message.unwrap().detach());
        }
    }
    records
}

/// The offset that a group has committed for a partition of `orders`.
pub(crate) fn committed(broker: &TestBroker, group: &str, partition: i32) -> Option<i64> {
    committed_of(broker, group, "orders", partition)
}

/// The offset that a group has committed for a partition.
pub(crate) fn committed_of(broker: &TestBroker, group: &str, topic: &str, partition: i32) -> Option<i64> {
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", broker.brokers()).set("group.id", group).create().unwrap();
    let mut list = rdkafka::TopicPartitionList::new();
    list.add_partition(topic, partition);
    let list = consumer.committed_offsets(list, Duration::from_secs(10)).unwrap();
    list.elements().first().and_then(|element| match element.offset() {
        rdkafka::Offset::Offset(offset) => Some(offset),
        _ => None,
    })
}

/// The value of a header of a record that was read back.
pub(crate) fn header<'a>(record: &'a OwnedMessage, name: &str) -> Option<&'a [u8]> {
    use rdkafka::message::Headers as _;
    record.headers()?.iter().find(|header| header.key == name)?.value
}
