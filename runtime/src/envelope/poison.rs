//! The dead letter of a poison record: the record's bytes, whatever they are, and the block (contract section 3).

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{DeadLetter, scan::Scanner};

/// The body of the dead letter of a record that is no envelope. Any bytes become a JSON object from which a tool gets
/// back exactly these bytes:
///
/// - a JSON object without a member `dead_letter` keeps every byte, and the block is put behind its last member;
/// - other text becomes `{"raw": <text>, "dead_letter": …}`, and so does an object with half of a surrogate pair in it,
///   which many a JSON reader refuses;
/// - bytes that are not UTF-8 become `{"raw": <base64>, "raw_encoding": "base64", "dead_letter": …}`.
///
/// A record without a value has no body here either: a null stays a null.
///
/// ```
/// use babelqueue::envelope::{DeadLetter, poison_dead_letter};
///
/// let block = DeadLetter {
///     reason: "poison",
///     error: Some("`/data` is not an object"),
///     exception: None,
///     failed_at: 1_749_132_727_000,
///     original_queue: "orders",
///     attempts: 0,
///     lang: "rust",
/// };
/// let spliced = poison_dead_letter(br#"{ "job": "urn:x", "data": 1e400 }"#, &block);
/// assert!(spliced.starts_with(br#"{ "job": "urn:x", "data": 1e400,"dead_letter":{"reason":"poison","#));
///
/// let text = poison_dead_letter(br#"{"job":"#, &block);
/// assert!(text.starts_with(br#"{"raw":"{\"job\":","dead_letter":{"#));
///
/// let bytes = poison_dead_letter(b"\xff", &block);
/// assert!(bytes.starts_with(br#"{"raw":"/w==","raw_encoding":"base64","dead_letter":{"#));
/// ```
#[must_use]
pub fn poison_dead_letter(value: &[u8], block: &DeadLetter<'_>) -> Vec<u8> {
    let block = block.to_json();
    let Ok(text) = std::str::from_utf8(value) else {
        let raw = BASE64_STANDARD.encode(value);
        return format!(r#"{{"raw":"{raw}","raw_encoding":"base64","dead_letter":{block}}}"#).into_bytes();
    };
    match Place::find(text) {
        Some(Place { at, first }) => {
            let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
            let comma = if first { "" } else { "," };
            format!(r#"{before}{comma}"dead_letter":{block}{behind}"#).into_bytes()
        }
        None => {
            // A string always serializes.
            let raw = serde_json::to_string(text).unwrap_or_default();
            format!(r#"{{"raw":{raw},"dead_letter":{block}}}"#).into_bytes()
        }
    }
}

/// Where a member can be added to an object.
struct Place {
    at: usize,
    /// Whether it has no member yet.
    first: bool,
}

impl Place {
    /// `None` when the text is no object, or one that cannot be added to as it stands.
    fn find(text: &str) -> Option<Self> {
        let mut scanner = Scanner::new(text);
        let (mut end, mut taken) = (None, false);
        let object = scanner.members(|name, _, scanner| {
            taken |= name == "dead_letter";
            end = Some(scanner.value()?.range().end);
            Ok(())
        });
        let open = object.and_then(|object| scanner.end().map(|()| object.start)).ok()?;
        let place = Self { at: end.unwrap_or(open + 1), first: end.is_none() };
        (!taken && !has_half_of_a_pair(text)).then_some(place)
    }
}

/// Whether JSON text escapes half of a surrogate pair without the other half. In JSON a backslash stands only in strings.
fn has_half_of_a_pair(json: &str) -> bool {
    let (mut open, mut rest) = (false, json);
    while let Some(at) = rest.find('\\') {
        if open && at != 0 {
            return true;
        }
        let unit = rest.get(at..at + 6).and_then(|escape| escape.strip_prefix("\\u")).map(hexadecimal);
        match (unit, open) {
            (Some(0xd800..=0xdbff), false) => open = true,
            (Some(0xdc00..=0xdfff), true) => open = false,
            (Some(0xd800..=0xdfff), _) | (_, true) => return true,
            _ => {}
        }
        rest = rest.get(at + if unit.is_some() { 6 } else { 2 }..).unwrap_or_default();
    }
    open
}

/// The number of digits that the scanner has accepted.
fn hexadecimal(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const BLOCK: DeadLetter<'_> = DeadLetter {
        reason: "poison",
        error: Some("no \"envelope\""),
        exception: None,
        failed_at: 1_749_132_727_000,
        original_queue: "orders",
        attempts: 2,
        lang: "rust",
    };

    fn dead(value: &[u8]) -> String {
        String::from_utf8(poison_dead_letter(value, &BLOCK)).unwrap()
    }

    /// The block with the comma in front of it.
    fn added() -> String {
        format!(r#","dead_letter":{}"#, BLOCK.to_json())
    }

    #[track_caller]
    fn is_wrapped(value: &[u8], expected: &Value) {
        let mut dead: Value = serde_json::from_str(&dead(value)).unwrap();
        let block = dead.as_object_mut().unwrap().remove("dead_letter").unwrap();
        assert_eq!(block, serde_json::from_str::<Value>(&BLOCK.to_json()).unwrap());
        assert_eq!(dead, *expected);
    }

    #[test]
    fn an_object_keeps_every_byte() {
        for body in [
            r#"{"job":5}"#,
            " \r\n{\t\"a\" : [1.0e0, {\"dead_letter\":1}] \n} ",
            r#"{"n":12345678901234567890,"n":-1e400,"job":"urn:x","job":"urn:y"}"#,
            r#"{"a":"\ud83d\ude00 \\ud800 \\\\udc00 \"\u00e9"}"#,
            r#"{"raw":"x","raw_encoding":"base64","Dead_letter":1,"timestamp":1}"#,
        ] {
            let dead = dead(body.as_bytes());
            assert_eq!(dead.replace(&added(), ""), body);
            serde_json::from_str::<serde::de::IgnoredAny>(&dead).unwrap();
        }
    }

    #[test]
    fn an_object_without_members_gets_its_first() {
        let first = &added()[1..];
        assert_eq!(dead(b"{}"), format!("{{{first}}}"));
        assert_eq!(dead(b" { } "), format!(" {{{first} }} "));
    }

    #[test]
    fn other_text_becomes_a_string() {
        for body in [
            "",
            " ",
            "null",
            "5",
            "\"x\"",
            "[{}]",
            "{",
            "{\"a\":NaN}",
            "{}{}",
            "\u{feff}{}",
            "\0 \u{7f} \u{2028} \\ \u{fffd}",
        ] {
            is_wrapped(body.as_bytes(), &json!({ "raw": body }));
        }
    }

    #[test]
    fn an_object_that_has_a_block_becomes_a_string() {
        for body in [r#"{"dead_letter":null}"#, r#"{"a":1,"dead\u005fletter":{},"b":2}"#] {
            is_wrapped(body.as_bytes(), &json!({ "raw": body }));
        }
    }

    #[test]
    fn an_object_with_half_of_a_surrogate_pair_becomes_a_string() {
        for half in [
            r"\ud800",
            r"\uDBFF",
            r"\udc00",
            r"\udfff",
            r"\ud800x\udc00",
            r"\ud800\n\udc00",
            r"\ud800\\udc00",
            r"\ud800\u0041",
            r"\ud800\ud800\udc00",
            r"\ud83d\ude00\ude00",
            r"\\\ud800",
            r"\ud83d\ude00 \ud800",
        ] {
            for body in [format!(r#"{{"a":[{{"b":"{half}"}}]}}"#), format!(r#"{{"{half}":1}}"#)] {
                is_wrapped(body.as_bytes(), &json!({ "raw": body }));
            }
        }
        // Two halves in two strings are no pair.
        let body = r#"["\ud800","\udc00"]"#;
        assert!(has_half_of_a_pair(body));
        is_wrapped(format!(r#"{{"a":{body}}}"#).as_bytes(), &json!({ "raw": format!(r#"{{"a":{body}}}"#) }));
    }

    #[test]
    fn bytes_that_are_no_text_become_base64() {
        for (body, base64) in [
            (&b"\xff"[..], "/w=="),
            (b"\xe2\x82", "4oI="),
            (b"\xff\xfe\xfd", "//79"),
            (b"{\"a\":\"\xff\"}", "eyJhIjoi/yJ9"),
        ] {
            is_wrapped(body, &json!({ "raw": base64, "raw_encoding": "base64" }));
        }
    }

    #[test]
    fn two_hundred_thousand_arrays_do_not_overflow_the_stack() {
        let body = format!(r#"{{"a":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(dead(body.as_bytes()).replace(&added(), ""), body);
    }
}
