//! A walk over text that is known to be JSON: without a copy, without recursion, and without a panic on any other text.

use std::{borrow::Cow, iter};

use super::number::Number;

/// What a JSON value is. Whether a number has a fraction is told by its value: `1.0` has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number with a fraction.
    Fraction,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind of the value `text`.
    pub(crate) fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'"') => Self::String,
            Some(b'[') => Self::Array,
            Some(b'{') => Self::Object,
            _ if Number::parse(text).is_none_or(Number::is_integer) => Self::Integer,
            _ => Self::Fraction,
        }
    }

    /// The kind in the words of an error.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Fraction => "a number with a fraction",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// The elements of an array; none of any other value.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    let mut at = if text.starts_with('[') { 1 } else { text.len() };
    iter::from_fn(move || {
        let start = next(text, at)?;
        at = end(text, start);
        text.get(start..at)
    })
}

/// The members of an object, each with its name as it is spelled, in quotes, and its value; none of any other value.
pub(crate) fn members(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = if text.starts_with('{') { 1 } else { text.len() };
    iter::from_fn(move || {
        let start = next(text, at)?;
        let colon = end(text, start);
        let value = next(text, colon)?;
        at = end(text, value);
        Some((text.get(start..colon)?, text.get(value..at)?))
    })
}

/// The text of a string or name as it is spelled. `None` if an escape in it stands for no character.
pub(crate) fn unquote(spelled: &str) -> Option<Cow<'_, str>> {
    let inner = spelled.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
    if inner.contains('\\') { serde_json::from_str(spelled).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// The numbers at any depth.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            let start = at;
            let byte = text.as_bytes().get(at)?;
            at = match byte {
                b'"' => end(text, at),
                b'-' | b'0'..=b'9' => {
                    at = scalar_end(text.as_bytes(), at);
                    return text.get(start..at);
                }
                _ => at + 1,
            };
        }
    })
}

/// How many arrays and objects stand inside each other.
pub(crate) fn nesting(text: &str) -> usize {
    let (mut at, mut open, mut deepest) = (0, 0_usize, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => {
                at = end(text, at);
                continue;
            }
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
        at += 1;
    }
    deepest
}

/// Where the next value or name begins; `None` at the end of the array or object.
pub(super) fn next(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    let at = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':'))?;
    (!matches!(rest.get(at), Some(b']' | b'}'))).then_some(from + at)
}

/// Where the value or name that begins at `start` ends.
pub(super) fn end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut open) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'[' | b'{' => {
                open += 1;
                at += 1;
            }
            b']' | b'}' => {
                open = open.saturating_sub(1);
                at += 1;
            }
            _ if open > 0 => {
                at += 1;
                continue;
            }
            _ => at = scalar_end(bytes, at),
        }
        if open == 0 {
            break;
        }
    }
    at
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

pub(super) fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let after = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b']' | b'}');
    let rest = bytes.get(start + 1..).unwrap_or_default();
    start + 1 + rest.iter().position(after).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_members_are_found_whatever_they_hold() {
        let text = r#"[ 1 ,"a,]\"",{"x":[1,2],"y":{}},[],null , -1.5e3]"#;
        let found: Vec<_> = items(text).collect();
        assert_eq!(found, ["1", r#""a,]\"""#, r#"{"x":[1,2],"y":{}}"#, "[]", "null", "-1.5e3"]);
        let text = "{\"a\" : 1,\n\"b}\\\\\":[{\"c\":\"}\"}] , \"\":true}";
        let found: Vec<_> = members(text).collect();
        assert_eq!(found, [("\"a\"", "1"), (r#""b}\\""#, r#"[{"c":"}"}]"#), ("\"\"", "true")]);
        let found: Vec<_> = numbers(r#"[1,{"2":-3.5e1,"b":["4",5 ]},true]"#).collect();
        assert_eq!(found, ["1", "-3.5e1", "5"]);
        assert_eq!(items("[ ]").count() + items("{}").count() + members("[1]").count() + members("3").count(), 0);
    }

    #[test]
    fn nesting_counts_what_is_open_and_not_what_is_in_strings() {
        assert_eq!(nesting(r#"[{"a":[1]},[[]],"[[[[[[", {"b{{{{{":1}]"#), 3);
        assert_eq!(nesting("1"), 0);
        assert_eq!(nesting(&"[".repeat(1_000_000)), 1_000_000);
    }

    #[test]
    fn a_number_has_a_fraction_by_its_value() {
        assert_eq!(Kind::of("1.0"), Kind::Integer);
        assert_eq!(Kind::of("15e-1"), Kind::Fraction);
        assert_eq!(Kind::of("-0.0"), Kind::Integer);
    }

    #[test]
    fn no_text_at_all_makes_it_panic_or_run_for_ever() {
        for text in [
            "", "[", "{", "[,", "{\"a", "{\"a\"", "{\"a\":", "[\"\\", "é", "[é", "{é:é}", "]", "[1", "\"é\\", "[\u{80}",
        ] {
            items(text).count();
            members(text).count();
            numbers(text).count();
            nesting(text);
            Kind::of(text);
            unquote(text);
        }
    }
}
