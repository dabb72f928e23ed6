//! A loop that consumes and produces by hand, with the settings of the SDK, in place of reinjector and redrive.

use std::time::Duration;

use rdkafka::{
    Message as _,
    consumer::{BaseConsumer, CommitMode, Consumer as _},
    error::{KafkaError, RDKafkaErrorCode},
    message::{BorrowedMessage, Header, Headers as _, OwnedHeaders},
    producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer},
};

use super::{Error, Turn, movers, raw};

pub(super) async fn relay(brokers: &str, from: &str, to: &str, group: &str, records: u64) -> Result<Turn, Error> {
    let watch = movers::watch(brokers, to, records).await?;
    let [brokers, from, to, group] = [brokers, from, to, group].map(str::to_owned);
    tokio::task::spawn_blocking(move || copy(&brokers, &from, &to, &group, records)).await??;
    watch.await?
}

/// As a careful user would write it: many writes in flight, the hop's headers left out, committed once acknowledged.
fn copy(brokers: &str, from: &str, to: &str, group: &str, records: u64) -> Result<(), Error> {
    let consumer: BaseConsumer = raw::consumer(brokers, group)?;
    consumer.subscribe(&[from])?;
    let producer: ThreadedProducer<DefaultProducerContext> = raw::settings(brokers).create()?;
    let mut copied = 0;
    while copied < records {
        let Some(message) = consumer.poll(Duration::from_secs(10)) else { continue };
        send(&producer, &message?, to)?;
        copied += 1;
    }
    producer.flush(Duration::from_secs(60))?;
    consumer.commit(&consumer.position()?, CommitMode::Sync)?;
    Ok(())
}

fn send(
    producer: &ThreadedProducer<DefaultProducerContext>,
    message: &BorrowedMessage<'_>,
    to: &str,
) -> Result<(), Error> {
    let mut headers = OwnedHeaders::new_with_capacity(6);
    for Header { key, value } in message.headers().into_iter().flat_map(|headers| headers.iter()) {
        if !matches!(key, "bq-delay" | "bq-original-topic") {
            headers = headers.insert(Header { key, value });
        }
    }
    let mut record =
        BaseRecord::to(to).key(message.key().unwrap_or_default()).payload(message.payload().unwrap_or_default());
    record = record.headers(headers);
    loop {
        match producer.send(record) {
            Ok(()) => return Ok(()),
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                record = back;
                std::thread::sleep(Duration::from_millis(1));
            }
            Err((error, _)) => return Err(error.into()),
        }
    }
}
