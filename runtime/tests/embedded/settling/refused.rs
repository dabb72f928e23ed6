//! Settings that cannot work are refused before anything starts.

use std::time::Duration;

use babelqueue::{ConfigError, ConsumerBuilder, ConsumerError, Kafka, RetryTopics, UnknownUrn};

use super::{Running, tiers};

/// Nobody answers there: a refusal needs no broker.
async fn refusal(settings: impl FnOnce(ConsumerBuilder) -> ConsumerBuilder) -> String {
    let kafka = Kafka::connect("127.0.0.1:1").unwrap();
    match Running::start(settings(kafka.consumer("workers"))).end().await {
        Err(ConsumerError::Config(error @ (ConfigError::Setting { .. } | ConfigError::RetryTopics { .. }))) => {
            error.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn retry_topics_that_cannot_work() {
    let seconds = |seconds: &[u64]| tiers().tiers(seconds.iter().copied().map(Duration::from_secs));
    for (retry_topics, said) in [
        (seconds(&[60, 5]), "longer than the one before it"),
        (seconds(&[5, 5]), "longer than the one before it"),
        (seconds(&[0]), "longer than the one before it"),
        (tiers().tiers([Duration::from_nanos(1)]), "whole milliseconds"),
        (tiers().dead_letter_topic("orders"), "the dead-letter topic is the work topic"),
        (tiers().dead_letter_topic("orders.retry.2"), "one of its retry topics"),
        (tiers().dead_letter_topic(""), "takes no topic of the dead-letter topic's name"),
        (RetryTopics::for_topic("invoices"), "does not read that topic"),
    ] {
        let text = refusal(|consumer| consumer.retry_topics(retry_topics)).await;
        assert!(text.contains(said), "{text}");
    }
}

#[tokio::test]
async fn retry_topics_given_twice() {
    let text = refusal(|consumer| consumer.retry_topics(tiers()).retry_topics(RetryTopics::for_topic("orders"))).await;
    assert_eq!(text, "the retry topics of `orders`: they are given twice");
}

#[tokio::test]
async fn a_consumer_that_reads_what_it_would_write() {
    for topics in [["orders", "orders.dlq"], ["orders", "orders.retry.1"]] {
        let text = refusal(|consumer| consumer.topics(topics).retry_topics(tiers())).await;
        assert!(text.contains("reads a topic that it would write to"), "{text}");
    }
    let crossed = |consumer: ConsumerBuilder| {
        let invoices = RetryTopics::for_topic("invoices").dead_letter_topic("orders");
        consumer.topics(["orders", "invoices"]).retry_topics(invoices)
    };
    assert!(refusal(crossed).await.contains("reads a topic that it would write to"));
    for topic in ["orders.dlq", "orders.retry.1"] {
        let text = refusal(|consumer| consumer.topics([topic]).retry_topics(RetryTopics::for_topic(topic))).await;
        assert!(text.contains("it is itself a"), "{text}");
    }
}

#[tokio::test]
async fn strategies_without_a_topic_to_go_to() {
    for (unknown, retry_topics) in [
        (UnknownUrn::Release, None),
        (UnknownUrn::Release, Some(RetryTopics::for_topic("orders"))),
        (UnknownUrn::DeadLetter, None),
        (UnknownUrn::DeadLetter, Some(tiers().without_dead_letters())),
    ] {
        let text = refusal(|mut consumer| {
            if let Some(retry_topics) = retry_topics {
                consumer = consumer.retry_topics(retry_topics);
            }
            consumer.unknown_urn(unknown)
        })
        .await;
        assert!(text.starts_with("`unknown_urn` "), "{text}");
    }
}

#[tokio::test]
async fn no_try_at_all() {
    assert_eq!(refusal(|consumer| consumer.max_tries(0)).await, "`max_tries` has to be at least 1");
}

#[tokio::test]
async fn names_that_are_no_topics() {
    for topic in ["^orders.*", "orders\0", ""] {
        let text = refusal(|consumer| consumer.topics([topic])).await;
        assert!(text.starts_with("`topics` hold a name that Kafka takes for no topic"), "{text}");
    }
}
