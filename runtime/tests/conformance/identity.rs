//! Bodies and what decoding makes of them.

use babelqueue::envelope::{Verdict, Warning, decode, with_attempts};
use serde_json::Value;

use crate::{
    check::{Outcome, at, decoded, name, parsed, same},
    suite::{Suite, flag, member, text},
};

/// `cases`: the envelope is accepted or not, and reads as the case says.
pub(crate) fn envelope(suite: &Suite, case: &Value) -> Outcome {
    let body = suite.fixture(case, "file")?;
    let accepted = matches!(decode(&body), Verdict::Ok(envelope) if envelope.accepts());
    same("accepted", &flag(case, "valid")?, &accepted)?;
    if !accepted {
        return Ok(());
    }
    let envelope = decoded(&body)?;
    let expect = member(case, "expect")?;
    same("urn", &text(expect, "urn")?, &envelope.urn())?;
    same("data", member(expect, "data")?, &parsed(envelope.data().unwrap_or_default().as_bytes())?)?;
    same("attempts", &member(expect, "attempts")?.as_i64(), &Some(envelope.attempts()))?;
    same("lang", &Some(text(expect, "lang")?), &envelope.lang())?;
    same("schema_version", &member(expect, "schema_version")?.as_i64(), &envelope.schema_version())?;
    if let Some(expected) = expect.get("dead_letter") {
        let block = envelope.dead_letter().ok_or("expected the block of a dead letter, found none")?;
        same("reason", &expected["reason"].as_str(), &block.reason.as_deref())?;
        same("original_queue", &expected["original_queue"].as_str(), &block.original_queue.as_deref())?;
    }
    // It is for the tools that read the record: the next hop still carries it.
    let next = parsed(&with_attempts(&body, envelope.attempts()).map_err(|error| error.to_string())?)?;
    crate::suite::entries(expect, "dead_letter")
        .try_for_each(|(key, value)| at(&next, &format!("/dead_letter/{key}"), value))
}

/// `job_type` and `trim`: the URN that counts, and whether something was ignored with a warning.
pub(crate) fn resolved(suite: &Suite, case: &Value) -> Outcome {
    let body = suite.fixture(case, "file")?;
    match (decode(&body), flag(case, "valid")?) {
        (Verdict::Ok(envelope), true) => {
            same("urn", &text(member(case, "expect")?, "urn")?, &envelope.urn())?;
            same("a warning", &flag(case, "expect_warning")?, &!envelope.warnings().is_empty())
        }
        (Verdict::NoIdentity | Verdict::Poison(_), false) => Ok(()),
        (verdict, valid) => Err(format!("valid: expected {valid}, found {}", name(&verdict))),
    }
}

/// `trim`: what a producer may not write can still be decoded.
pub(crate) fn accepts(suite: &Suite, case: &Value) -> Outcome {
    let body = suite.fixture(case, "file")?;
    let verdict = decode(&body);
    same("decodes", &flag(case, "expect_decode_ok")?, &matches!(verdict, Verdict::Ok(_)))?;
    let accepted = matches!(&verdict, Verdict::Ok(envelope) if envelope.accepts());
    same("accepted", &flag(case, "expect_accepts")?, &accepted)
}

/// `kafka_poison`: all three verdicts.
pub(crate) fn kafka_poison(_: &Suite, case: &Value) -> Outcome {
    same("verdict", &text(case, "expect")?, &name(&decode(text(case, "body")?.as_bytes())))
}

/// `identity_verdict`: a body without an identity counts as poison.
pub(crate) fn identity_verdict(_: &Suite, case: &Value) -> Outcome {
    let found = match decode(text(case, "body")?.as_bytes()) {
        Verdict::Ok(_) => "ok",
        Verdict::NoIdentity | Verdict::Poison(_) => "poison",
    };
    same("verdict", &text(case, "expect")?, &found)
}

/// The JSON pointers that the warnings of an envelope name.
pub(crate) fn forbidden(warnings: &[Warning]) -> Vec<&'static str> {
    warnings
        .iter()
        .filter_map(|warning| match warning {
            Warning::Forbidden { pointer } => Some(*pointer),
            _ => None,
        })
        .collect()
}
