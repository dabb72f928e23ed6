//! The `bq-` headers of a record (contract section 2): their names, and what a consumer reads from them.

use std::borrow::Cow;

use crate::record::Headers;

/// Header names that begin so belong to the contract.
pub(crate) const PREFIX: &str = "bq-";
pub(crate) const JOB: &str = "bq-job";
pub(crate) const TRACE_ID: &str = "bq-trace-id";
pub(crate) const MESSAGE_ID: &str = "bq-message-id";
pub(crate) const SCHEMA_VERSION: &str = "bq-schema-version";
pub(crate) const SOURCE_LANG: &str = "bq-source-lang";
pub(crate) const ATTEMPTS: &str = "bq-attempts";
/// How long a record waits, in milliseconds; only on a retry topic.
pub(crate) const DELAY: &str = "bq-delay";
/// The work topic; only on a retry topic or a dead-letter topic.
pub(crate) const ORIGINAL_TOPIC: &str = "bq-original-topic";
/// `1` on a redriven record, when asked for.
pub(crate) const REPLAY_BYPASS: &str = "bq-replay-bypass";

/// What the headers of a record repeat of its envelope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated<'a> {
    pub(crate) urn: &'a str,
    pub(crate) trace_id: &'a str,
    pub(crate) message_id: &'a str,
    pub(crate) source_lang: &'a str,
    pub(crate) attempts: i64,
}

impl<'a> Repeated<'a> {
    /// The headers, in the order in which they are written.
    pub(crate) fn headers(&self) -> [(&'static str, Cow<'a, str>); 6] {
        let attempts = match self.attempts {
            0 => Cow::Borrowed("0"),
            failed => Cow::Owned(failed.to_string()),
        };
        [
            (JOB, self.urn.into()),
            (TRACE_ID, self.trace_id.into()),
            (MESSAGE_ID, self.message_id.into()),
            (SCHEMA_VERSION, "1".into()),
            (SOURCE_LANG, self.source_lang.into()),
            (ATTEMPTS, attempts),
        ]
    }
}

/// What routing and settling need, read in one pass over the headers. Of a repeated header the last one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Projection<'a> {
    /// The URN; `None` when absent, blank or not UTF-8: the body's identity counts then.
    pub(crate) job: Option<&'a str>,
    /// Failed deliveries so far; `None` when absent or unreadable: the body counts then.
    pub(crate) attempts: Option<i64>,
    /// Whether there is a readable trace id that is not blank; the body counts otherwise.
    pub(crate) trace_id: bool,
    /// Whether there is a readable message id that is not blank; the body counts otherwise.
    pub(crate) message_id: bool,
    schema_version: Option<&'a [u8]>,
}

impl<'a> Projection<'a> {
    pub(crate) fn read(headers: Headers<'a>) -> Self {
        let mut read = Self::default();
        for (name, value) in headers {
            let Some(name) = name.strip_prefix(PREFIX.as_bytes()) else { continue };
            match name {
                b"job" => read.job = value.and_then(identity),
                b"schema-version" => read.schema_version = value,
                b"attempts" => read.attempts = value.and_then(count),
                b"trace-id" => read.trace_id = value.and_then(identity).is_some(),
                b"message-id" => read.message_id = value.and_then(identity).is_some(),
                _ => {}
            }
        }
        read
    }

    /// The version gate (contract section 3, step 1): absent, null and blank pass, `1` passes, nothing else does.
    /// The value is never trimmed.
    pub(crate) fn version_gate(&self) -> Result<(), &'a [u8]> {
        match self.schema_version {
            None | Some(b"1") => Ok(()),
            Some(value) if value.iter().copied().all(is_ascii_space) => Ok(()),
            Some(value) => Err(value),
        }
    }
}

fn identity(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    (!is_blank(text)).then_some(text)
}

fn count(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok().filter(|attempts| *attempts >= 0)
}

/// The contract's ASCII whitespace: space, `\t`, `\n`, `\v`, `\f`, `\r` and nothing else.
pub(crate) const fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// Empty, or nothing but ASCII whitespace.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_ascii_space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Batch;

    fn batch(headers: &[(&str, Option<&[u8]>)]) -> Batch {
        let mut batch = Batch::with_capacity(0, 0);
        batch.push(0, None, None, None, |writer| {
            for (name, value) in headers {
                writer.push(name.as_bytes(), *value);
            }
        });
        batch
    }

    #[test]
    fn of_a_repeated_header_the_last_one_counts() {
        let batch = batch(&[(JOB, Some(b"urn:a")), (JOB, Some(b"urn:b")), (ATTEMPTS, Some(b"2"))]);
        let read = Projection::read(batch.get(0).unwrap().headers);
        assert_eq!((read.job, read.attempts), (Some("urn:b"), Some(2)));
    }

    #[test]
    fn what_cannot_be_read_leaves_the_body_to_decide() {
        for (job, attempts) in [(None, None), (Some(&b" \t"[..]), Some(&b"x"[..])), (Some(b"\xff"), Some(b"-1"))] {
            let batch = batch(&[(JOB, job), (ATTEMPTS, attempts), (TRACE_ID, job), (MESSAGE_ID, job)]);
            assert_eq!(Projection::read(batch.get(0).unwrap().headers), Projection::default());
        }
    }

    #[test]
    fn the_version_gate_never_trims() {
        for (value, passes) in
            [(None, true), (Some(&b"1"[..]), true), (Some(b" \x0b"), true), (Some(b"1 "), false), (Some(b"01"), false)]
        {
            let batch = batch(&[(SCHEMA_VERSION, value)]);
            assert_eq!(Projection::read(batch.get(0).unwrap().headers).version_gate().is_ok(), passes, "{value:?}");
        }
    }
}
