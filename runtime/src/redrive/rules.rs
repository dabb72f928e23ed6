//! What is to become of one record of the dead-letter topic (contract section 5): pure.

use super::{
    report::Skipped,
    select::{DeadLettered, Selection},
};
use crate::{
    envelope,
    headers::{ATTEMPTS, DELAY, ORIGINAL_TOPIC, Projection, REPLAY_BYPASS},
    kafka::OutgoingRecord,
    record::Record,
    retry_topics::is_topic_name,
};

/// Which records are redriven, and how.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) dead_letters: String,
    /// In place of each record's own source.
    pub(super) target: Option<String>,
    pub(super) selection: Selection,
    pub(super) bypass: bool,
}

impl Rules {
    /// The record to write, or why this one is written back as it is; `now` in Unix milliseconds.
    pub(super) fn next(&self, record: &Record<'_>, now: i64) -> Result<OutgoingRecord, Skipped> {
        let projection = Projection::read(record.headers);
        projection.version_gate().map_err(|_| Skipped::WrongVersion)?;
        let value = record.value.ok_or(Skipped::Undecodable)?;
        let (envelope, layout) = envelope::decode_with_layout(value).ok_or(Skipped::Undecodable)?;
        if envelope.schema_version().is_some_and(|version| version != 1) {
            return Err(Skipped::WrongVersion);
        }
        let letter = DeadLettered::new(record, projection, &envelope);
        if !self.selection.takes(&letter, now) {
            return Err(Skipped::NotSelected);
        }
        let target = self
            .target
            .as_deref()
            .or(letter.original_topic())
            .filter(|topic| is_topic_name(topic))
            .ok_or(Skipped::NoSource)?;
        if target == self.dead_letters {
            return Err(Skipped::SourceIsDeadLetterTopic);
        }
        let body = layout.redriven().map_err(|_| Skipped::Undecodable)?;
        // Those of a dead letter, and those that are written anew.
        let without = [ORIGINAL_TOPIC, DELAY, REPLAY_BYPASS, ATTEMPTS];
        let mut next = OutgoingRecord::next_hop(record, target, Some(body), &without);
        next.push_header(ATTEMPTS.as_bytes(), Some(b"0"));
        if self.bypass {
            next.push_header(REPLAY_BYPASS.as_bytes(), Some(b"1"));
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Batch;

    type Header = (&'static [u8], Option<&'static [u8]>);

    fn rules() -> Rules {
        Rules { dead_letters: "orders.dlq".to_owned(), target: None, selection: Selection::default(), bypass: false }
    }

    fn plan(rules: &Rules, value: Option<&str>, headers: &[Header]) -> Result<OutgoingRecord, Skipped> {
        let mut batch = Batch::with_capacity(0, 0);
        batch.push(0, Some(1), Some(b"\xff"), value.map(str::as_bytes), |writer| {
            headers.iter().for_each(|(name, value)| writer.push(name, *value));
        });
        rules.next(&batch.get(0).unwrap(), 0)
    }

    const BODY: &str = r#"{"job":"urn:a","data":{"n":1.50},"meta":{"queue":"orders"},"attempts":3,"x":1e2,"dead_letter":{"reason":"failed","original_queue":"orders.eu"}}"#;

    #[test]
    fn a_redriven_record_starts_over_and_keeps_the_rest() {
        let headers: [Header; 8] = [
            (b"bq-job", Some(b"urn:a")),
            (b"bq-attempts", Some(b"3")),
            (b"tenant", Some(b"\xff")),
            (b"bq-original-topic", Some(b"orders")),
            (b"bq-delay", Some(b"5000")),
            (b"bq-replay-bypass", Some(b"1")),
            (b"tenant", None),
            (b"\xfe", Some(b"")),
        ];
        let next = plan(&rules(), Some(BODY), &headers).unwrap();
        assert_eq!((next.topic(), next.key()), ("orders.eu", Some(&b"\xff"[..])));
        let body = r#"{"job":"urn:a","data":{"n":1.50},"meta":{"queue":"orders"},"attempts":0,"x":1e2}"#;
        assert_eq!(next.value(), Some(body.as_bytes()));
        let expected: [Header; 5] = [headers[0], headers[2], headers[6], headers[7], (b"bq-attempts", Some(b"0"))];
        assert_eq!(next.headers(), expected);

        let bypassing = plan(&Rules { bypass: true, ..rules() }, Some(BODY), &headers).unwrap();
        assert_eq!(bypassing.headers().last(), Some(&(&b"bq-replay-bypass"[..], Some(&b"1"[..]))));
        let elsewhere = Rules { target: Some("sandbox".to_owned()), ..rules() };
        assert_eq!(plan(&elsewhere, Some(BODY), &headers).unwrap().topic(), "sandbox");
        let by_meta = BODY.replace("original_queue", "other");
        assert_eq!(plan(&rules(), Some(&by_meta), &headers).unwrap().topic(), "orders");
    }

    #[test]
    fn what_cannot_start_over_is_skipped() {
        let nowhere = r#"{"job":"urn:a","data":{}}"#;
        let wrapper = r#"{"raw":"x","dead_letter":{"reason":"poison","original_queue":"orders"}}"#;
        let spliced = r#"{"job":"urn:a","data":[],"dead_letter":{"reason":"poison","original_queue":"orders"}}"#;
        let newer = r#"{"job":"urn:a","meta":{"queue":"orders","schema_version":2}}"#;
        let own = r#"{"job":"urn:a","meta":{"queue":"orders.dlq"}}"#;
        let hostile = r#"{"job":"urn:a","meta":{"queue":"orders\u0000"}}"#;
        for (value, skipped) in [
            (None, Skipped::Undecodable),
            (Some(""), Skipped::Undecodable),
            (Some("null"), Skipped::Undecodable),
            (Some(wrapper), Skipped::Undecodable),
            (Some(spliced), Skipped::Undecodable),
            (Some(newer), Skipped::WrongVersion),
            (Some(nowhere), Skipped::NoSource),
            (Some(hostile), Skipped::NoSource),
            (Some(own), Skipped::SourceIsDeadLetterTopic),
        ] {
            assert_eq!(plan(&rules(), value, &[]).unwrap_err(), skipped, "{value:?}");
        }
        let versioned: [Header; 1] = [(b"bq-schema-version", Some(b"2"))];
        assert_eq!(plan(&rules(), Some(BODY), &versioned).unwrap_err(), Skipped::WrongVersion);
        let selection = Selection { urns: vec!["urn:b".to_owned()], ..Selection::default() };
        assert_eq!(plan(&Rules { selection, ..rules() }, Some(BODY), &[]).unwrap_err(), Skipped::NotSelected);
    }
}
