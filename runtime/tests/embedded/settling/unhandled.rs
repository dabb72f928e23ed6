//! Records whose URN has no handler.

use babelqueue::{Reason, Settled, UnknownUrn};

use super::{GROUP, Running, TIERS, block_of, broker, headers, lying_on, text, tiers, timeless};
use crate::jobs::{Foreign, committed};

/// An envelope that nobody handles.
fn archived(attempts: u32) -> String {
    format!(r#"{{"urn":"urn:babel:orders:archived","trace_id":"t","data":{{"n":1.50}},"attempts":{attempts}}}"#)
}

/// The same behind a hop, which writes `urn` as `job`.
fn passed_on(attempts: u32) -> String {
    archived(attempts).replace("\"urn\":", "\"job\":")
}

#[tokio::test]
async fn released_it_waits_for_a_handler_and_ends_as_a_dead_letter() {
    let (broker, kafka) = broker();
    for attempts in [0, 1, 2] {
        Foreign::value(archived(attempts)).send(&broker).await;
    }
    Foreign::value("not JSON").header("bq-job", Some(b"urn:babel:orders:archived")).send(&broker).await;
    let consumer = kafka.consumer(GROUP).retry_topics(tiers()).unknown_urn(UnknownUrn::Release);
    let mut running = Running::start(consumer);
    let mut errors = running.errors(4).await;
    errors.sort_by_key(|error| error.offset);
    let dead = Settled::DeadLetter { topic: "orders.dlq".to_owned() };
    let retry = |tier: usize| Settled::Retry { topic: format!("orders.retry.{tier}"), delay: TIERS[tier - 1] };
    let found: Vec<_> = errors.iter().map(|error| (error.reason, error.settled.clone())).collect();
    assert_eq!(
        found,
        [
            (Reason::UnknownUrn, retry(1)),
            (Reason::UnknownUrn, retry(2)),
            (Reason::UnknownUrn, dead.clone()),
            (Reason::Poison, dead),
        ]
    );
    running.stop().await;
    assert_eq!(committed(&broker, GROUP, 0), Some(4));
    assert_eq!(text(&lying_on(&broker, "orders.retry.1")[0]), passed_on(1));
    assert_eq!(text(&lying_on(&broker, "orders.retry.2")[0]), passed_on(2));
    let dead = lying_on(&broker, "orders.dlq");
    let (block, rest) = block_of(&dead[0]);
    assert_eq!(rest, passed_on(3));
    assert!(timeless(block).starts_with(r#"{"reason":"unknown_urn","error":"#), "{block}");
    assert!(block.contains(r#""attempts":3"#), "{block}");
    assert!(block_of(&dead[1]).0.contains(r#""reason":"poison""#) || text(&dead[1]).contains("poison"));
}

#[tokio::test]
async fn as_a_dead_letter_it_has_not_failed() {
    let (broker, kafka) = broker();
    Foreign::value(archived(1)).header("bq-job", Some(b"urn:babel:orders:archived")).send(&broker).await;
    let consumer = kafka.consumer(GROUP).retry_topics(tiers()).unknown_urn(UnknownUrn::DeadLetter);
    let mut running = Running::start(consumer);
    let error = running.errors(1).await.remove(0);
    assert_eq!(error.urn.as_deref(), Some("urn:babel:orders:archived"));
    assert_eq!(error.settled, Settled::DeadLetter { topic: "orders.dlq".to_owned() });
    running.stop().await;
    assert_eq!(committed(&broker, GROUP, 0), Some(1));
    let dead = lying_on(&broker, "orders.dlq");
    let (block, rest) = block_of(&dead[0]);
    assert_eq!(rest, passed_on(1));
    assert!(block.contains(r#""reason":"unknown_urn""#) && block.contains(r#""attempts":1"#), "{block}");
    assert_eq!(headers(&dead[0])[1], ("bq-attempts", Some(&b"1"[..])));
}
