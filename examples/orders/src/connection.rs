//! Where the examples run: on the broker that is named, or on an embedded one.

use std::error::Error;

use babelqueue::{Kafka, testing::TestBroker};

const PARTITIONS: i32 = 4;
/// What becomes of records the examples print themselves.
const FILTER: &str = "warn,babelqueue::consumer=off";

/// A connection, with the topic in place. The embedded broker ends when it is dropped.
pub(crate) async fn open(topic: &str) -> Result<(Kafka, Option<TestBroker>), Box<dyn Error>> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| FILTER.into()))
        .with_writer(std::io::stderr)
        .init();
    if std::env::var_os("BABELQUEUE_BROKERS").is_none() {
        println!("broker     embedded, in this process; set BABELQUEUE_BROKERS=host:port to use a real one");
        let broker = TestBroker::start(&[(topic, PARTITIONS)])?;
        return Ok((broker.kafka()?, Some(broker)));
    }
    let kafka = Kafka::from_env()?;
    println!("broker     the one that BABELQUEUE_BROKERS names");
    if kafka.create_topic_if_missing(topic, PARTITIONS).await? {
        println!("topic      created `{topic}` with {PARTITIONS} partitions");
    }
    Ok((kafka, None))
}
