//! Topics and their creation.

use crate::{client::Kafka, error::KafkaError, kafka};

/// Whether Kafka can have a topic of this name: 1 to 249 of `[a-zA-Z0-9._-]`, not `.` or `..`.
pub(crate) fn is_topic_name(name: &str) -> bool {
    let taken = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=249).contains(&name.len()) && name.bytes().all(taken) && !matches!(name, "." | "..")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_kafka_takes_are_topic_names() {
        for name in ["orders", "a", "Orders_1.retry.2-x", "...", &"a".repeat(249)] {
            assert!(is_topic_name(name), "{name}");
        }
        for name in ["", ".", "..", "a b", "a\0", "ö", "a/b", &"a".repeat(250)] {
            assert!(!is_topic_name(name), "{name}");
        }
    }
}
