//! Which trace a message continues: that of its `traceparent` header, else that of the envelope (contract section 2).

use uuid::Uuid;

/// A W3C `traceparent` of version 00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceParent {
    /// Never 0.
    pub(crate) trace_id: u128,
    /// The span of the producer, never 0.
    pub(crate) span_id: u64,
    /// Bit 0: sampled.
    pub(crate) flags: u8,
}

impl TraceParent {
    /// Reads `00-<32 hex>-<16 hex>-<2 hex>`. As W3C has it, the digits are lower case and an id of zeros is none.
    /// `None` is a malformed header: one to ignore.
    pub(crate) fn parse(header: &[u8]) -> Option<Self> {
        let mut fields = header.split(|byte| *byte == b'-');
        let mut field = || fields.next();
        let (version, trace_id, span_id, flags) = (field()?, field()?, field()?, field()?);
        if version != b"00" || fields.next().is_some() {
            return None;
        }
        let parsed = Self {
            trace_id: hexadecimal(trace_id, 32)?,
            span_id: hexadecimal(span_id, 16)?.try_into().ok()?,
            flags: hexadecimal(flags, 2)?.try_into().ok()?,
        };
        (parsed.trace_id != 0 && parsed.span_id != 0).then_some(parsed)
    }
}

/// What a consumer knows of the trace of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extracted {
    /// The header's trace, and the span to continue.
    TraceParent(TraceParent),
    /// The envelope's `trace_id`, a UUID, as the id of a trace.
    TraceId(u128),
}

impl Extracted {
    /// The header counts; without one, or with a malformed one, the `trace_id` of the envelope does. `None` when that is
    /// no UUID, or the nil one: the message continues no trace.
    pub(crate) fn of(traceparent: Option<&[u8]>, trace_id: &str) -> Option<Self> {
        if let Some(parsed) = traceparent.and_then(TraceParent::parse) {
            return Some(Self::TraceParent(parsed));
        }
        let trace_id = Uuid::try_parse(trace_id).ok()?;
        (!trace_id.is_nil()).then_some(Self::TraceId(trace_id.as_u128()))
    }
}

/// The number that exactly so many lower-case digits write; at most 32 of them fit.
fn hexadecimal(digits: &[u8], count: usize) -> Option<u128> {
    if digits.len() != count {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const TRACE_ID: &str = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";
    const PARSED: TraceParent =
        TraceParent { trace_id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, span_id: 0x00f0_67aa_0ba9_02b7, flags: 1 };
    const OF_THE_ENVELOPE: Extracted = Extracted::TraceId(0x7b3f_9c2a_e41d_4f88_9b2a_1c0d_5e6f_7a8b);

    #[test]
    fn a_header_is_read_digit_by_digit() {
        assert_eq!(TraceParent::parse(HEADER.as_bytes()), Some(PARSED));
        let largest = format!("00-{}-{}-ff", "f".repeat(32), "f".repeat(16));
        let parsed = TraceParent { trace_id: u128::MAX, span_id: u64::MAX, flags: u8::MAX };
        assert_eq!(TraceParent::parse(largest.as_bytes()), Some(parsed));
    }

    #[test]
    fn the_header_counts_and_not_the_envelope() {
        assert_eq!(Extracted::of(Some(HEADER.as_bytes()), TRACE_ID), Some(Extracted::TraceParent(PARSED)));
        assert_eq!(Extracted::of(Some(HEADER.as_bytes()), "no UUID"), Some(Extracted::TraceParent(PARSED)));
    }

    #[test]
    fn a_malformed_header_is_like_none() {
        let zeros = |count| "0".repeat(count);
        for header in [
            String::new(),
            "-".repeat(55),
            format!(" {HEADER}"),
            format!("{HEADER} "),
            format!("{HEADER}-"),
            HEADER.replacen("00", "01", 1),
            HEADER.replacen("00", "ff", 1),
            HEADER.to_uppercase(),
            HEADER.replace("4bf9", "+bf9"),
            HEADER.replace("00f067aa", "é00067aa"),
            HEADER.replace("-01", "-1"),
            HEADER.replace("-01", "-001"),
            HEADER.replace("-01", ""),
            format!("00-{}-00f067aa0ba902b7-01", zeros(32)),
            format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", zeros(16)),
        ] {
            assert_eq!(Extracted::of(Some(header.as_bytes()), TRACE_ID), Some(OF_THE_ENVELOPE), "{header:?}");
        }
        assert_eq!(Extracted::of(Some(b"\xff\x00"), TRACE_ID), Some(OF_THE_ENVELOPE));
        assert_eq!(Extracted::of(None, TRACE_ID), Some(OF_THE_ENVELOPE));
    }

    #[test]
    fn a_trace_id_that_is_no_uuid_continues_no_trace() {
        for trace_id in
            ["", "order 1042", "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8", "00000000-0000-0000-0000-000000000000"]
        {
            assert_eq!(Extracted::of(None, trace_id), None, "{trace_id:?}");
        }
    }
}
