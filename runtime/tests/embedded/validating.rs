//! Payloads that violate the schema of their URN (contract section 7).

use std::time::Duration;

use babelqueue::{
    ConsumerError, Delivery, HandlerError, Job as _, Kafka, PublishError, Publisher, Reason, Schemas, routes,
};
use rdkafka::Message as _;
use serde_json::json;
use tokio::time::timeout;

use crate::jobs::{OrderCreated, broker, read, seen};

fn validated(kafka: &Kafka) -> Kafka {
    let schema =
        json!({"properties": {"order_id": {"minimum": 1}, "note": {"maxLength": 3, "x-gdpr-sensitive": true}}});
    let mut schemas = Schemas::new();
    schemas.insert(OrderCreated::URN, &schema).unwrap();
    kafka.validated_by(schemas)
}

fn invalid() -> OrderCreated {
    OrderCreated { order_id: 0, note: Some("SECRET".to_owned()) }
}

#[tokio::test]
async fn an_invalid_payload_is_not_published_and_the_error_names_its_places() {
    let (broker, kafka) = broker(1);
    let publisher = Publisher::new(&validated(&kafka));
    let error = publisher.publish(&invalid()).await.unwrap_err();
    let PublishError::Invalid(violations) = &error else { panic!("{error}") };
    let mut pointers: Vec<_> = violations.iter().map(|violation| violation.pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/note", "/order_id"]);
    let text = error.to_string();
    assert!(text.contains("/order_id") && !text.contains("SECRET"), "{text}");

    publisher.publish(&OrderCreated { order_id: 1, note: Some("süß".to_owned()) }).await.unwrap();
    let record = &read(&broker, "orders", 1)[0];
    assert_eq!((record.offset(), record.key()), (0, Some(&b"1"[..])));
}

#[tokio::test]
async fn an_invalid_record_is_reported_with_its_places_and_its_handler_is_not_called() {
    let (_broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    Publisher::new(&kafka).publish(&invalid()).await.unwrap();
    let (routes, mut handled) = seen();
    let running = validated(&kafka).consumer("workers").serve(routes).run();
    let error = timeout(Duration::from_secs(30), running).await.unwrap().unwrap_err();
    let ConsumerError::Record { record, summary } = error else { panic!("{error}") };
    assert_eq!((record.offset, record.reason, summary.handled), (1, Reason::PayloadMisfit, 1));
    for pointer in ["\"/order_id\"", "\"/note\""] {
        assert!(record.error.contains(pointer), "{record}");
    }
    assert!(!record.to_string().contains("SECRET"), "{record}");
    assert_eq!(handled.recv().await.unwrap().job.order_id, 1);
    assert!(handled.recv().await.is_none());
}

#[tokio::test]
async fn a_message_of_a_delivery_is_validated_as_well() {
    async fn on_created(_: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        Ok(cx.message(&invalid()).await.map(|_| ())?)
    }
    let (_broker, kafka) = broker(1);
    let kafka = validated(&kafka);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let running = kafka.consumer("workers").serve(routes![OrderCreated => on_created]).run();
    let error = timeout(Duration::from_secs(30), running).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("\"/order_id\""), "{error}");
}
