//! `idempotency`: the guard with a store in memory, driven as the sequences say.

use std::time::Duration;

use babelqueue::{
    HandlerError,
    idempotency::{Guarded, Idempotency, MemoryStore, StoreFailure},
};
use serde_json::Value;

use crate::{
    check::{Outcome, decoded, same},
    suite::{Suite, member, text},
};

pub(crate) fn run(suite: &Suite, case: &Value) -> Outcome {
    let guard = Idempotency::new(MemoryStore::new(100, Duration::from_secs(3600)), StoreFailure::FailRecord);
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| error.to_string())?;
    match case.get("deliveries") {
        Some(_) => runtime.block_on(sequence(&guard, case)),
        None => runtime.block_on(dedup_key(&guard, suite, case)),
    }
}

/// The key is `meta.id` as it stands.
async fn dedup_key(guard: &Idempotency, suite: &Suite, case: &Value) -> Outcome {
    same("key_field", &"meta.id", &text(case, "key_field")?)?;
    let body = suite.fixture(case, "envelope_file")?;
    let envelope = decoded(&body)?;
    let key = envelope.message_id().unwrap_or_default();
    same("key", &text(case, "expected_key")?, &key)?;
    for (delivery, id, expected) in [
        ("the first delivery", key, "run"),
        ("the second delivery", key, "skip"),
        ("another message of the trace", envelope.trace_id().unwrap_or_default(), "run"),
    ] {
        same(delivery, &expected, &deliver(guard, id, true).await)?;
    }
    Ok(())
}

async fn sequence(guard: &Idempotency, case: &Value) -> Outcome {
    let deliveries = member(case, "deliveries")?.as_array().ok_or("`deliveries` of the case is no array")?;
    let mut effects = 0;
    for (index, delivery) in deliveries.iter().enumerate() {
        let id = text(delivery, "meta_id")?;
        if delivery["forget_before"] == true {
            guard.forget(id).await.map_err(|error| error.to_string())?;
        }
        let succeeds = delivery["outcome"] != "throw";
        let effect = deliver(guard, id, succeeds).await;
        same(&format!("delivery {index}"), &text(delivery, "expect_effect")?, &effect)?;
        effects += u64::from(effect == "run");
    }
    same("effects", &member(case, "expected_effects")?.as_u64(), &Some(effects))
}

/// What becomes of one delivery whose handler succeeds or not, in the suite's words.
async fn deliver(guard: &Idempotency, id: &str, succeeds: bool) -> &'static str {
    let mut ran = false;
    let work = async {
        ran = true;
        if succeeds { Ok(()) } else { Err(HandlerError::new("thrown")) }
    };
    match (guard.run(id, work).await, succeeds) {
        (Ok(Guarded::Ran), true) | (Err(_), false) if ran => "run",
        (Ok(Guarded::Skipped), _) if !ran => "skip",
        _ => "neither",
    }
}
