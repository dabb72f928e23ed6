//! Spans that continue the trace of a message and pass it on (contract section 2, feature `otel`).

use opentelemetry::{
    Context,
    trace::{SpanContext, TraceContextExt as _, TraceFlags, TraceState},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{
    record::Headers,
    traceparent::{Extracted, TraceParent},
};

/// The W3C header.
pub(crate) const TRACEPARENT: &str = "traceparent";

/// Makes the span of a handler, not entered yet, part of the trace of its message.
///
/// A message that was delivered before is linked as well to the context that it was first delivered with, which its
/// `traceparent` keeps. Without a tracer nothing happens.
pub(crate) fn continue_from(span: &Span, topic: &str, headers: Headers<'_>, trace_id: &str, attempts: u32) {
    if span.is_disabled() {
        return;
    }
    name(span, topic);
    let Some(parent) = Extracted::of(headers.get(TRACEPARENT), trace_id).map(context) else { return };
    if attempts > 0 {
        span.add_link(parent.clone());
    }
    // Fails when no tracer listens: then there is no trace to be part of.
    let _ = span.set_parent(Context::new().with_remote_span_context(parent));
}

/// Links the span of a batch handler to the traces of its messages, given by their headers and trace ids: it can be part
/// of none, as they are many.
pub(crate) fn link_to<'a>(span: &Span, topic: &str, messages: impl Iterator<Item = (Headers<'a>, &'a str)>) {
    if span.is_disabled() {
        return;
    }
    name(span, topic);
    for (headers, trace_id) in messages {
        if let Some(message) = Extracted::of(headers.get(TRACEPARENT), trace_id).map(context) {
            span.add_link(message);
        }
    }
}

/// Names the span and what it does as the conventions for messaging have it.
fn name(span: &Span, topic: &str) {
    span.record("otel.name", format!("process {topic}"));
    span.set_attribute("messaging.system", "kafka");
    span.set_attribute("messaging.operation.type", "process");
    span.set_attribute("messaging.destination.name", topic.to_owned());
}

fn context(extracted: Extracted) -> SpanContext {
    let TraceParent { trace_id, span_id, flags } = match extracted {
        Extracted::TraceParent(header) => header,
        // A tracer takes the id of a trace only together with a parent: one made of the same id, which is no span's. It
        // counts as sampled, or a sampler that asks the parent would drop every message that has no `traceparent`.
        Extracted::TraceId(trace_id) => TraceParent { trace_id, span_id: lower_half(trace_id).max(1), flags: 1 },
    };
    let flags = TraceFlags::new(flags);
    SpanContext::new(trace_id.into(), span_id.into(), flags, true, TraceState::default())
}

#[allow(clippy::cast_possible_truncation)]
fn lower_half(id: u128) -> u64 {
    id as u64
}

/// The `traceparent` of the span that this runs in; `None` outside of a trace.
pub(crate) fn current_traceparent() -> Option<String> {
    let of_span = Span::current().context();
    // A span that was made without `tracing` is current as well.
    let current = [of_span, Context::current()];
    let current = current.iter().map(|context| context.span().span_context().clone()).find(SpanContext::is_valid)?;
    Some(format!("00-{}-{}-{:02x}", current.trace_id(), current.span_id(), current.trace_flags()))
}

/// The `traceparent` that a delivered message carries, unless it is malformed.
pub(crate) fn delivered_traceparent(headers: Headers<'_>) -> Option<&str> {
    let header = headers.get(TRACEPARENT)?;
    TraceParent::parse(header)?;
    std::str::from_utf8(header).ok()
}
