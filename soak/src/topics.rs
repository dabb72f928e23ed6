//! The topics of a run, and their end.

use std::time::Duration;

use babelqueue::{Kafka, ProcessingOrder, RetryTopics, Uuid};
use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
};

use crate::Result;

pub(crate) const TIERS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
const PARTITIONS: i32 = 4;
/// Of each partition of a work topic the broker keeps about so much; consumers are never as far behind.
const KEPT_BYTES: &str = "67108864";
const SEGMENT_BYTES: &str = "16777216";

/// A work topic that is handled in one order, and what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) topic: String,
    pub(crate) order: ProcessingOrder,
    pub(crate) retry_topics: RetryTopics,
}

impl Line {
    fn new(run: &str, name: &str, order: ProcessingOrder) -> Self {
        let topic = format!("soak-{run}-{name}");
        let retry_topics = RetryTopics::for_topic(&topic).tiers(TIERS);
        Self { topic, order, retry_topics }
    }

    /// The name of a consumer group of this line and of no other run.
    pub(crate) fn group(&self, role: &str) -> String {
        format!("{}-{role}", self.topic)
    }

    fn topics(&self) -> Vec<String> {
        let dead_letters = self.retry_topics.dead_letter_topic_name().map(str::to_owned);
        [vec![self.topic.clone()], self.retry_topics.retry_topic_names(), Vec::from_iter(dead_letters)].concat()
    }
}

/// The topics of this run. Their names are new.
pub(crate) struct Topics {
    pub(crate) lines: [Line; 2],
    admin: AdminClient<DefaultClientContext>,
}

impl Topics {
    pub(crate) async fn create(brokers: &str, kafka: &Kafka) -> Result<Self> {
        let run = format!("{:.8}", Uuid::new_v4().simple().to_string());
        let lines =
            [Line::new(&run, "partition", ProcessingOrder::Partition), Line::new(&run, "key", ProcessingOrder::Key)];
        let admin = ClientConfig::new().set("bootstrap.servers", brokers).create()?;
        let topics = Self { lines, admin };
        for line in &topics.lines {
            let work = NewTopic::new(&line.topic, PARTITIONS, TopicReplication::Fixed(1))
                .set("retention.bytes", KEPT_BYTES)
                .set("segment.bytes", SEGMENT_BYTES);
            for created in topics.admin.create_topics([&work], &options()).await? {
                created.map_err(|(topic, code)| format!("{topic}: {code}"))?;
            }
            kafka.ensure_topics(&line.retry_topics).await?;
        }
        Ok(topics)
    }

    /// Deletes them, as far as they exist.
    pub(crate) async fn delete(&self) -> Result<()> {
        let names: Vec<_> = self.lines.iter().flat_map(Line::topics).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        self.admin.delete_topics(&names, &options()).await?;
        Ok(())
    }
}

fn options() -> AdminOptions {
    let timeout = Some(Duration::from_secs(15));
    AdminOptions::new().request_timeout(timeout).operation_timeout(timeout)
}
