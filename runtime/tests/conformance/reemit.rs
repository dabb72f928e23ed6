//! What the next hop carries: attempts counted, everything else kept, forbidden members gone.

use babelqueue::envelope::{DeadLetter, with_attempts, with_dead_letter};
use serde_json::Value;

use crate::{
    check::{Outcome, absent, at, decoded, parsed, preserved, same},
    identity::forbidden,
    suite::{Suite, entries, member, text},
};

/// `roundtrip`, and the mode `reemit` of `trim`.
pub(crate) fn roundtrip(suite: &Suite, case: &Value) -> Outcome {
    let body = suite.fixture(case, "file")?;
    let envelope = decoded(&body)?;
    same("warnings", &Vec::new(), &envelope.warnings().to_vec())?;
    let attempts = envelope.attempts() + 1;
    let next = match case.get("apply_dead_letter") {
        None => with_attempts(&body, attempts),
        Some(block) => with_dead_letter(&body, attempts, &dead_letter(block, attempts)?),
    };
    let next = parsed(&next.map_err(|error| error.to_string())?)?;
    at(&next, "/attempts", member(case, "expect_attempts")?)?;
    preserved(&next, case, "expect_preserved")?;
    absent(&next, case)?;
    entries(case, "expect_dead_letter").try_for_each(|(key, value)| at(&next, &format!("/dead_letter/{key}"), value))
}

fn dead_letter(block: &Value, attempts: i64) -> Result<DeadLetter<'_>, String> {
    Ok(DeadLetter {
        reason: text(block, "reason")?,
        error: Some("out of stock"),
        exception: None,
        failed_at: 1_749_132_727_000,
        original_queue: text(block, "original_queue")?,
        attempts,
        lang: "rust",
    })
}

/// `forbidden_keys`: decoded with a warning that names the member, and not sent on.
pub(crate) fn forbidden_keys(suite: &Suite, case: &Value) -> Outcome {
    same("expect", &"warn", &text(case, "expect")?)?;
    let body = suite.fixture(case, "file")?;
    let envelope = decoded(&body)?;
    let (pointer, warned) = (text(case, "forbidden_key")?, forbidden(envelope.warnings()));
    if !warned.contains(&pointer) {
        return Err(format!("warnings: expected one that names {pointer}, found {warned:?}"));
    }
    let next = parsed(&with_attempts(&body, envelope.attempts()).map_err(|error| error.to_string())?)?;
    absent(&next, case)?;
    preserved(&next, case, "expect_preserved")
}
