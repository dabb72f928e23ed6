//! Whether two JSON texts are the same value. Numbers are compared as they are written, by value: no number type is
//! between them and the comparison.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::value::RawValue;

/// Whether both texts are the same JSON value: members in any order, numbers by their exact value.
///
/// # Errors
/// If a text is not JSON.
pub(super) fn equal(left: &str, right: &str) -> Result<bool> {
    Ok(parse(left)? == parse(right)?)
}

#[derive(Debug, PartialEq, Eq)]
enum Json {
    /// `null`, `true` or `false`.
    Word(String),
    Number(Number),
    String(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

fn parse(text: &str) -> Result<Json> {
    let raw: &RawValue = serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))?;
    read(raw)
}

fn read(raw: &RawValue) -> Result<Json> {
    let text = raw.get();
    Ok(match text.as_bytes() {
        [b'{', ..] => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let members = members.into_iter().map(|(name, member)| Ok((name, read(member)?)));
            Json::Object(members.collect::<Result<_>>()?)
        }
        [b'[', ..] => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            Json::List(items.into_iter().map(read).collect::<Result<_>>()?)
        }
        [b'"', ..] => Json::String(serde_json::from_str(text)?),
        [b'-' | b'0'..=b'9', ..] => Json::Number(Number::read(text)),
        _ => Json::Word(text.to_owned()),
    })
}

/// A decimal number: the digits, without zeros on either side, times ten to the exponent.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    negative: bool,
    digits: String,
    exponent: i128,
}

impl Number {
    /// `text` is a JSON number.
    fn read(text: &str) -> Self {
        let negative = text.starts_with('-');
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        let zeros = digits.len() - significant.len();
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        // An exponent that is too long for this has no equal in another spelling that anybody writes.
        let Ok(exponent) = exponent.parse::<i64>() else {
            return Self { negative, digits: unsigned.to_owned(), exponent: 0 };
        };
        let shift = zeros as i128 - fraction.len() as i128;
        Self { negative, digits: significant.to_owned(), exponent: i128::from(exponent) + shift }
    }
}

#[cfg(test)]
mod tests {
    use super::equal;

    #[track_caller]
    fn check(left: &str, right: &str, expected: bool) {
        assert_eq!(equal(left, right).unwrap(), expected, "{left} {right}");
        assert_eq!(equal(right, left).unwrap(), expected, "{right} {left}");
    }

    #[test]
    fn numbers_are_equal_by_value_whatever_their_spelling() {
        for (left, right) in [
            ("1.0", "1"),
            ("1e2", "100"),
            ("1E+2", "100.00"),
            ("0.5e1", "5"),
            ("-0", "0"),
            ("-0.0", "0e5"),
            ("0.001", "1e-3"),
            ("1200e-2", "12"),
            (
                "12345678910111213141516171819202122232425262728293031",
                "1.2345678910111213141516171819202122232425262728293031e52",
            ),
            ("1e99999999999999999999", "1e99999999999999999999"),
        ] {
            check(left, right, true);
        }
    }

    #[test]
    fn numbers_that_are_one_double_differ() {
        for (left, right) in [
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1", "-1"),
            ("1", "10"),
            ("1e400", "1e401"),
            ("1e99999999999999999999", "1e99999999999999999998"),
        ] {
            check(left, right, false);
        }
    }

    #[test]
    fn members_have_no_order_and_items_have_one() {
        check(r#"{"a":1,"b":[true,null]}"#, r#" { "b" : [ true , null ] , "a" : 1.0 } "#, true);
        check("[1,2]", "[2,1]", false);
        check(r#"{"a":null}"#, "{}", false);
    }

    #[test]
    fn strings_are_equal_by_their_characters_and_kinds_differ() {
        check(r#""\u00e9\/""#, r#""é/""#, true);
        check(r#""é""#, r#""e\u0301""#, false);
        for (left, right) in [("1", r#""1""#), ("0", "false"), ("null", r#""null""#), ("[]", "{}"), ("true", "false")] {
            check(left, right, false);
        }
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", "1 2", "nul", "01"] {
            assert!(equal(text, "1").is_err(), "{text}");
        }
    }
}
