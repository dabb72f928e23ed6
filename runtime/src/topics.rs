//! Topics and their creation.

use crate::{client::Kafka, error::KafkaError, kafka};

impl Kafka {
    /// Creates a work topic if it does not exist, with the broker's default settings; returns whether it was created. A
    /// topic that exists is left as it is, whatever its number of partitions.
    ///
    /// For development and tests: production topics are better created by those who run the cluster.
    ///
    /// ```no_run
    /// # async fn example(kafka: babelqueue::Kafka) -> Result<(), babelqueue::KafkaError> {
    /// if kafka.create_topic_if_missing("orders", 4).await? {
    ///     println!("created `orders` with 4 partitions");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No broker answers within 15 s, or it refuses.
    pub async fn create_topic_if_missing(&self, topic: &str, partitions: i32) -> Result<bool, KafkaError> {
        kafka::create_topic(self.config(), topic, partitions).await
    }
}
