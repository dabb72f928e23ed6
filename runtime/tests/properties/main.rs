//! Properties of the envelope, on any input: no panic, and nothing changes that a hop does not own.

mod oracle;
mod text;

use std::collections::BTreeMap;

use babelqueue::envelope::{
    DeadLetter, Poison, Verdict, decode, make, poison_dead_letter, redriven, with_attempts, with_dead_letter,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use proptest::{collection::btree_map, option, prelude::*, test_runner::Config};
use serde_json::{Value, json, value::RawValue};

use self::text::{any_body, damaged_body, fitting_body, nearly_json, soup};

fn config(cases: u32) -> Config {
    // What fails becomes a unit test beside the code, and not a file of seeds.
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn dead_letter(attempts: i64) -> DeadLetter<'static> {
    DeadLetter {
        reason: "failed",
        error: Some("a \"quoted\" \u{1} text"),
        exception: None,
        failed_at: 1_749_132_727_000,
        original_queue: "orders",
        attempts,
        lang: "rust",
    }
}

/// What holds for any bytes at all.
fn agrees_with_serde_json(body: &[u8]) -> Result<(), TestCaseError> {
    let json = oracle::is_json(body);
    let verdict = decode(body);
    match &verdict {
        Verdict::Poison(Poison::NotUtf8 { .. } | Poison::Syntax { .. } | Poison::TrailingData { .. }) => {
            prop_assert!(!json, "refused: {verdict:?}");
        }
        Verdict::Poison(_) => {}
        _ => prop_assert!(json, "accepted: {verdict:?}"),
    }
    let members = oracle::members(body);
    match with_attempts(body, 7) {
        Ok(next) => {
            prop_assert!(members.is_some());
            prop_assert!(oracle::members(&next).is_some(), "{}", String::from_utf8_lossy(&next));
            prop_assert!(with_dead_letter(body, 7, &dead_letter(7)).is_ok());
        }
        Err(Poison::Member { pointer: "/job" | "/urn", .. }) => prop_assert!(members.is_some()),
        Err(_) => prop_assert!(members.is_none()),
    }
    Ok(())
}

/// The dead letter of any bytes is an object with the block, and gives back the bytes.
fn survives_as_a_dead_letter(body: &[u8]) -> Result<(), TestCaseError> {
    let block = dead_letter(3);
    let dead = poison_dead_letter(body, &block);
    let mut members = oracle::members(&dead).ok_or_else(|| TestCaseError::fail("no object"))?;
    prop_assert!(!oracle::has_half_of_a_pair(&dead));
    let written = serde_json::to_string(&block).unwrap();
    let blocks = members.iter().filter(|(spelled, _)| oracle::name(spelled) == "dead_letter").count();
    prop_assert_eq!((blocks, members.pop()), (1, Some((r#""dead_letter""#.to_owned(), written.clone()))));

    let spliced = oracle::members(body).filter(|members| {
        let taken = members.iter().any(|(spelled, _)| oracle::name(spelled) == "dead_letter");
        !taken && !oracle::has_half_of_a_pair(body)
    });
    match spliced {
        Some(original) => {
            let comma = if original.is_empty() { "" } else { "," };
            let added = format!(r#"{comma}"dead_letter":{written}"#).into_bytes();
            let at = dead.windows(added.len()).rposition(|window| window == added).unwrap();
            prop_assert_eq!([&dead[..at], &dead[at + added.len()..]].concat(), body);
            prop_assert_eq!(members, original);
        }
        None => {
            let value: Value = serde_json::from_slice(&dead).unwrap();
            let raw = value["raw"].as_str().unwrap();
            match std::str::from_utf8(body) {
                Ok(text) => prop_assert_eq!((raw, value.get("raw_encoding"), members.len()), (text, None, 1)),
                Err(_) => {
                    prop_assert_eq!((&value["raw_encoding"], members.len()), (&json!("base64"), 2));
                    prop_assert_eq!(BASE64_STANDARD.decode(raw).unwrap(), body);
                }
            }
        }
    }
    Ok(())
}

/// The members that a hop keeps, as they are spelled; of `meta` those within.
fn kept(body: &[u8]) -> Vec<(String, String)> {
    let mut kept = Vec::new();
    for (spelled, value) in oracle::members(body).unwrap_or_default() {
        match oracle::name(&spelled).as_str() {
            "job" | "urn" | "attempts" | "dead_letter" | "timestamp" => {}
            "meta" if value.starts_with('{') => {
                let within = oracle::members(value.as_bytes()).unwrap_or_default().into_iter();
                kept.push((spelled, String::new()));
                kept.extend(within.filter(|(spelled, _)| {
                    !["max_retries", "attempts", "source", "ts"].contains(&oracle::name(spelled).as_str())
                }));
            }
            _ => kept.push((spelled, value)),
        }
    }
    kept
}

/// The last member of this name, as it is spelled.
fn spelled(body: &[u8], name: &str) -> Option<String> {
    let members = oracle::members(body)?;
    members.into_iter().rev().find(|(spelled, _)| oracle::name(spelled) == name).map(|(_, value)| value)
}

/// The last member of this name; `None` also when `serde_json` cannot hold it.
fn last(body: &[u8], name: &str) -> Option<Value> {
    serde_json::from_str(&spelled(body, name)?).ok()
}

/// What a consumer reads of a body. The warnings are about what the next hop does not carry.
#[derive(Debug, PartialEq)]
struct Read(String, Option<String>, Option<String>, [Option<String>; 3], [Option<i64>; 2]);

fn read(body: &[u8]) -> Option<(Read, i64, bool)> {
    let Verdict::Ok(envelope) = decode(body) else { return None };
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let read = Read(
        envelope.urn().to_owned(),
        owned(envelope.trace_id()),
        owned(envelope.data()),
        [owned(envelope.message_id()), owned(envelope.queue()), owned(envelope.lang())],
        [envelope.schema_version(), envelope.created_at()],
    );
    Some((read, envelope.attempts(), envelope.warnings().is_empty()))
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn no_bytes_make_it_panic_and_serde_json_agrees_on_what_json_is(body in soup()) {
        agrees_with_serde_json(&body)?;
    }

    #[test]
    fn serde_json_agrees_on_json_of_any_spelling(body in any_body()) {
        prop_assert!(oracle::is_json(body.as_bytes()));
        agrees_with_serde_json(body.as_bytes())?;
    }

    #[test]
    fn serde_json_agrees_on_what_is_nearly_json(body in nearly_json()) {
        prop_assert!(!oracle::is_json(body.as_bytes()));
        agrees_with_serde_json(body.as_bytes())?;
    }

    #[test]
    fn serde_json_agrees_on_damaged_envelopes(body in damaged_body()) {
        agrees_with_serde_json(&body)?;
    }

    #[test]
    fn a_body_whose_members_have_their_types_is_no_poison(body in fitting_body()) {
        let verdict = decode(body.as_bytes());
        prop_assert!(!matches!(verdict, Verdict::Poison(_)), "{verdict:?}");
    }

    #[test]
    fn a_decoded_envelope_reads_as_serde_json_reads_it(body in fitting_body()) {
        let Verdict::Ok(envelope) = decode(body.as_bytes()) else { return Ok(()) };
        let named = |name| match last(body.as_bytes(), name) {
            Some(Value::String(urn)) if urn.contains(|c| !" \t\n\u{b}\u{c}\r".contains(c)) => Some(urn),
            _ => None,
        };
        prop_assert_eq!(Some(envelope.urn().to_owned()), named("job").or_else(|| named("urn")));
        prop_assert_eq!(envelope.data().map(str::to_owned), spelled(body.as_bytes(), "data").filter(|data| data != "null"));
        let attempts = last(body.as_bytes(), "attempts").and_then(|attempts| attempts.as_i64()).unwrap_or_default();
        prop_assert_eq!(envelope.attempts(), attempts);
        let trace_id = last(body.as_bytes(), "trace_id").and_then(|id| id.as_str().map(str::to_owned));
        prop_assert_eq!(envelope.trace_id().map(str::to_owned), trace_id);
        let meta = spelled(body.as_bytes(), "meta").unwrap_or_default();
        let of_meta = |name| last(meta.as_bytes(), name);
        for (name, found) in
            [("id", envelope.message_id()), ("queue", envelope.queue()), ("lang", envelope.lang())]
        {
            prop_assert_eq!(found.map(Value::from), of_meta(name).filter(Value::is_string));
        }
        for (name, found) in [("schema_version", envelope.schema_version()), ("created_at", envelope.created_at())] {
            prop_assert_eq!(found.map(Value::from), of_meta(name).filter(Value::is_number));
        }
    }

    #[test]
    fn the_next_hop_differs_in_attempts_alone(body in fitting_body(), attempts in any::<i64>()) {
        let next = with_attempts(body.as_bytes(), attempts).unwrap();
        prop_assert_eq!(kept(body.as_bytes()), kept(&next));
        prop_assert_eq!(last(&next, "attempts"), Some(json!(attempts)));
        for dropped in ["timestamp", "urn"] {
            prop_assert!(last(&next, dropped).is_none());
        }
        match (read(body.as_bytes()), read(&next)) {
            (Some((before, ..)), Some((after, counted, no_warning))) => {
                prop_assert_eq!(before, after);
                prop_assert_eq!(counted, attempts);
                prop_assert!(no_warning);
            }
            (None, None) => prop_assert!(matches!(decode(&next), Verdict::NoIdentity)),
            (before, after) => prop_assert!(false, "{before:?} became {after:?}"),
        }
    }

    #[test]
    fn only_the_last_of_two_hops_shows(body in fitting_body(), first in any::<i64>(), second in any::<i64>()) {
        let direct = with_attempts(body.as_bytes(), second).unwrap();
        let relayed = with_attempts(&with_attempts(body.as_bytes(), first).unwrap(), second).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&direct), String::from_utf8_lossy(&relayed));
    }

    #[test]
    fn a_dead_letter_is_the_next_hop_with_its_block(body in fitting_body(), attempts in 0..i64::MAX) {
        let dead = with_dead_letter(body.as_bytes(), attempts, &dead_letter(attempts)).unwrap();
        let block = json!({
            "reason": "failed", "error": "a \"quoted\" \u{1} text", "exception": null, "failed_at": 1_749_132_727_000_i64,
            "original_queue": "orders", "attempts": attempts, "lang": "rust",
        });
        prop_assert_eq!(last(&dead, "dead_letter"), Some(block));
        prop_assert_eq!(kept(body.as_bytes()), kept(&dead));
        let again = with_dead_letter(&dead, attempts, &dead_letter(attempts)).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&dead), String::from_utf8_lossy(&again));
        prop_assert_eq!(read(&dead), read(&with_attempts(body.as_bytes(), attempts).unwrap()));
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn any_bytes_survive_as_a_dead_letter(body in soup()) {
        survives_as_a_dead_letter(&body)?;
    }

    #[test]
    fn json_of_any_spelling_survives_as_a_dead_letter(body in any_body()) {
        survives_as_a_dead_letter(body.as_bytes())?;
    }

    #[test]
    fn what_is_nearly_json_survives_as_a_dead_letter(body in nearly_json()) {
        survives_as_a_dead_letter(body.as_bytes())?;
    }

    #[test]
    fn a_damaged_envelope_survives_as_a_dead_letter(body in damaged_body()) {
        survives_as_a_dead_letter(&body)?;
    }

    #[test]
    fn a_redriven_dead_letter_starts_over(body in fitting_body(), attempts in 0..i64::MAX) {
        let dead = with_dead_letter(body.as_bytes(), attempts, &dead_letter(attempts)).unwrap();
        let again = redriven(&dead).unwrap();
        prop_assert_eq!(kept(body.as_bytes()), kept(&again));
        prop_assert_eq!((last(&again, "attempts"), last(&again, "dead_letter")), (Some(json!(0)), None));
        if spelled(body.as_bytes(), "dead_letter").is_none() {
            let start = with_attempts(body.as_bytes(), 0).unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&start));
        }
    }

    #[test]
    fn the_block_reads_as_it_was_written(body in fitting_body(), attempts in 0..i64::MAX) {
        let dead = with_dead_letter(body.as_bytes(), attempts, &dead_letter(attempts)).unwrap();
        let Verdict::Ok(envelope) = decode(&dead) else { return Ok(()) };
        let read = envelope.dead_letter().unwrap();
        let written = dead_letter(attempts);
        prop_assert_eq!(read.reason.as_deref(), Some(written.reason));
        prop_assert_eq!((read.error.as_deref(), read.exception.as_deref()), (written.error, written.exception));
        prop_assert_eq!((read.failed_at, read.attempts), (Some(written.failed_at), Some(attempts)));
        prop_assert_eq!(read.original_queue.as_deref(), Some(written.original_queue));
        prop_assert_eq!(read.lang.as_deref(), Some(written.lang));
    }
}

/// Payloads and added members.
fn payload() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn raw_json_in_a_payload_decodes_or_is_not_sent(text in any_body()) {
        let raw = RawValue::from_string(text).unwrap();
        let data = format!(r#"{{"raw":{}}}"#, raw.get());
        match make("urn:x", "orders").encode(&BTreeMap::from([("raw", &raw)])) {
            Ok(made) => {
                let Verdict::Ok(envelope) = decode(&made.body) else { panic!("{}", String::from_utf8_lossy(&made.body)) };
                prop_assert_eq!(envelope.data(), Some(data.as_str()));
            }
            Err(_) => {
                let body = format!(r#"{{"job":"urn:x","data":{data}}}"#);
                let verdict = decode(body.as_bytes());
                prop_assert!(matches!(verdict, Verdict::Poison(Poison::NotFinite { .. })), "{verdict:?}");
            }
        }
    }

    #[test]
    fn what_was_made_decodes_to_what_was_given(
        urn in any::<String>(),
        queue in any::<String>(),
        trace_id in option::of(any::<String>()),
        data in btree_map(any::<String>(), payload(), 0..4),
        meta in btree_map("x.{0,4}", payload(), 0..3),
        members in btree_map("x.{0,4}", payload(), 0..3),
    ) {
        let ascii_space = |c: char| " \t\n\u{b}\u{c}\r".contains(c);
        let (urn_given, trace_given) = (urn.trim_matches(ascii_space), trace_id.as_deref().map(|id| id.trim_matches(ascii_space)));
        let mut draft = make(&urn, &queue);
        if let Some(trace_id) = &trace_id {
            draft = draft.trace_id(trace_id);
        }
        draft = meta.iter().fold(draft, |draft, (key, value)| draft.meta(key, value));
        draft = members.iter().fold(draft, |draft, (name, value)| draft.member(name, value));
        let made = draft.encode(&data);
        if urn_given.is_empty() {
            prop_assert!(made.is_err());
            return Ok(());
        }
        let made = made.unwrap();
        let Verdict::Ok(envelope) = decode(&made.body) else { panic!("{}", String::from_utf8_lossy(&made.body)) };
        prop_assert!(envelope.accepts() && envelope.warnings().is_empty());
        prop_assert_eq!(envelope.urn(), urn_given);
        prop_assert_eq!(envelope.queue(), Some(queue.as_str()));
        prop_assert_eq!(envelope.data().map(str::to_owned), serde_json::to_string(&data).ok());
        prop_assert_eq!(envelope.trace_id(), Some(made.trace_id.as_str()));
        if let Some(given) = trace_given.filter(|given| !given.is_empty()) {
            prop_assert_eq!(&made.trace_id, given);
        }
        prop_assert_eq!(envelope.message_id().map(str::to_owned), Some(made.id.to_string()));
        prop_assert_eq!((envelope.lang(), envelope.schema_version(), envelope.attempts()), (Some("rust"), Some(1), 0));
        prop_assert_eq!(envelope.created_at(), Some(made.created_at));
        // Compared as text: serde_json rounds some numbers when it reads them.
        let written = |(name, value): (&String, &Value)| (json!(name).to_string(), value.to_string());
        let body = oracle::members(&made.body).unwrap_or_default();
        let core_meta = oracle::members(body[3].1.as_bytes()).unwrap_or_default();
        prop_assert_eq!(&core_meta[5..], meta.iter().map(written).collect::<Vec<_>>());
        prop_assert_eq!(&body[5..], members.iter().map(written).collect::<Vec<_>>());
    }
}
