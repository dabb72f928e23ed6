//! JSON values that schemas name: in `enum`, in `const`, as defaults.

use std::fmt::Write as _;

use super::Decimal;
use crate::json::{Json, Value};
use crate::model::Kinds;

/// A JSON value. Two are equal when JSON Schema says so: `1` and `1.0`, and objects whatever the order of their members.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    /// Compact text, numbers as they are spelled.
    pub(crate) json: String,
    pub(crate) kind: Kinds,
    /// A text that equal values share.
    normal: String,
}

impl Literal {
    pub(crate) fn of(json: &Json) -> Self {
        let mut text = String::new();
        write(json, false, &mut text);
        let mut normal = String::new();
        write(json, true, &mut normal);
        Self { json: text, kind: Self::kind_of(json), normal }
    }

    /// The kind of a value.
    pub(crate) fn kind_of(json: &Json) -> Kinds {
        match &json.value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            Value::Number(text) if is_whole(text) => Kinds::INTEGER,
            Value::Number(_) => Kinds::FRACTION,
            Value::String(_) => Kinds::STRING,
            Value::Array(_) => Kinds::ARRAY,
            Value::Object(_) => Kinds::OBJECT,
        }
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.normal == other.normal
    }
}

fn write(json: &Json, normal: bool, out: &mut String) {
    match &json.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        // Numbers beyond all bounds are equal when they are spelled alike.
        Value::Number(text) => match Decimal::parse(text).filter(|_| normal) {
            Some(number) => drop(write!(out, "{number}")),
            None => out.push_str(text),
        },
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, out);
                write(item, normal, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if normal {
                members.sort_by(|a, b| a.0.cmp(b.0));
            }
            out.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                separate(index, out);
                string(name, out);
                out.push(':');
                write(&member.json, normal, out);
            }
            out.push('}');
        }
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn string(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// Whether a JSON number has no fraction, however it is spelled.
fn is_whole(text: &str) -> bool {
    Decimal::parse(text).map_or_else(|| !text.contains("e-") && !text.contains("E-"), |number| number.is_whole())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Literal {
        Literal::of(&crate::json::parse(text).expect("JSON"))
    }

    #[test]
    fn numbers_are_equal_by_value_and_keep_their_spelling() {
        for (a, b) in [("1", "1.0"), ("100", "1e2"), ("0", "-0.0"), ("0.5", "5e-1"), ("1e400", "10e399")] {
            assert_eq!(literal(a), literal(b), "{a} {b}");
        }
        for (a, b) in [("1", "1.1"), ("1", "-1"), ("1", "true"), ("10", "1"), ("9007199254740993", "9007199254740992")]
        {
            assert_ne!(literal(a), literal(b), "{a} {b}");
        }
        assert_eq!(literal("[ 1.0 ]").json, "[1.0]");
    }

    #[test]
    fn objects_are_equal_whatever_the_order_of_their_members() {
        assert_eq!(literal(r#"{"a":1,"b":[2]}"#), literal(r#"{"b":[2.0],"a":1}"#));
        assert_eq!(literal(r#"{"b":1,"a":"\u00e9"}"#).json, "{\"b\":1,\"a\":\"é\"}");
    }

    #[test]
    fn a_number_is_whole_by_its_value() {
        for whole in ["1", "1.0", "1e2", "12.5e1", "0e-7"] {
            assert_eq!(literal(whole).kind, Kinds::INTEGER, "{whole}");
        }
        for fraction in ["1.5", "1e-1", "12.5e0"] {
            assert_eq!(literal(fraction).kind, Kinds::FRACTION, "{fraction}");
        }
    }
}
