//! Records on the embedded broker: foreign ones through our consumer, ours read back by a plain client.

use std::{collections::HashMap, error::Error, time::Duration};

use babelqueue::{Delivery, HandlerError, Publisher, Reason, babel_job, routes, testing::TestBroker};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _, StreamConsumer},
    message::{Header, Headers as _, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::timeout,
};

const TOPIC: &str = "orders";
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The job of the suite's fixture.
#[babel_job("urn:babel:orders:created", topic = "orders")]
#[derive(Serialize, Deserialize)]
pub(crate) struct OrderCreated {
    pub(crate) order_id: u64,
}

/// A record as another producer writes it: its value, and at most one header.
pub(crate) struct Record {
    pub(crate) body: Vec<u8>,
    pub(crate) header: Option<(String, Option<String>)>,
}

/// What the consumer made of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Consumed {
    /// It reached its handler.
    Handled { data: Value, attempts: u64 },
    /// It was reported instead.
    NotHandled(Reason),
}

/// Writes the records, consumes them, and says of each what became of it.
pub(crate) async fn consume(records: &[&Record]) -> Vec<Result<Consumed, String>> {
    match try_consume(records).await {
        Ok(seen) => (0..records.len())
            .map(|index| seen.get(&index).cloned().ok_or_else(|| "it was not consumed".to_owned()))
            .collect(),
        Err(error) => records.iter().map(|_| Err(error.to_string())).collect(),
    }
}

/// By offset, which is the index of the record: there is one partition.
async fn try_consume(records: &[&Record]) -> Result<HashMap<usize, Consumed>, Box<dyn Error>> {
    let broker = TestBroker::start(&[(TOPIC, 1)])?;
    write(&broker, records).await?;
    let (seen, mut receiver) = unbounded_channel();
    let routes = routes![seen.clone(); OrderCreated => handle];
    let consumer = broker
        .kafka()?
        .consumer("conformance")
        .on_error(move |error| drop(seen.send((error.offset, Consumed::NotHandled(error.reason)))))
        .serve(routes);
    let mut all = HashMap::new();
    consumer.run_until(collect(&mut receiver, &mut all, records.len())).await?;
    Ok(all)
}

async fn handle(seen: &UnboundedSender<(i64, Consumed)>, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    let data = serde_json::to_value(job)?;
    Ok(seen.send((cx.offset(), Consumed::Handled { data, attempts: cx.attempts().into() }))?)
}

/// Ends when everything was seen, or nothing more comes.
async fn collect(receiver: &mut UnboundedReceiver<(i64, Consumed)>, all: &mut HashMap<usize, Consumed>, count: usize) {
    while all.len() < count {
        let Ok(Some((offset, consumed))) = timeout(PATIENCE, receiver.recv()).await else { return };
        if let Ok(index) = usize::try_from(offset) {
            all.insert(index, consumed);
        }
    }
}

async fn write(broker: &TestBroker, records: &[&Record]) -> Result<(), Box<dyn Error>> {
    let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", broker.brokers()).create()?;
    for Record { body, header } in records {
        let mut record = FutureRecord::<[u8], [u8]>::to(TOPIC).payload(body);
        if let Some((key, value)) = header {
            record = record.headers(OwnedHeaders::new().insert(Header { key, value: value.as_ref() }));
        }
        producer.send(record, PATIENCE).await.map_err(|(error, _)| error)?;
    }
    Ok(())
}

/// A record that our publisher wrote, as a plain client reads it.
pub(crate) struct Published {
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) timestamp: Option<i64>,
}

pub(crate) async fn publish() -> Result<Published, String> {
    try_publish().await.map_err(|error| error.to_string())
}

async fn try_publish() -> Result<Published, Box<dyn Error>> {
    let broker = TestBroker::start(&[(TOPIC, 1)])?;
    Publisher::new(&broker.kafka()?).publish(&OrderCreated { order_id: 1042 }).await?;
    let reader: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", broker.brokers())
        .set("group.id", "reader")
        .set("auto.offset.reset", "earliest")
        .create()?;
    reader.subscribe(&[TOPIC])?;
    let record = timeout(PATIENCE, reader.recv()).await??;
    let headers = record.headers().into_iter().flat_map(|headers| headers.iter());
    Ok(Published {
        body: record.payload().unwrap_or_default().to_vec(),
        headers: headers.map(|h| (h.key.to_owned(), h.value.unwrap_or_default().to_vec())).collect(),
        timestamp: record.timestamp().to_millis(),
    })
}

/// A record with a topic, a key and headers of its own, as another producer writes it.
pub(crate) struct Foreign {
    pub(crate) topic: String,
    pub(crate) key: Option<String>,
    pub(crate) value: String,
    pub(crate) headers: Vec<(&'static str, String)>,
}

pub(crate) async fn write_foreign(broker: &TestBroker, record: &Foreign) -> Result<(), Box<dyn Error>> {
    let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", broker.brokers()).create()?;
    let headers = record
        .headers
        .iter()
        .fold(OwnedHeaders::new(), |headers, (key, value)| headers.insert(Header { key, value: Some(value) }));
    let mut send = FutureRecord::<str, str>::to(&record.topic).payload(&record.value).headers(headers);
    send.key = record.key.as_deref();
    producer.send(send, PATIENCE).await.map_err(|(error, _)| error)?;
    Ok(())
}

/// A record that lies on a topic.
pub(crate) struct Lying {
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
}

/// The records of the one partition of a topic; none when it cannot be read, which no case takes for its own.
pub(crate) fn lying_on(broker: &TestBroker, topic: &str) -> Vec<Lying> {
    try_lying_on(broker, topic).unwrap_or_default()
}

fn try_lying_on(broker: &TestBroker, topic: &str) -> Result<Vec<Lying>, Box<dyn Error>> {
    let reader: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", broker.brokers()).set("group.id", "reader").create()?;
    let (_, end) = reader.fetch_watermarks(topic, 0, PATIENCE)?;
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, Offset::Beginning)?;
    reader.assign(&list)?;
    let mut records = Vec::new();
    let mut next = 0;
    while next < end {
        let record = reader.poll(PATIENCE).ok_or("nothing more to read")??;
        next = record.offset() + 1;
        let headers = record.headers().into_iter().flat_map(|headers| headers.iter());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        records.push(Lying {
            topic: topic.to_owned(),
            key: record.key().map(<[u8]>::to_vec),
            value: record.payload().unwrap_or_default().to_vec(),
            headers: headers.map(|h| (h.key.to_owned(), text(h.value.unwrap_or_default()))).collect(),
        });
    }
    Ok(records)
}
