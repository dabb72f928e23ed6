//! Which dead letters are redriven: a pure choice.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    envelope::{DeadLetterBlock, Envelope},
    headers::{self, Projection, is_blank},
    record::{Headers, Record},
};

/// A dead letter as [`Redrive::select`](super::Redrive::select) sees it: a message that can be redriven.
pub struct DeadLettered<'a> {
    key: Option<&'a [u8]>,
    headers: Headers<'a>,
    projection: Projection<'a>,
    envelope: &'a Envelope<'a>,
    block: DeadLetterBlock<'a>,
}

impl<'a> DeadLettered<'a> {
    pub(super) fn new(record: &Record<'a>, projection: Projection<'a>, envelope: &'a Envelope<'a>) -> Self {
        let block = envelope.dead_letter().unwrap_or_default();
        Self { key: record.key, headers: record.headers, projection, envelope, block }
    }

    /// The URN that routes it.
    #[must_use]
    pub fn urn(&self) -> &str {
        self.projection.job.unwrap_or_else(|| self.envelope.urn())
    }

    /// The id of the message, when it has one.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.headers.get_str(headers::MESSAGE_ID).or_else(|| self.envelope.message_id())
    }

    /// The id that every hop of the message kept, when it has one.
    #[must_use]
    pub fn trace_id(&self) -> Option<&str> {
        self.headers.get_str(headers::TRACE_ID).or_else(|| self.envelope.trace_id())
    }

    /// Why it was given up: `failed`, `unknown_urn`, or what another SDK says.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.block.reason.as_deref()
    }

    /// What went wrong, for people.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.block.error.as_deref()
    }

    /// The name of the error's type.
    #[must_use]
    pub fn exception(&self) -> Option<&str> {
        self.block.exception.as_deref()
    }

    /// When it was given up, in Unix milliseconds.
    #[must_use]
    pub fn failed_at(&self) -> Option<i64> {
        self.block.failed_at
    }

    /// Failed deliveries.
    #[must_use]
    pub fn attempts(&self) -> i64 {
        self.projection.attempts.or(self.block.attempts).unwrap_or_else(|| self.envelope.attempts())
    }

    /// The topic that it came from (contract section 5): `dead_letter.original_queue`, else `meta.queue`.
    #[must_use]
    pub fn original_topic(&self) -> Option<&str> {
        let block = self.block.original_queue.as_deref().filter(|topic| !is_blank(topic));
        block.or_else(|| self.envelope.queue().filter(|topic| !is_blank(topic)))
    }

    /// The record's key; `None` is the null key, which is not the empty one.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.key
    }

    /// The record's headers, `bq-` ones and others.
    #[must_use]
    pub fn headers(&self) -> Headers<'a> {
        self.headers
    }

    /// The payload as it was written: the text of a JSON object. `None` when it is absent or null.
    #[must_use]
    pub fn data(&self) -> Option<&'a str> {
        self.envelope.data()
    }
}

impl fmt::Debug for DeadLettered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadLettered")
            .field("urn", &self.urn())
            .field("message_id", &self.message_id())
            .field("trace_id", &self.trace_id())
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}

type Choice = Arc<dyn Fn(&DeadLettered<'_>) -> bool + Send + Sync>;

/// What was asked for; everything when nothing was.
#[derive(Clone, Default)]
pub(super) struct Selection {
    /// Any of them.
    pub(super) urns: Vec<String>,
    /// Any of them.
    pub(super) reasons: Vec<String>,
    pub(super) older_than: Option<Duration>,
    pub(super) younger_than: Option<Duration>,
    /// Any of them.
    pub(super) errors: Vec<String>,
    /// All of them.
    pub(super) choices: Vec<Choice>,
}

impl Selection {
    /// Whether this one is to be redriven; `now` in Unix milliseconds.
    pub(super) fn takes(&self, letter: &DeadLettered<'_>, now: i64) -> bool {
        let any = |asked: &[String], found: Option<&str>| {
            asked.is_empty() || found.is_some_and(|it| asked.iter().any(|asked| asked == it))
        };
        let age = letter.failed_at().map(|failed_at| i128::from(now) - i128::from(failed_at));
        let aged = |asked: Option<Duration>, fits: fn(i128, i128) -> bool| {
            asked.is_none_or(|limit| {
                age.is_some_and(|age| fits(age, i128::try_from(limit.as_millis()).unwrap_or(i128::MAX)))
            })
        };
        any(&self.urns, Some(letter.urn()))
            && any(&self.reasons, letter.reason())
            && aged(self.older_than, |age, limit| age > limit)
            && aged(self.younger_than, |age, limit| age < limit)
            && (self.errors.is_empty()
                || letter.error().is_some_and(|error| self.errors.iter().any(|asked| error.contains(asked.as_str()))))
            && self.choices.iter().all(|choice| choice(letter))
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("urns", &self.urns)
            .field("reasons", &self.reasons)
            .field("older_than", &self.older_than)
            .field("younger_than", &self.younger_than)
            .field("errors", &self.errors)
            .field("choices", &self.choices.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        envelope::{Verdict, decode},
        record::Batch,
    };

    const BODY: &str = r#"{"job":"urn:a","trace_id":"t","data":{"n":1},"meta":{"id":"i","queue":"orders"},"attempts":2,"dead_letter":{"reason":"failed","error":"connection reset","exception":"io::Error","failed_at":10000,"original_queue":"orders.eu","attempts":3}}"#;

    fn with<T>(body: &str, header: Option<(&str, &str)>, look: impl FnOnce(&DeadLettered<'_>) -> T) -> T {
        let mut batch = Batch::with_capacity(0, 0);
        batch.push(0, None, Some(b"k"), Some(body.as_bytes()), |writer| {
            if let Some((name, value)) = header {
                writer.push(name.as_bytes(), Some(value.as_bytes()));
            }
        });
        let record = batch.get(0).unwrap();
        let Verdict::Ok(envelope) = decode(body.as_bytes()) else { panic!("{body}") };
        look(&DeadLettered::new(&record, Projection::read(record.headers), &envelope))
    }

    fn takes(body: &str, selection: &Selection) -> bool {
        with(body, None, |letter| selection.takes(letter, 15_000))
    }

    #[test]
    fn a_dead_letter_is_seen_as_headers_and_body_say() {
        with(BODY, None, |letter| {
            assert_eq!(
                (letter.urn(), letter.reason(), letter.error()),
                ("urn:a", Some("failed"), Some("connection reset"))
            );
            assert_eq!((letter.message_id(), letter.trace_id()), (Some("i"), Some("t")));
            assert_eq!((letter.exception(), letter.failed_at()), (Some("io::Error"), Some(10_000)));
            assert_eq!((letter.attempts(), letter.original_topic()), (3, Some("orders.eu")));
            assert_eq!((letter.key(), letter.data()), (Some(&b"k"[..]), Some(r#"{"n":1}"#)));
        });
        with(BODY, Some(("bq-job", "urn:b")), |letter| assert_eq!(letter.urn(), "urn:b"));
        with(BODY, Some(("bq-attempts", "7")), |letter| assert_eq!(letter.attempts(), 7));
        with(BODY, Some(("bq-message-id", "j")), |letter| assert_eq!(letter.message_id(), Some("j")));
        with(&BODY.replace("orders.eu", " "), None, |letter| assert_eq!(letter.original_topic(), Some("orders")));
        with(r#"{"job":"urn:a","meta":{"queue":""}}"#, None, |letter| {
            assert_eq!((letter.original_topic(), letter.attempts(), letter.failed_at()), (None, 0, None));
        });
    }

    #[test]
    fn every_criterion_that_is_given_has_to_hold() {
        let none = Selection::default;
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let second = Duration::from_secs;
        let choice = |chosen: bool| vec![Arc::new(move |_: &DeadLettered<'_>| chosen) as Choice];
        for (selection, taken) in [
            (none(), true),
            (Selection { urns: texts(&["urn:b", "urn:a"]), ..none() }, true),
            (Selection { urns: texts(&["urn:b"]), ..none() }, false),
            (Selection { reasons: texts(&["failed"]), ..none() }, true),
            (Selection { reasons: texts(&["unknown_urn", "poison"]), ..none() }, false),
            (Selection { errors: texts(&["timeout", "reset"]), ..none() }, true),
            (Selection { errors: texts(&["Reset"]), ..none() }, false),
            // It is five seconds old.
            (Selection { older_than: Some(second(4)), ..none() }, true),
            (Selection { older_than: Some(second(5)), ..none() }, false),
            (Selection { younger_than: Some(second(6)), ..none() }, true),
            (Selection { younger_than: Some(second(5)), ..none() }, false),
            (Selection { older_than: Some(Duration::MAX), ..none() }, false),
            (Selection { younger_than: Some(Duration::MAX), ..none() }, true),
            (Selection { choices: choice(true), ..none() }, true),
            (Selection { choices: choice(false), ..none() }, false),
            (Selection { urns: texts(&["urn:a"]), reasons: texts(&["poison"]), ..none() }, false),
            (Selection { urns: texts(&["urn:a"]), choices: [choice(true), choice(false)].concat(), ..none() }, false),
        ] {
            assert_eq!(takes(BODY, &selection), taken, "{selection:?}");
        }
    }

    #[test]
    fn what_a_dead_letter_does_not_say_is_never_what_was_asked_for() {
        let none = Selection::default;
        for body in [r#"{"job":"urn:a"}"#, r#"{"job":"urn:a","dead_letter":{}}"#] {
            assert!(takes(body, &none()));
            assert!(!takes(body, &Selection { reasons: vec!["failed".to_owned()], ..none() }));
            assert!(!takes(body, &Selection { errors: vec![String::new()], ..none() }));
            assert!(!takes(body, &Selection { older_than: Some(Duration::ZERO), ..none() }));
            assert!(!takes(body, &Selection { younger_than: Some(Duration::MAX), ..none() }));
        }
        for at in [i64::MIN, i64::MAX] {
            let strange = BODY.replace("10000", &at.to_string());
            assert_eq!(takes(&strange, &Selection { older_than: Some(Duration::ZERO), ..none() }), at < 0);
        }
    }
}
