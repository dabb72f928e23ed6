//! Whether two JSON texts are the same value. Numbers are compared as they are written, by value: no number type is
//! between them and the comparison.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde_json::value::RawValue;

/// The first difference between two JSON texts, in words; none if they are the same value: members in any order, numbers
/// by their exact value.
///
/// # Errors
/// If a text is not JSON.
pub(super) fn difference(before: &str, after: &str) -> Result<Option<String>> {
    Ok(compare("", &parse(before)?, &parse(after)?))
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

fn compare(at: &str, before: &Json, after: &Json) -> Option<String> {
    match (before, after) {
        (Json::Object(before), Json::Object(after)) => {
            let lost = before.iter().find_map(|(name, member)| match after.get(name) {
                Some(present) => compare(&format!("{at}/{name}"), member, present),
                None => Some(format!("{at}/{name} is lost")),
            });
            lost.or_else(|| {
                let new = after.keys().find(|name| !before.contains_key(*name))?;
                Some(format!("{at}/{new} is new"))
            })
        }
        (Json::List(before), Json::List(after)) if before.len() == after.len() => {
            let items = before.iter().zip(after).enumerate();
            items.into_iter().find_map(|(index, (before, after))| compare(&format!("{at}/{index}"), before, after))
        }
        _ if before == after => None,
        _ => Some(format!("{at} was {before} and is {after}")),
    }
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
        [b'-' | b'0'..=b'9', ..] => Json::Number(Number { text: text.to_owned(), value: Decimal::read(text) }),
        _ => Json::Word(text.to_owned()),
    })
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => f.write_str(text),
            Self::Number(number) => f.write_str(&number.text),
            Self::String(text) => write!(f, "{text:?}"),
            Self::List(items) => write!(f, "a list of {}", items.len()),
            Self::Object(_) => f.write_str("an object"),
        }
    }
}

/// A number as it is written, equal to others by its value.
#[derive(Debug)]
struct Number {
    text: String,
    value: Decimal,
}

/// The digits, without zeros on either side, times ten to the exponent.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Number {}

impl Decimal {
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
    use super::difference;

    #[track_caller]
    fn check(left: &str, right: &str, expected: bool) {
        assert_eq!(difference(left, right).unwrap().is_none(), expected, "{left} {right}");
        assert_eq!(difference(right, left).unwrap().is_none(), expected, "{right} {left}");
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
            assert!(difference(text, "1").is_err(), "{text}");
        }
    }

    #[test]
    fn a_difference_is_told_with_its_place() {
        for (before, after, told) in [
            ("1.50", "2", " was 1.50 and is 2"),
            (r#"{"a":[1,{"b":"x"}]}"#, r#"{"a":[1,{"b":null}]}"#, r#"/a/1/b was "x" and is null"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"c":1}"#, "/a is lost"),
            (r#"{"a":1}"#, r#"{"a":1,"b":{}}"#, "/b is new"),
            ("[1,2]", "[1]", " was a list of 2 and is a list of 1"),
            ("{}", "[]", " was an object and is a list of 0"),
        ] {
            assert_eq!(difference(before, after).unwrap().unwrap(), told);
        }
    }
}
