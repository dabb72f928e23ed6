//! From the bytes of a record value to a verdict (contract section 1).

use std::borrow::Cow;

use super::{
    DeadLetterBlock, Poison, Warning,
    layout::Layout,
    scan::{Kind, Raw, Scanner},
};
use crate::headers::is_blank;

/// What a record value turned out to be.
#[derive(Clone, Debug)]
pub enum Verdict<'a> {
    /// An envelope with an identity.
    Ok(Envelope<'a>),
    /// It decodes, but names no valid URN.
    NoIdentity,
    /// It is not an envelope.
    Poison(Poison),
}

/// A decoded envelope. It borrows from the record value; the payload stays raw until it is asked for.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    urn: Cow<'a, str>,
    trace_id: Option<Cow<'a, str>>,
    data: Option<&'a str>,
    meta: Meta<'a>,
    attempts: Option<i64>,
    dead_letter: Option<Box<DeadLetterBlock<'a>>>,
    warnings: Vec<Warning>,
}

#[derive(Clone, Debug, Default)]
struct Meta<'a> {
    id: Option<Cow<'a, str>>,
    queue: Option<Cow<'a, str>>,
    lang: Option<Cow<'a, str>>,
    schema_version: Option<i64>,
    created_at: Option<i64>,
}

impl<'a> Envelope<'a> {
    /// The URN, never blank: `job`, or its alias `urn`.
    #[must_use]
    pub fn urn(&self) -> &str {
        &self.urn
    }

    /// `trace_id`, when it is there.
    #[must_use]
    pub fn trace_id(&self) -> Option<&str> {
        self.trace_id.as_deref()
    }

    /// The payload as it was written: the text of a JSON object. `None` when it is absent or null.
    #[must_use]
    pub fn data(&self) -> Option<&'a str> {
        self.data
    }

    /// `meta.id`, when it is there.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.meta.id.as_deref()
    }

    /// `meta.queue`, the work topic, when it is there.
    #[must_use]
    pub fn queue(&self) -> Option<&str> {
        self.meta.queue.as_deref()
    }

    /// `meta.lang`, the language of the producer, when it is there.
    #[must_use]
    pub fn lang(&self) -> Option<&str> {
        self.meta.lang.as_deref()
    }

    /// `meta.schema_version`, when it is there.
    #[must_use]
    pub fn schema_version(&self) -> Option<i64> {
        self.meta.schema_version
    }

    /// `meta.created_at` in Unix milliseconds, when it is there.
    #[must_use]
    pub fn created_at(&self) -> Option<i64> {
        self.meta.created_at
    }

    /// Failed deliveries so far, as the body says; 0 when it says nothing.
    #[must_use]
    pub fn attempts(&self) -> i64 {
        self.attempts.unwrap_or_default()
    }

    /// The block of a dead letter, when the body carries one.
    ///
    /// ```
    /// use babelqueue::envelope::{Verdict, decode};
    ///
    /// let body = br#"{"job":"urn:x","dead_letter":{"reason":"failed","original_queue":"orders","attempts":3}}"#;
    /// let Verdict::Ok(envelope) = decode(body) else { panic!() };
    /// let block = envelope.dead_letter().unwrap();
    /// assert_eq!(block.original_queue.as_deref(), Some("orders"));
    /// assert_eq!(block.failed_at, None);
    /// ```
    #[must_use]
    pub fn dead_letter(&self) -> Option<DeadLetterBlock<'a>> {
        self.dead_letter.as_deref().cloned()
    }

    /// What was ignored while decoding.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Whether a producer of this contract could have written it: schema version 1, `data` an object, `attempts` an
    /// integer, the trace id not blank.
    #[must_use]
    pub fn accepts(&self) -> bool {
        self.meta.schema_version == Some(1)
            && self.data.is_some()
            && self.attempts.is_some()
            && self.trace_id.as_deref().is_some_and(|id| !is_blank(id))
    }
}

/// Decodes a record value. Never fails and never panics: what is not an envelope is [`Verdict::Poison`].
///
/// ```
/// use babelqueue::envelope::{Verdict, decode};
///
/// let body = br#"{"job":"urn:babel:orders:created","data":{"order_id":1042},"attempts":0}"#;
/// let Verdict::Ok(envelope) = decode(body) else { panic!() };
/// assert_eq!(envelope.urn(), "urn:babel:orders:created");
/// assert_eq!(envelope.data(), Some(r#"{"order_id":1042}"#));
///
/// assert!(matches!(decode(b"{}"), Verdict::NoIdentity));
/// assert!(matches!(decode(b"not JSON"), Verdict::Poison(_)));
/// ```
#[must_use]
pub fn decode(body: &[u8]) -> Verdict<'_> {
    match text(body).and_then(|text| Members::read(text, None)) {
        Ok(members) => members.verdict(),
        Err(poison) => Verdict::Poison(poison),
    }
}

/// The envelope that a record value is, and where its members lie; `None` when it is none with an identity.
pub(crate) fn decode_with_layout(body: &[u8]) -> Option<(Envelope<'_>, Layout<'_>)> {
    let text = text(body).ok()?;
    let mut members = Members::read(text, Some(Layout::new(text))).ok()?;
    let layout = members.layout.take()?;
    match members.verdict() {
        Verdict::Ok(envelope) => Some((envelope, layout)),
        _ => None,
    }
}

pub(super) fn text(body: &[u8]) -> Result<&str, Poison> {
    std::str::from_utf8(body).map_err(|error| Poison::NotUtf8 { offset: error.valid_up_to() })
}

/// The known members as they stand last; each occurrence was checked.
#[derive(Default)]
struct Members<'a> {
    job: Option<Raw<'a>>,
    urn: Option<Raw<'a>>,
    trace_id: Option<Cow<'a, str>>,
    data: Option<&'a str>,
    meta: Meta<'a>,
    attempts: Option<i64>,
    dead_letter: Option<Box<DeadLetterBlock<'a>>>,
    warnings: Vec<Warning>,
    /// Filled in where it is asked for.
    layout: Option<Layout<'a>>,
}

impl<'a> Members<'a> {
    fn read(text: &'a str, layout: Option<Layout<'a>>) -> Result<Self, Poison> {
        let mut scanner = Scanner::new(text);
        let mut members = Self { layout, ..Self::default() };
        if scanner.at_object() {
            let object = scanner.members(|name, start, scanner| {
                let value = scanner.at;
                members.member(&name, scanner)?;
                if let Some(layout) = &mut members.layout {
                    layout.member(&name, start, value..scanner.at);
                }
                Ok(())
            })?;
            if let Some(layout) = &mut members.layout {
                (layout.start, layout.job, layout.urn) = (object.start, members.job, members.urn);
            }
        } else if scanner.value()?.kind != Kind::Null {
            return Err(Poison::Root);
        }
        scanner.end()?;
        Ok(members)
    }

    fn member(&mut self, name: &str, scanner: &mut Scanner<'a>) -> Result<(), Poison> {
        match name {
            "job" => self.job = Some(scanner.value()?),
            "urn" => self.urn = Some(scanner.value()?),
            "trace_id" => self.trace_id = string(scanner, "/trace_id")?,
            "data" => {
                let data = scanner.finite_value()?;
                self.data = match data.kind {
                    Kind::Object => Some(data.text),
                    Kind::Null => None,
                    _ => return Err(Poison::Member { pointer: "/data", expected: "an object" }),
                };
            }
            "meta" => self.meta = self.meta(scanner)?,
            "attempts" => self.attempts = integer(scanner, "/attempts")?,
            "dead_letter" => self.dead_letter = dead_letter(scanner)?,
            "timestamp" => {
                scanner.value()?;
                self.warnings.push(Warning::Forbidden { pointer: "/timestamp" });
            }
            _ => drop(scanner.value()?),
        }
        Ok(())
    }

    fn meta(&mut self, scanner: &mut Scanner<'a>) -> Result<Meta<'a>, Poison> {
        let mut meta = Meta::default();
        if !scanner.at_object() {
            return null(scanner, "/meta").map(|()| meta);
        }
        if let Some(layout) = &mut self.layout {
            layout.begin_meta();
        }
        scanner.members(|name, start, scanner| {
            let value = scanner.at;
            match name.as_ref() {
                "id" => meta.id = string(scanner, "/meta/id")?,
                "queue" => meta.queue = string(scanner, "/meta/queue")?,
                "lang" => meta.lang = string(scanner, "/meta/lang")?,
                "schema_version" => meta.schema_version = integer(scanner, "/meta/schema_version")?,
                "created_at" => meta.created_at = integer(scanner, "/meta/created_at")?,
                "max_retries" => self.forbidden(scanner, "/meta/max_retries")?,
                "attempts" => self.forbidden(scanner, "/meta/attempts")?,
                "source" => self.forbidden(scanner, "/meta/source")?,
                "ts" => self.forbidden(scanner, "/meta/ts")?,
                _ => drop(scanner.value()?),
            }
            if let Some(layout) = &mut self.layout {
                layout.meta_member(&name, start, value..scanner.at);
            }
            Ok(())
        })?;
        Ok(meta)
    }

    fn forbidden(&mut self, scanner: &mut Scanner<'a>, pointer: &'static str) -> Result<(), Poison> {
        scanner.value()?;
        self.warnings.push(Warning::Forbidden { pointer });
        Ok(())
    }

    fn verdict(self) -> Verdict<'a> {
        let mut warnings = self.warnings;
        let identity = match identity(self.job, self.urn) {
            Ok(identity) => identity,
            Err(poison) => return Verdict::Poison(poison),
        };
        if self.job.is_some_and(|job| job.kind != Kind::String) {
            warnings.push(Warning::JobIsNoString);
        }
        let urn = match identity {
            Identity::Job { urn, alias } => {
                if alias {
                    warnings.push(Warning::Forbidden { pointer: "/urn" });
                }
                urn
            }
            Identity::Urn(urn) => urn,
            Identity::None => return Verdict::NoIdentity,
        };
        Verdict::Ok(Envelope {
            urn,
            trace_id: self.trace_id,
            data: self.data,
            meta: self.meta,
            attempts: self.attempts,
            dead_letter: self.dead_letter,
            warnings,
        })
    }
}

/// Which member names the URN.
pub(super) enum Identity<'a> {
    /// `job`; with a valid `urn` beside it that does not count.
    Job {
        urn: Cow<'a, str>,
        alias: bool,
    },
    /// `urn`, as `job` is absent, blank or no string.
    Urn(Cow<'a, str>),
    None,
}

/// The identity rule over the last `job` and the last `urn`.
pub(super) fn identity<'a>(job: Option<Raw<'a>>, urn: Option<Raw<'a>>) -> Result<Identity<'a>, Poison> {
    let valid = |raw: Option<Raw<'a>>, pointer| match raw {
        Some(raw) if raw.kind == Kind::String => {
            let text = raw.as_str().ok_or(Poison::Member { pointer, expected: "Unicode text" })?;
            Ok((!is_blank(&text)).then_some(text))
        }
        _ => Ok(None),
    };
    let urn = valid(urn, "/urn")?;
    Ok(match (valid(job, "/job")?, urn) {
        (Some(job), urn) => Identity::Job { urn: job, alias: urn.is_some() },
        (None, Some(urn)) => Identity::Urn(urn),
        (None, None) => Identity::None,
    })
}

fn string<'a>(scanner: &mut Scanner<'a>, pointer: &'static str) -> Result<Option<Cow<'a, str>>, Poison> {
    let value = scanner.value()?;
    if value.kind == Kind::Null {
        return Ok(None);
    }
    value.as_str().map(Some).ok_or(Poison::Member { pointer, expected: "a string" })
}

fn integer(scanner: &mut Scanner<'_>, pointer: &'static str) -> Result<Option<i64>, Poison> {
    let value = scanner.value()?;
    if value.kind == Kind::Null {
        return Ok(None);
    }
    value.as_integer().map(Some).ok_or(Poison::Member { pointer, expected: "a 64-bit integer" })
}

fn null(scanner: &mut Scanner<'_>, pointer: &'static str) -> Result<(), Poison> {
    match scanner.value()?.kind {
        Kind::Null => Ok(()),
        _ => Err(Poison::Member { pointer, expected: "an object" }),
    }
}

/// The block that a dead letter carries. Of a repeated member the last one counts.
fn dead_letter<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Box<DeadLetterBlock<'a>>>, Poison> {
    if !scanner.at_object() {
        return null(scanner, "/dead_letter").map(|()| None);
    }
    let mut block = Box::<DeadLetterBlock<'_>>::default();
    scanner.members(|name, _, scanner| {
        match name.as_ref() {
            "reason" => block.reason = string(scanner, "/dead_letter/reason")?,
            "error" => block.error = string(scanner, "/dead_letter/error")?,
            "exception" => block.exception = string(scanner, "/dead_letter/exception")?,
            "failed_at" => block.failed_at = integer(scanner, "/dead_letter/failed_at")?,
            "original_queue" => block.original_queue = string(scanner, "/dead_letter/original_queue")?,
            "attempts" => block.attempts = integer(scanner, "/dead_letter/attempts")?,
            "lang" => block.lang = string(scanner, "/dead_letter/lang")?,
            _ => drop(scanner.value()?),
        }
        Ok(())
    })?;
    Ok(Some(block))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(body: &str) -> Option<DeadLetterBlock<'_>> {
        let Verdict::Ok(envelope) = decode(body.as_bytes()) else { panic!("{body}") };
        envelope.dead_letter()
    }

    #[test]
    fn the_block_of_a_dead_letter_is_read_member_by_member() {
        let body = r#"{"job":"urn:x","dead_letter": { "lang":"go","attempts":3,"original_queue":"orders","failed_at":-1,
            "exception":null,"error":"a \"text\"","reason":"failed","vendor":[{"reason":"no"}] } }"#;
        let expected = DeadLetterBlock {
            reason: Some("failed".into()),
            error: Some("a \"text\"".into()),
            exception: None,
            failed_at: Some(-1),
            original_queue: Some("orders".into()),
            attempts: Some(3),
            lang: Some("go".into()),
        };
        assert_eq!(block(body), Some(expected));
    }

    #[test]
    fn of_two_blocks_and_of_two_members_the_last_one_counts() {
        let body = r#"{"job":"urn:x","dead_letter":{"reason":"a","lang":"go"},"dead_letter":{"reason":"b","reason":"c","error":"e","error":null}}"#;
        assert_eq!(block(body), Some(DeadLetterBlock { reason: Some("c".into()), ..DeadLetterBlock::default() }));
        assert_eq!(block(r#"{"job":"urn:x","dead_letter":{"reason":"a"},"dead_letter":null}"#), None);
    }

    #[test]
    fn a_body_without_a_block_has_none() {
        assert_eq!(block(r#"{"job":"urn:x","data":{"dead_letter":{}}}"#), None);
        assert_eq!(block(r#"{"job":"urn:x","dead_letter":{}}"#), Some(DeadLetterBlock::default()));
    }

    #[test]
    fn a_block_whose_members_are_of_the_wrong_type_is_poison() {
        for wrong in
            ["5", "[]", r#"{"reason":5}"#, r#"{"attempts":"3"}"#, r#"{"attempts":1.0}"#, r#"{"error":1,"error":"e"}"#]
        {
            let body = format!(r#"{{"job":"urn:x","dead_letter":{wrong}}}"#);
            assert!(matches!(decode(body.as_bytes()), Verdict::Poison(Poison::Member { .. })), "{body}");
        }
    }
}
