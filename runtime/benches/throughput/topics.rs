//! The topics of a run, each made and filled when a case first asks for it.

use std::{collections::HashMap, sync::Arc};

use babelqueue::{Delivery, HandlerError, Kafka, Publisher, Uuid, routes};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::sync::Semaphore;

use crate::sides::{self, Error, Order, Size, Task, WINDOW};

/// What a case needs of a topic.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Topic {
    pub(crate) partitions: i32,
    pub(crate) size: Size,
    pub(crate) holds: Holds,
}

/// Where the records are that a turn takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holds {
    /// Nowhere: the turn publishes them.
    Nothing,
    Records,
    /// On its first retry topic.
    Delayed,
    /// On its dead-letter topic.
    DeadLetters,
}

pub(crate) struct Topics {
    kafka: Kafka,
    /// Part of each name, so that no other run has it.
    run: Uuid,
    made: HashMap<(Topic, u64), String>,
    groups: u64,
}

impl Topics {
    pub(crate) fn new(brokers: &str) -> Result<Self, Error> {
        Ok(Self { kafka: Kafka::connect(brokers)?, run: Uuid::new_v4(), made: HashMap::new(), groups: 0 })
    }

    /// A turn at so many records, for a group that has read none of them.
    pub(crate) async fn task(&mut self, topic: Topic, records: u64) -> Result<Task, Error> {
        let name = self.get(topic, records).await?;
        self.groups += 1;
        Ok(Task { group: format!("{name}-{}", self.groups), topic: name, size: topic.size, records })
    }

    /// The name of a topic with so many records.
    async fn get(&mut self, topic: Topic, records: u64) -> Result<String, Error> {
        if let Some(name) = self.made.get(&(topic, records)) {
            return Ok(name.clone());
        }
        let name = format!("bench-{}-{}", self.run.simple(), self.made.len());
        for topic_name in [name.clone(), format!("{name}.retry.1"), format!("{name}.dlq")] {
            self.kafka.create_topic_if_missing(&topic_name, topic.partitions).await?;
        }
        match topic.holds {
            Holds::Nothing => {}
            Holds::Records => self.publish(&name, topic.size, records).await?,
            Holds::Delayed => self.delay(&name, topic.size, records).await?,
            Holds::DeadLetters => {
                self.publish(&name, topic.size, records).await?;
                self.give_up(&name, records).await?;
            }
        }
        self.made.insert((topic, records), name.clone());
        Ok(name)
    }

    async fn publish(&self, topic: &str, size: Size, records: u64) -> Result<(), Error> {
        let publisher = Publisher::new(&self.kafka).topic(topic);
        let each = |number| {
            let publisher = &publisher;
            async move { publisher.publish(&size.order(number)).await }
        };
        stream::iter(0..records).map(each).buffer_unordered(WINDOW).try_for_each(|_| async { Ok(()) }).await?;
        Ok(())
    }

    async fn delay(&self, topic: &str, size: Size, records: u64) -> Result<(), Error> {
        let tiers = sides::retry_topics(topic);
        let publisher = Publisher::new(&self.kafka).topic(topic).retry_topics(tiers);
        let each = |number| {
            let publisher = &publisher;
            async move { publisher.message(&size.order(number)).delay(sides::TIER).await }
        };
        stream::iter(0..records).map(each).buffer_unordered(WINDOW).try_for_each(|_| async { Ok(()) }).await?;
        Ok(())
    }

    /// Lets a consumer give up that many records.
    async fn give_up(&self, topic: &str, records: u64) -> Result<(), Error> {
        async fn fail(_: Order, _: &Delivery) -> Result<(), HandlerError> {
            Err(HandlerError::fatal("out of stock"))
        }
        let given_up = Arc::new(Semaphore::new(0));
        let another = Arc::clone(&given_up);
        let consumer = self.kafka.consumer(format!("{topic}-give-up")).topics([topic]);
        let consumer = consumer.retry_topics(sides::retry_topics(topic)).on_error(move |_| another.add_permits(1));
        let all = async { drop(given_up.acquire_many(u32::try_from(records).unwrap_or(u32::MAX)).await) };
        consumer.serve(routes![Order => fail]).run_until(all).await?;
        Ok(())
    }
}
