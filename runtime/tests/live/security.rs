//! What a refused account sees. `BABELQUEUE_PASSWORD_BROKERS` is a listener that takes `alice` with her password alone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use babelqueue::{ConsumerError, Delivery, HandlerError, Kafka, PublishError, Publisher, routes};

use crate::{
    Check,
    jobs::{Numbered, create_topic, unique},
};

pub(crate) const PASSWORD: &str = "not-her-password";

pub(crate) fn connect(password: &str) -> Result<Kafka, Box<dyn std::error::Error>> {
    let brokers = std::env::var("BABELQUEUE_PASSWORD_BROKERS").map_err(
        |_| "BABELQUEUE_PASSWORD_BROKERS is not set: this test needs the broker that `cargo xtask test live` starts",
    )?;
    Ok(Kafka::builder()
        .brokers(brokers)
        .property("security.protocol", "SASL_PLAINTEXT")
        .property("sasl.mechanism", "PLAIN")
        .property("sasl.username", "alice")
        .property("sasl.password", password)
        .delivery_timeout(Duration::from_secs(5))
        .build()?)
}

async fn ignore(_: Numbered, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

pub(crate) async fn wrong_credentials_end_the_consumer_with_a_typed_error() -> Check {
    let topic = unique("sasl");
    create_topic(&topic, 1, &[]).await?;
    let start = Instant::now();
    let consumer = connect(PASSWORD)?
        .consumer(unique("group"))
        .topics([&topic])
        .shutdown_timeout(Duration::from_secs(2))
        .serve(routes![Numbered => ignore]);
    let result = tokio::time::timeout(Duration::from_secs(30), consumer.run()).await?;
    let Err(ConsumerError::Kafka { error, .. }) = result else { return Err(format!("{result:?}").into()) };
    assert!(error.is_refused(), "{error}");
    assert!(!error.to_string().contains(PASSWORD));
    println!("refused after {:?}: {error}", start.elapsed());

    // The right password is taken.
    let kafka = connect("alice-secret")?;
    Publisher::<Numbered>::new(&kafka).topic(&topic).publish(&Numbered::new(1)).await?;
    let seen = Arc::new(tokio::sync::Notify::new());
    async fn tell(seen: &tokio::sync::Notify, _: Numbered, _: &Delivery) -> Result<(), HandlerError> {
        seen.notify_one();
        Ok(())
    }
    let consumer = kafka.consumer(unique("group")).topics([&topic]).serve(routes![Arc::clone(&seen); Numbered => tell]);
    let summary = tokio::time::timeout(Duration::from_secs(30), consumer.run_until(seen.notified())).await??;
    assert_eq!(summary.handled, 1);
    Ok(())
}

pub(crate) async fn wrong_credentials_fail_a_publish_with_a_typed_error() -> Check {
    let start = Instant::now();
    let kafka = connect(PASSWORD)?;
    let result = Publisher::<Numbered>::new(&kafka).publish(&Numbered::new(1)).await;
    let Err(PublishError::NotDelivered { error, .. }) = result else { return Err(format!("{result:?}").into()) };
    assert!(error.is_refused(), "{error}");
    assert!(!error.to_string().contains(PASSWORD));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    Ok(())
}
