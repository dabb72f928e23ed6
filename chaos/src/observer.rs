//! Looks at the brokers from outside: what the groups have committed, and what lies on the other topics by then.

use std::{
    collections::HashMap,
    error::Error,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    error::KafkaError,
    message::{BorrowedMessage, Headers as _},
};

use crate::{
    line::{Line, Place, Teller, unix_ms},
    member::{group, retry_topics, topic},
    plan::{Order, PARTITIONS, TIERS},
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ROUND: Duration = Duration::from_millis(150);
/// While a broker is down an answer may not come; the round is tried again then.
const ANSWER: Duration = Duration::from_secs(3);
/// How long what is there may take to be read.
const READ: Duration = Duration::from_secs(20);

/// What a record on another topic says.
#[derive(Clone, Copy)]
enum Kind {
    Waits(Duration),
    Dead,
}

/// A partition of a retry topic or of a dead-letter topic.
struct Other {
    order: Order,
    kind: Kind,
    /// The next offset to be read.
    next: i64,
}

pub(crate) struct Observer {
    ledger: Teller,
    groups: Vec<(Order, BaseConsumer)>,
    reader: BaseConsumer,
    others: HashMap<(String, i32), Other>,
    /// What was seen to be committed and is told when the other topics can be read.
    committed: Vec<Line>,
}

impl Observer {
    pub(crate) fn new(brokers: &str, orders: &[Order], ledger: Teller) -> Result<Self> {
        let mut others = HashMap::new();
        let mut list = TopicPartitionList::new();
        for order in orders.iter().copied() {
            let topics = retry_topics(order);
            let waiting = topics.retry_topic_names().into_iter().zip(TIERS.map(Kind::Waits));
            let dead = topics.dead_letter_topic_name().map(|name| (name.to_owned(), Kind::Dead));
            for (name, kind) in waiting.chain(dead) {
                for partition in 0..PARTITIONS {
                    list.add_partition_offset(&name, partition, Offset::Beginning)?;
                    others.insert((name.clone(), partition), Other { order, kind, next: 0 });
                }
            }
        }
        let reader = client(brokers, "chaos-observer")?;
        reader.assign(&list)?;
        let groups =
            orders.iter().map(|order| Ok((*order, client(brokers, &group(*order))?))).collect::<Result<_>>()?;
        Ok(Self { ledger, groups, reader, others, committed: Vec::new() })
    }

    /// Looks again and again, and once more when it is told to end.
    pub(crate) fn run(mut self, end: &AtomicBool) -> Result<()> {
        let mut said = String::new();
        loop {
            let last = end.load(Ordering::SeqCst);
            match self.round() {
                Ok(()) if last => return Ok(()),
                Ok(()) => said.clear(),
                // Not all brokers answered: again. A client that is asked for nothing else does not learn of new leaders by
                // itself.
                Err(Trouble::Silence(why)) => {
                    for (_, client) in &self.groups {
                        let _ = client.fetch_metadata(None, ANSWER);
                    }
                    if why != said {
                        eprintln!("          observer: {why}");
                        said = why;
                    }
                }
                Err(Trouble::Other(error)) => return Err(error),
            }
            thread::sleep(ROUND);
        }
    }

    /// In this order: what is committed, where the other topics end, what lies there up to that. A record whose write was
    /// acknowledged before its commit is read before that commit is told.
    fn round(&mut self) -> std::result::Result<(), Trouble> {
        for (order, client) in &self.groups {
            let mut list = TopicPartitionList::new();
            list.add_partition_range(&topic(*order), 0, PARTITIONS - 1);
            for each in client.committed_offsets(list, ANSWER).map_err(Trouble::from)?.elements() {
                each.error().map_err(Trouble::from)?;
                if let Offset::Offset(offset) = each.offset() {
                    let seen = i64::try_from(unix_ms()).unwrap_or(i64::MAX);
                    let at = Place { order: *order, partition: each.partition() };
                    self.committed.push(Line::Committed { at, offset, seen });
                }
            }
        }
        let mut ends = Vec::new();
        // Not by the client that reads: its answers wait behind the fetch that is under way.
        let Some((_, client)) = self.groups.first() else { return Ok(()) };
        for (topic, partition) in self.others.keys() {
            let end = client.fetch_watermarks(topic, *partition, ANSWER).map_err(Trouble::from)?.1;
            ends.push(((topic.clone(), *partition), end));
        }
        self.read_to(&ends)?;
        for line in self.committed.drain(..) {
            self.ledger.tell(&line).map_err(|error| Trouble::Other(error.into()))?;
        }
        for (order, client) in &self.groups {
            for partition in 0..PARTITIONS {
                let (_, offset) = client.fetch_watermarks(&topic(*order), partition, ANSWER).map_err(Trouble::from)?;
                let line = Line::End { at: Place { order: *order, partition }, offset };
                self.ledger.tell(&line).map_err(|error| Trouble::Other(error.into()))?;
            }
        }
        Ok(())
    }

    fn read_to(&mut self, ends: &[((String, i32), i64)]) -> std::result::Result<(), Trouble> {
        let deadline = Instant::now() + READ;
        let behind = |others: &HashMap<(String, i32), Other>| {
            ends.iter().any(|(at, end)| others.get(at).is_some_and(|other| other.next < *end))
        };
        while behind(&self.others) {
            if Instant::now() > deadline {
                return Err(Trouble::Silence("the other topics could not be read to their ends".to_owned()));
            }
            // An error is a broker's trouble: the client goes on by itself.
            if let Some(Ok(record)) = self.reader.poll(Duration::from_millis(50)) {
                let at = (record.topic().to_owned(), record.partition());
                let Some(other) = self.others.get_mut(&at) else { continue };
                other.next = record.offset() + 1;
                let line = line(&record, other.order, other.kind).map_err(Trouble::Other)?;
                self.ledger.tell(&line).map_err(|error| Trouble::Other(error.into()))?;
            }
        }
        Ok(())
    }
}

enum Trouble {
    /// A broker does not answer now.
    Silence(String),
    Other(Box<dyn Error + Send + Sync>),
}

fn client(brokers: &str, group: &str) -> Result<BaseConsumer> {
    Ok(ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", group)
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .set("fetch.wait.max.ms", "50")
        .set("topic.metadata.refresh.interval.ms", "2000")
        .set("reconnect.backoff.max.ms", "1000")
        .create()?)
}

impl From<KafkaError> for Trouble {
    fn from(error: KafkaError) -> Self {
        Self::Silence(error.to_string())
    }
}

fn line(record: &BorrowedMessage<'_>, order: Order, kind: Kind) -> Result<Line> {
    let envelope: serde_json::Value = serde_json::from_slice(record.payload().unwrap_or_default())?;
    let number = envelope["data"]["number"].as_u64().ok_or("a record without its number")?;
    Ok(match kind {
        Kind::Dead => Line::Dead { order, number },
        Kind::Waits(tier) => {
            let headers = record.headers().into_iter().flat_map(|headers| headers.iter());
            let attempts = headers
                .filter(|header| header.key == "bq-attempts")
                .find_map(|header| std::str::from_utf8(header.value?).ok()?.parse().ok())
                .ok_or("a retry without its attempts")?;
            let written = record.timestamp().to_millis().ok_or("a retry without its time")?;
            Line::Waits { order, number, attempts, due: written + i64::try_from(tier.as_millis())? }
        }
    })
}
