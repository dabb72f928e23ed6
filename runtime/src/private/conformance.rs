//! For the conformance suite, whose fixtures were written by other producers.

use std::borrow::Cow;

use crate::{
    envelope::Envelope,
    headers::Repeated,
    traceparent::{Extracted, TraceParent},
};

/// The `bq-` headers of a record with this envelope, as a publisher writes them.
#[must_use]
pub fn headers_of<'a>(envelope: &'a Envelope<'_>) -> [(&'static str, Cow<'a, str>); 6] {
    Repeated {
        urn: envelope.urn(),
        trace_id: envelope.trace_id().unwrap_or_default(),
        message_id: envelope.message_id().unwrap_or_default(),
        source_lang: envelope.lang().unwrap_or_default(),
        attempts: envelope.attempts(),
    }
    .headers()
}

/// Which trace a message continues, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The trace, 32 digits.
    pub trace_id: String,
    /// The parent span (16 digits) and the flags (2 digits), when a `traceparent` header named them.
    pub parent: Option<[String; 2]>,
}

/// What a consumer makes of a delivered `traceparent` header and the `trace_id` of the envelope.
#[must_use]
pub fn trace_of(traceparent: Option<&[u8]>, trace_id: &str) -> Option<Trace> {
    let (trace_id, parent) = match Extracted::of(traceparent, trace_id)? {
        Extracted::TraceParent(TraceParent { trace_id, span_id, flags }) => (trace_id, Some((span_id, flags))),
        Extracted::TraceId(trace_id) => (trace_id, None),
    };
    let parent = parent.map(|(span_id, flags)| [format!("{span_id:016x}"), format!("{flags:02x}")]);
    Some(Trace { trace_id: format!("{trace_id:032x}"), parent })
}
