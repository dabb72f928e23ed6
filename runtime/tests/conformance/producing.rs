//! What a producer writes, and what it refuses to write.

use babelqueue::{
    EncodeError,
    envelope::{Draft, Encoded, make, with_attempts},
};
use serde_json::{Value, json};

use crate::{
    check::{Outcome, at, decoded, parsed, preserved, same},
    suite::{Suite, entries, flag, member, text},
};

/// The draft that a case describes.
fn draft(case: &Value) -> Result<Draft<'_>, String> {
    let mut draft = make(text(case, "urn")?, text(case, "queue")?);
    for (key, value) in entries(case, "meta").chain(entries(case, "extras_meta")) {
        draft = draft.meta(key, value);
    }
    for entry in case["meta_entries"].as_array().into_iter().flatten() {
        let key = entry[0].as_str().ok_or("an entry of `meta_entries` has no key")?;
        draft = draft.meta(key, &entry[1]);
    }
    for (name, value) in entries(case, "extras_top") {
        draft = draft.member(name, value);
    }
    Ok(draft)
}

fn encode(draft: &Draft<'_>, data: &Value) -> Result<Encoded, String> {
    draft.encode(data).map_err(|error| format!("expected an envelope, found the error: {error}"))
}

/// `data_shape`: the payload is an object, also when it is empty.
pub(crate) fn data_shape(suite: &Suite, case: &Value) -> Outcome {
    match text(case, "mode")? {
        "encode" => {
            let made = encode(&draft(case)?, member(case, "data")?)?;
            // Nothing is written with whitespace, so the text can be compared as it stands.
            same("data", &Some(text(case, "expect_encoded_data_json")?), &decoded(&made.body)?.data())
        }
        "decode" => {
            let body = suite.fixture(case, "file")?;
            same("valid", &flag(case, "valid")?, &decoded(&body).is_ok_and(|envelope| envelope.accepts()))
        }
        mode => Err(format!("unknown mode `{mode}`")),
    }
}

/// `extension_write`: entries of `meta` stand beside the core ones, and survive a hop.
pub(crate) fn extension_write(_: &Suite, case: &Value) -> Outcome {
    let made = encode(&draft(case)?, member(case, "data")?)?;
    let envelope = decoded(&made.body)?;
    same("accepted", &true, &envelope.accepts())?;
    same("message id", &Some(made.id.to_string().as_str()), &envelope.message_id())?;
    preserved(&parsed(&made.body)?, case, "expect_envelope")?;
    let next = with_attempts(&made.body, envelope.attempts() + 1).map_err(|error| error.to_string())?;
    let next = parsed(&next)?;
    preserved(&next, case, "expect_envelope")?;
    at(&next, "/attempts", &json!(1))
}

/// `encode_reject`: an error that names the member, and no envelope.
pub(crate) fn encode_reject(_: &Suite, case: &Value) -> Outcome {
    same("expect", &"reject", &text(case, "expect")?)?;
    match draft(case)?.encode(member(case, "data")?) {
        Err(EncodeError::Member { pointer, .. }) => {
            same("offending key", &text(case, "offending_key")?, &pointer.as_str())
        }
        Err(error) => Err(format!("expected an error that names the member, found: {error}")),
        Ok(made) => Err(format!("expected an error, found {}", String::from_utf8_lossy(&made.body))),
    }
}

/// The mode `make` of `trim`.
pub(crate) fn trimmed(case: &Value) -> Outcome {
    let mut draft = make(text(case, "urn")?, "orders");
    if case.get("trace_id").is_some() {
        draft = draft.trace_id(text(case, "trace_id")?);
    }
    let made = draft.encode(&json!({}));
    match (member(case, "expect")?.as_str(), made) {
        (Some("reject"), Err(EncodeError::BlankUrn)) => Ok(()),
        (None, Ok(made)) => {
            let body = parsed(&made.body)?;
            entries(case, "expect").try_for_each(|(key, value)| at(&body, &format!("/{key}"), value))
        }
        (_, made) => Err(format!("expected {}, found {made:?}", case["expect"])),
    }
}
