//! For the conformance suite, whose fixtures were written by other producers.

use std::borrow::Cow;

use crate::{envelope::Envelope, headers::Repeated};

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
