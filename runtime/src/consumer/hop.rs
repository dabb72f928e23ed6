//! The records that settle others: on a retry topic, or on the dead-letter topic (contract sections 2 to 4). Pure: a record
//! in, a record out, all bytes that are not the hop's own unchanged.

use std::time::Duration;

use super::{Settled, report::Explained};
use crate::{
    delivery::Delivery,
    envelope::{DeadLetter, LANG, poison_dead_letter, with_attempts, with_dead_letter},
    headers::{ATTEMPTS, DELAY, JOB, MESSAGE_ID, ORIGINAL_TOPIC, TRACE_ID},
    kafka::OutgoingRecord,
    record::{Batch, Record, TopicPartition},
    retry_topics::Tier,
    settle::{DeadLetterReason, Decision},
    time::whole_ms,
};

/// The headers that a hop owns: replaced and never added a second time, so that no hop makes the record grow.
const OWNED: [&str; 3] = [ATTEMPTS, DELAY, ORIGINAL_TOPIC];
/// The longest key, the longest value of a header and the longest text of an error, in bytes, of a dead letter that had to
/// be cut.
const SMALL: usize = 1024;

/// A record that goes to another topic, and all that is needed to write it there in one form or another.
pub(super) struct Hop {
    /// Of this record alone: the batch that it came in is let go meanwhile.
    record: Batch,
    at: TopicPartition,
    retry: Option<(Tier, Duration)>,
    dead_letters: Option<String>,
    reason: DeadLetterReason,
    attempts: i64,
    explained: Explained,
    failed_at: i64,
}

/// What is written of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it, with one more failure, on a retry topic.
    Retry,
    /// All of it as it came, on the dead-letter topic.
    AsItCame,
    /// All of it, and what went wrong.
    DeadLetter,
    /// The same without the text of the error.
    WithoutText,
    /// Where the record lies.
    Pointer,
}

impl Form {
    /// The form to try when the topic cannot hold this one.
    pub(super) fn smaller(self) -> Option<Self> {
        match self {
            // Where the retry topic cannot hold it, the dead-letter topic may.
            Self::Retry => Some(Self::DeadLetter),
            Self::DeadLetter => Some(Self::WithoutText),
            Self::AsItCame | Self::WithoutText => Some(Self::Pointer),
            Self::Pointer => None,
        }
    }
}

impl Hop {
    /// The hop that a decision asks for, and the form to begin with; `None` when it asks for none.
    pub(super) fn new(
        delivery: &Delivery,
        decision: &Decision,
        dead_letters: Option<&str>,
        explained: Explained,
    ) -> Option<(Self, Form)> {
        let (form, reason, attempts, retry) = match decision {
            Decision::Commit | Decision::Delete | Decision::Drop | Decision::Stop => return None,
            Decision::Quarantine => (Form::AsItCame, DeadLetterReason::Poison, delivery.attempts, None),
            Decision::DeadLetter { reason, attempts } => (Form::DeadLetter, *reason, *attempts, None),
            Decision::Retry { reason, tier, delay, attempts } => {
                (Form::Retry, *reason, *attempts, Some((tier.clone(), *delay)))
            }
        };
        let hop = Self {
            record: Batch::of(&delivery.record()?),
            at: delivery.at().clone(),
            retry,
            dead_letters: dead_letters.map(str::to_owned),
            reason,
            attempts,
            explained,
            failed_at: delivery.kafka().config().clock.now_ms(),
        };
        Some((hop, form))
    }

    /// The record in this form; `None` where there is no topic for it.
    pub(super) fn record(&self, form: Form) -> Option<OutgoingRecord> {
        let record = self.record.get(0)?;
        let Explained { error, exception, .. } = &self.explained;
        let topic = self.dead_letters.as_deref();
        match form {
            Form::Retry => self.retry(&record),
            Form::AsItCame => Some(self.as_it_came(&record, topic?)),
            Form::DeadLetter => Some(self.dead_letter(&record, topic?, &self.block(Some(error), *exception))),
            Form::WithoutText => Some(self.dead_letter(&record, topic?, &self.block(None, None))),
            Form::Pointer => Some(self.pointer(&record, topic?)),
        }
    }

    /// Bytes of the record.
    pub(super) fn size(&self) -> usize {
        self.record.size()
    }

    /// What was done with the record once it is written in this form.
    pub(super) fn settled(&self, form: Form) -> Settled {
        match &self.retry {
            Some((tier, delay)) if form == Form::Retry => Settled::Retry { topic: tier.topic.clone(), delay: *delay },
            _ => Settled::DeadLetter { topic: self.dead_letters.clone().unwrap_or_default() },
        }
    }

    fn retry(&self, record: &Record<'_>) -> Option<OutgoingRecord> {
        let (tier, delay) = self.retry.as_ref()?;
        // It was decoded before, so it is an object.
        let body = with_attempts(record.value?, self.attempts).ok()?;
        let mut next = OutgoingRecord::next_hop(record, &tier.topic, Some(body), &OWNED);
        push(&mut next, ATTEMPTS, &self.attempts.to_string());
        push(&mut next, DELAY, &whole_ms(*delay).to_string());
        push(&mut next, ORIGINAL_TOPIC, &self.at.topic);
        Some(next)
    }

    fn as_it_came(&self, record: &Record<'_>, topic: &str) -> OutgoingRecord {
        let value = record.value.map(<[u8]>::to_vec);
        let mut next = OutgoingRecord::next_hop(record, topic, value, &[DELAY, ORIGINAL_TOPIC]);
        push(&mut next, ORIGINAL_TOPIC, &self.at.topic);
        next
    }

    fn dead_letter(&self, record: &Record<'_>, topic: &str, block: &DeadLetter<'_>) -> OutgoingRecord {
        let body = record.value.map(|value| match self.reason {
            // Nothing of it is rewritten: it may not mean what it seems to.
            DeadLetterReason::Poison => poison_dead_letter(value, block),
            DeadLetterReason::Failed | DeadLetterReason::UnknownUrn => {
                with_dead_letter(value, self.attempts, block).unwrap_or_else(|_| poison_dead_letter(value, block))
            }
        });
        let mut next = OutgoingRecord::next_hop(record, topic, body, &OWNED);
        self.push_own(&mut next);
        next
    }

    fn pointer(&self, record: &Record<'_>, topic: &str) -> OutgoingRecord {
        let Record { offset, key, value, headers, .. } = *record;
        let Explained { error, exception, .. } = &self.explained;
        let bytes = value.map_or(0, <[u8]>::len);
        let error = format!(
            "the record is too large for this topic: its value of {bytes} bytes lies at {} offset {offset}; {}",
            self.at,
            cut(error)
        );
        let body = poison_dead_letter(b"{}", &self.block(Some(&error), *exception));
        let key = key.filter(|key| key.len() <= SMALL).map(<[u8]>::to_vec);
        let mut next = OutgoingRecord::new(topic.to_owned(), key, Some(body), None);
        for name in [JOB, TRACE_ID, MESSAGE_ID] {
            if let Some(text) = headers.get_str(name).filter(|text| text.len() <= SMALL) {
                push(&mut next, name, text);
            }
        }
        self.push_own(&mut next);
        next
    }

    fn block<'b>(&'b self, error: Option<&'b str>, exception: Option<&'b str>) -> DeadLetter<'b> {
        DeadLetter {
            reason: self.reason.name(),
            error,
            exception,
            failed_at: self.failed_at,
            original_queue: &self.at.topic,
            attempts: self.attempts,
            lang: LANG,
        }
    }

    fn push_own(&self, next: &mut OutgoingRecord) {
        push(next, ATTEMPTS, &self.attempts.to_string());
        push(next, ORIGINAL_TOPIC, &self.at.topic);
    }
}

/// The beginning of a text, when it is too long.
fn cut(text: &str) -> &str {
    let end = (0..=SMALL.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

fn push(record: &mut OutgoingRecord, name: &str, value: &str) {
    record.push_header(name.as_bytes(), Some(value.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::Reason;

    const BODY: &[u8] =
        br#"{"job":"urn:x","trace_id":"t","data":{"n":1.50},"meta":{"x":1e2},"attempts":0,"v":"\u00e9"}"#;

    type Header<'a> = (&'a [u8], Option<&'a [u8]>);

    const HEADERS: [Header<'static>; 7] = [
        (b"bq-attempts", Some(b"0")),
        (b"bq-job", Some(b"urn:x")),
        (b"tenant", Some(b"\xff")),
        (b"bq-delay", Some(b"5000")),
        (b"tenant", None),
        (b"bq-original-topic", Some(b"elsewhere")),
        (b"traceparent", Some(b"00-x")),
    ];

    fn batch(key: Option<&[u8]>, value: Option<&[u8]>) -> Batch {
        let mut batch = Batch::with_capacity(0, 0);
        batch.push(7, Some(1), key, value, |writer| {
            HEADERS.into_iter().for_each(|(name, value)| writer.push(name, value));
        });
        batch
    }

    fn hop(batch: Batch, reason: DeadLetterReason) -> Hop {
        let tier = Tier { topic: "orders.retry.1".to_owned(), delay: Duration::from_secs(5) };
        Hop {
            record: batch,
            at: TopicPartition { topic: "orders".into(), partition: 3 },
            retry: Some((tier, Duration::from_micros(1500))),
            dead_letters: Some("orders.dlq".to_owned()),
            reason,
            attempts: 3,
            explained: Explained { reason: Reason::Failed, error: "boom".to_owned(), exception: Some("E") },
            failed_at: 9,
        }
    }

    fn text(record: &OutgoingRecord) -> &str {
        std::str::from_utf8(record.value().unwrap()).unwrap()
    }

    const KEPT: [Header<'static>; 4] =
        [(b"bq-job", Some(b"urn:x")), (b"tenant", Some(b"\xff")), (b"tenant", None), (b"traceparent", Some(b"00-x"))];

    #[test]
    fn a_retry_changes_the_attempts_and_owns_three_headers() {
        let hop = hop(batch(Some(b""), Some(BODY)), DeadLetterReason::Failed);
        let next = hop.record(Form::Retry).unwrap();
        assert_eq!((next.topic(), next.key()), ("orders.retry.1", Some(&b""[..])));
        assert_eq!(text(&next), std::str::from_utf8(BODY).unwrap().replace(r#""attempts":0"#, r#""attempts":3"#));
        let own: [Header<'_>; 3] =
            [(b"bq-attempts", Some(b"3")), (b"bq-delay", Some(b"2")), (b"bq-original-topic", Some(b"orders"))];
        assert_eq!(next.headers(), [&KEPT[..], &own].concat());
    }

    #[test]
    fn a_dead_letter_keeps_the_record_and_says_what_happened() {
        let next = hop(batch(None, Some(BODY)), DeadLetterReason::Failed).record(Form::DeadLetter).unwrap();
        assert_eq!((next.topic(), next.key()), ("orders.dlq", None));
        let block = r#","dead_letter":{"reason":"failed","error":"boom","exception":"E","failed_at":9,"original_queue":"orders","attempts":3,"lang":"rust"}}"#;
        let body = std::str::from_utf8(BODY).unwrap().replace(r#""attempts":0"#, r#""attempts":3"#);
        assert_eq!(text(&next), format!("{}{block}", body.strip_suffix('}').unwrap()));
        let own: [Header<'_>; 2] = [(b"bq-attempts", Some(b"3")), (b"bq-original-topic", Some(b"orders"))];
        assert_eq!(next.headers(), [&KEPT[..], &own].concat());
    }

    #[test]
    fn poison_is_never_rewritten_and_null_stays_null() {
        let poison = batch(None, Some(br#"{"attempts": 1.0, "timestamp":1}"#));
        let next = hop(poison, DeadLetterReason::Poison).record(Form::DeadLetter).unwrap();
        assert!(text(&next).starts_with(r#"{"attempts": 1.0, "timestamp":1,"dead_letter":{"reason":"poison""#));

        let next = hop(batch(Some(b"k"), None), DeadLetterReason::Poison).record(Form::DeadLetter).unwrap();
        assert_eq!((next.key(), next.value()), (Some(&b"k"[..]), None));
    }

    #[test]
    fn what_is_too_large_loses_the_text_and_then_everything_but_where_it_lies() {
        let hop = hop(batch(Some(&[b'k'; 2000]), Some(BODY)), DeadLetterReason::Failed);
        let without_text = hop.record(Form::Retry.smaller().and_then(Form::smaller).unwrap()).unwrap();
        assert!(text(&without_text).contains(r#""data":{"n":1.50}"#));
        assert!(!text(&without_text).contains("boom"));
        let pointer = hop.record(Form::WithoutText.smaller().unwrap()).unwrap();
        assert_eq!(pointer.key(), None);
        assert!(text(&pointer).contains("orders[3] offset 7; boom"), "{}", text(&pointer));
        assert!(!text(&pointer).contains("data"));
        let own: [Header<'_>; 3] =
            [(b"bq-job", Some(b"urn:x")), (b"bq-attempts", Some(b"3")), (b"bq-original-topic", Some(b"orders"))];
        assert_eq!(pointer.headers(), own);
    }

    #[test]
    fn a_long_error_does_not_make_the_pointer_too_large_as_well() {
        let mut hop = hop(batch(None, Some(BODY)), DeadLetterReason::Failed);
        hop.explained.error = "ü".repeat(100_000);
        let pointer = hop.record(Form::Pointer).unwrap();
        assert!(text(&pointer).contains("offset 7; üü") && pointer.value().unwrap().len() < 2000);
        assert_eq!(cut("aüü"), "aüü");
        assert_eq!(cut(&format!("a{}", "ü".repeat(SMALL))).len(), SMALL - 1);
    }

    #[test]
    fn a_quarantined_record_is_as_it_came() {
        let next = hop(batch(None, Some(b"\xff")), DeadLetterReason::Poison).record(Form::AsItCame).unwrap();
        assert_eq!((next.key(), next.value()), (None, Some(&b"\xff"[..])));
        let own: [Header<'_>; 1] = [(b"bq-original-topic", Some(b"orders"))];
        let attempts: [Header<'_>; 1] = [(b"bq-attempts", Some(b"0"))];
        assert_eq!(next.headers(), [&attempts[..], &KEPT, &own].concat());
    }
}
