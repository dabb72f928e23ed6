//! Comparisons that say what was expected and what was found.

use babelqueue::envelope::{self, Envelope, Verdict};
use serde_json::Value;

/// Nothing, or what was expected and found.
pub(crate) type Outcome = Result<(), String>;

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Outcome {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

/// The envelope of a body that has to have one.
pub(crate) fn decoded(body: &[u8]) -> Result<Envelope<'_>, String> {
    match envelope::decode(body) {
        Verdict::Ok(envelope) => Ok(envelope),
        other => Err(format!("expected an envelope, found {}", name(&other))),
    }
}

/// A verdict in the suite's words.
pub(crate) fn name(verdict: &Verdict<'_>) -> &'static str {
    match verdict {
        Verdict::Ok(_) => "ok",
        Verdict::NoIdentity => "no_identity",
        Verdict::Poison(_) => "poison",
    }
}

pub(crate) fn parsed(body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(body).map_err(|error| format!("not JSON: {error}"))
}

/// The value at a JSON pointer is this one, its type included.
pub(crate) fn at(document: &Value, pointer: &str, expected: &Value) -> Outcome {
    match document.pointer(pointer) {
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(format!("{pointer}: expected {expected}, found {found}")),
        None => Err(format!("{pointer}: expected {expected}, found nothing")),
    }
}

/// Nothing is at any of the pointers that the case lists under `expect_absent_after_reencode`.
pub(crate) fn absent(document: &Value, case: &Value) -> Outcome {
    for pointer in case["expect_absent_after_reencode"].as_array().into_iter().flatten() {
        let pointer = pointer.as_str().ok_or("a pointer of the case is no string")?;
        if let Some(found) = document.pointer(pointer) {
            return Err(format!("{pointer}: expected nothing, found {found}"));
        }
    }
    Ok(())
}

/// The values that the case lists by pointer are there.
pub(crate) fn preserved(document: &Value, case: &Value, list: &str) -> Outcome {
    crate::suite::entries(case, list).try_for_each(|(pointer, expected)| at(document, pointer, expected))
}
