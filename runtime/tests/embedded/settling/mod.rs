//! Settling (contract sections 3 and 4): retries, dead letters, and the commit that waits for them.

mod dead_letters;
mod delaying;
mod refused;
mod retrying;
mod unacknowledged;
mod unhandled;

use std::{future::Future, time::Duration};

use babelqueue::{
    ConsumerBuilder, ConsumerError, Delivery, Event, HandlerError, Kafka, RecordError, RetryTopics, ShutdownHandle,
    Summary, routes, testing::TestBroker,
};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    message::{Headers as _, OwnedMessage},
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

use crate::jobs::{Foreign, OrderCreated};

const PATIENCE: Duration = Duration::from_secs(90);
const GROUP: &str = "workers";
const TIERS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

/// A broker with `orders`, its retry topics and its dead-letter topic, of one partition each.
fn broker() -> (TestBroker, Kafka) {
    let topics = ["orders", "orders.retry.1", "orders.retry.2", "orders.dlq"];
    let broker = TestBroker::start(&topics.map(|topic| (topic, 1))).unwrap();
    let kafka = broker.kafka().unwrap();
    (broker, kafka)
}

/// Two tiers and a dead-letter topic.
fn tiers() -> RetryTopics {
    RetryTopics::for_topic("orders").tiers(TIERS)
}

/// An order whose note tells the handler what to do; see [`as_told`].
fn told(order_id: u64, note: &str) -> OrderCreated {
    OrderCreated { order_id, note: Some(note.to_owned()) }
}

/// An envelope of such an order, in a spelling that no encoder of ours has.
fn body(order_id: u64, note: &str, attempts: u32) -> String {
    format!(
        r#"{{ "job":"urn:babel:orders:created", "trace_id":"trace-1","data":{{"order_id":{order_id},"note":"{note}","price":1.50}},"meta":{{"id":"id-1","n":1e2}},"attempts":{attempts},"vendor":"\u00e9" }}"#
    )
}

/// The same as a record of another producer.
fn foreign(order_id: u64, note: &str, attempts: u32) -> Foreign {
    Foreign::value(body(order_id, note, attempts))
}

async fn as_told(handled: &UnboundedSender<u64>, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    match job.note.as_deref().map(|note| note.split_once(' ').unwrap_or((note, ""))) {
        Some(("fail", _)) => Err(HandlerError::new("the warehouse is closed")),
        Some(("fatal", _)) => Err(HandlerError::fatal("no such warehouse")),
        Some(("after", seconds)) => Err(HandlerError::retry_after("busy", Duration::from_secs(seconds.parse()?))),
        Some(("panic", _)) => panic!("no stock"),
        _ => Ok(handled.send(job.order_id)?),
    }
}

/// A running consumer that does as it is told, and what it says.
struct Running {
    handled: UnboundedReceiver<u64>,
    errors: UnboundedReceiver<RecordError>,
    events: UnboundedReceiver<Event>,
    handle: ShutdownHandle,
    end: JoinHandle<Result<Summary, ConsumerError>>,
}

impl Running {
    fn start(consumer: ConsumerBuilder) -> Self {
        let (sender, handled) = unbounded_channel();
        Self::with(consumer, handled, |consumer| consumer.serve(routes![sender; OrderCreated => as_told]))
    }

    fn with(
        consumer: ConsumerBuilder,
        handled: UnboundedReceiver<u64>,
        serve: impl FnOnce(ConsumerBuilder) -> babelqueue::Consumer,
    ) -> Self {
        let (error, errors) = unbounded_channel();
        let (event, events) = unbounded_channel();
        let consumer = serve(
            consumer
                .on_error(move |reported| drop(error.send(reported.clone())))
                .on_event(move |reported| drop(event.send(reported.clone()))),
        );
        Self { handled, errors, events, handle: consumer.handle(), end: tokio::spawn(consumer.run()) }
    }

    async fn handled(&mut self) -> u64 {
        within(self.handled.recv()).await.unwrap()
    }

    async fn errors(&mut self, count: usize) -> Vec<RecordError> {
        let mut errors = Vec::new();
        while errors.len() < count {
            errors.push(within(self.errors.recv()).await.unwrap());
        }
        errors
    }

    /// The next failed write: of which offset, to which topic.
    async fn write_failed(&mut self) -> (i64, String) {
        // Not each event within the time: others go on and on while the broker is away.
        within(async {
            loop {
                if let Event::WriteFailed { offset, topic, .. } = self.events.recv().await.unwrap() {
                    return (offset, topic);
                }
            }
        })
        .await
    }

    async fn end(self) -> Result<Summary, ConsumerError> {
        within(self.end).await.unwrap()
    }

    async fn stop(self) -> Summary {
        self.handle.shutdown();
        self.end().await.unwrap()
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it comes within 90 s")
}

/// The records of the one partition of a topic, in order.
fn lying_on(broker: &TestBroker, topic: &str) -> Vec<OwnedMessage> {
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", broker.brokers()).set("group.id", "reader").create().unwrap();
    let (_, end) = consumer.fetch_watermarks(topic, 0, PATIENCE).unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, Offset::Beginning).unwrap();
    consumer.assign(&list).unwrap();
    let mut records: Vec<OwnedMessage> = Vec::new();
    while records.last().map_or(0, |record| record.offset() + 1) < end {
        records.push(consumer.poll(PATIENCE).expect("a record within 90 s").unwrap().detach());
    }
    records
}

/// All headers of a record, in order.
fn headers(record: &OwnedMessage) -> Vec<(&str, Option<&[u8]>)> {
    record.headers().into_iter().flat_map(|headers| headers.iter()).map(|header| (header.key, header.value)).collect()
}

fn text(record: &OwnedMessage) -> &str {
    std::str::from_utf8(record.payload().unwrap()).unwrap()
}

/// The block of a dead letter, as it stands in the body, and the body without it.
fn block_of(record: &OwnedMessage) -> (&str, String) {
    let text = text(record);
    let at = text.find(r#","dead_letter":"#).unwrap();
    let end = at + text[at..].find("\"lang\":\"rust\"}").unwrap() + "\"lang\":\"rust\"}".len();
    (&text[at + r#","dead_letter":"#.len()..end], format!("{}{}", &text[..at], &text[end..]))
}

/// The block with the moment of the failure left out.
fn timeless(block: &str) -> String {
    let (before, rest) = block.split_once(r#""failed_at":"#).unwrap();
    let (ms, behind) = rest.split_once(',').unwrap();
    assert!(ms.parse::<i64>().unwrap() > 1_700_000_000_000, "{ms}");
    format!("{before}{behind}")
}
