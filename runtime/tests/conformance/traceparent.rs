//! The section `traceparent`: which trace a consumer continues.

use babelqueue::private::conformance::{Trace, trace_of};
use serde_json::Value;

use crate::{
    check::{Outcome, same},
    suite::{Suite, member, text},
};

pub(crate) fn extract(_: &Suite, case: &Value) -> Outcome {
    same("mode", &"extract", &text(case, "mode")?)?;
    let header = match member(case, "traceparent")? {
        Value::Null => None,
        header => Some(header.as_str().ok_or("`traceparent` of the case is no string")?.as_bytes()),
    };
    let expect = member(case, "expect")?;
    let parent = match text(expect, "source")? {
        "traceparent" => Some([text(expect, "parent_span_id")?.to_owned(), text(expect, "flags")?.to_owned()]),
        "trace_id" => None,
        other => return Err(format!("unknown source `{other}`")),
    };
    let expected = Trace { trace_id: text(expect, "trace_id_hex")?.to_owned(), parent };
    same("trace", &Some(expected), &trace_of(header, text(case, "trace_id")?))
}
