//! The dead letters of a kit: read, and redriven.

use std::sync::Arc;

use super::{DeadLetter, TestKit, TestKitError};
use crate::{
    error::{Class, KafkaError},
    kafka::{self, Assigned, Read, Source, SourceEvent, SourceSettings},
    record::{Batch, TopicPartition},
    redrive::{GROUP, RedriveReport},
    retry_topics::RetryTopics,
    time::deadline,
};

impl TestKit {
    /// The records of all dead-letter topics that were not redriven yet, by topic and partition, as they lie there now:
    /// poison too, and whatever else was written there.
    ///
    /// # Errors
    ///
    /// The broker does not answer within the kit's patience.
    pub async fn dead_letters(&self) -> Result<Vec<DeadLetter>, TestKitError> {
        let mut letters = Vec::new();
        for topic in self.dead_letter_topics() {
            let reading = self.read(topic);
            let timed_out =
                |_| KafkaError::new("TimedOut", format!("`{topic}` was not read in time"), Class::Retriable);
            letters.extend(tokio::time::timeout(self.patience, reading).await.map_err(timed_out)??);
        }
        Ok(letters)
    }

    /// Redrives all dead letters, by the production [`Redrive`](crate::Redrive), and says what it did; what becomes of them
    /// can then be awaited once more. To choose among them use [`Kafka::redrive`](crate::Kafka::redrive) of
    /// [`TestKit::kafka`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// # use babelqueue::{Delivery, HandlerError, babel_job, routes, testing::TestKit};
    /// # use serde::{Deserialize, Serialize};
    /// # #[babel_job("urn:babel:orders:created")]
    /// # #[derive(Serialize, Deserialize)]
    /// # struct OrderCreated {}
    /// static MENDED: AtomicBool = AtomicBool::new(false);
    ///
    /// async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    ///     if MENDED.load(Ordering::Relaxed) { Ok(()) } else { Err(HandlerError::fatal("no such warehouse")) }
    /// }
    ///
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let kit = TestKit::start(routes![OrderCreated => on_created]).await?;
    /// let id = kit.publish(&OrderCreated {}).await?;
    /// kit.dead_lettered(id).await?;
    /// assert_eq!(kit.dead_letters().await?.len(), 1);
    ///
    /// MENDED.store(true, Ordering::Relaxed);
    /// assert_eq!(kit.redrive().await?.redriven, 1);
    /// kit.handled(id).await?;
    /// assert!(kit.dead_letters().await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Redrive::run`](crate::Redrive::run).
    pub async fn redrive(&self) -> Result<RedriveReport, TestKitError> {
        let mut report = RedriveReport::default();
        for topic in self.dead_letter_topics() {
            self.journal.note(format!("redrive of `{topic}`"));
            report.add(self.kafka.redrive(topic).run().await?);
        }
        Ok(report)
    }

    /// Each once.
    fn dead_letter_topics(&self) -> Vec<&str> {
        let mut topics: Vec<_> = self.retry_topics.iter().filter_map(RetryTopics::dead_letter_topic_name).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    /// From where the redrive's group is to the end, without becoming a member of it.
    async fn read(&self, topic: &str) -> Result<Vec<DeadLetter>, TestKitError> {
        let ends = kafka::ends(self.kafka.config(), GROUP, topic).await?;
        let partition = |partition: &i32| TopicPartition { topic: topic.into(), partition: *partition };
        let mut source = Source::start(
            self.kafka.config(),
            &SourceSettings::without_handlers(
                GROUP.to_owned(),
                Read::PartitionsToEnd(ends.keys().map(partition).collect()),
                self.patience,
            ),
            Arc::default(),
        )?;
        let mut letters = Vec::new();
        while let Some(event) = source.next().await {
            match event {
                SourceEvent::Assigned(assigned) => {
                    for Assigned { partition, mut batches, .. } in assigned {
                        while let Some(batch) = batches.next().await {
                            letters.extend(records(&batch).map(|record| DeadLetter::new(partition.clone(), record)));
                        }
                    }
                    break;
                }
                SourceEvent::Report(_) => {}
                SourceEvent::Ended(error) => return Err(error.into()),
            }
        }
        // The records of a source that has ended may not be all.
        while let Some(event) = source.try_next() {
            if let SourceEvent::Ended(error) = event {
                return Err(error.into());
            }
        }
        source.close(deadline(self.patience)).await;
        Ok(letters)
    }
}

/// Each by itself.
fn records(batch: &Batch) -> impl Iterator<Item = Arc<Batch>> + '_ {
    (0..batch.len()).filter_map(|index| Some(Arc::new(Batch::of(&batch.get(index)?))))
}
