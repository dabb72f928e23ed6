//! Integers, numbers and string enums.

use super::Lowering;
use crate::json::{Json, Value};
use crate::model::{Integer, Kind, Type, Variant};
use crate::resolve::Location;

/// The Rust type of each integer `format`.
const INTEGERS: &[(&str, Integer)] = &[
    ("int8", Integer { name: "i8", min: i8::MIN as i128, max: i8::MAX as i128 }),
    ("int16", Integer { name: "i16", min: i16::MIN as i128, max: i16::MAX as i128 }),
    ("int32", Integer { name: "i32", min: i32::MIN as i128, max: i32::MAX as i128 }),
    ("int64", I64),
    ("uint8", Integer { name: "u8", min: 0, max: u8::MAX as i128 }),
    ("uint16", Integer { name: "u16", min: 0, max: u16::MAX as i128 }),
    ("uint32", Integer { name: "u32", min: 0, max: u32::MAX as i128 }),
    ("uint64", Integer { name: "u64", min: 0, max: u64::MAX as i128 }),
];

const I64: Integer = Integer { name: "i64", min: i64::MIN as i128, max: i64::MAX as i128 };

/// The enum of `values`, each once.
pub(super) fn string_enum(values: Vec<String>) -> Kind {
    let mut variants: Vec<Variant> = Vec::new();
    for wire in values {
        let json = quoted(&wire);
        if !variants.iter().any(|variant| variant.json == json) {
            variants.push(Variant { json, name: String::new() });
        }
    }
    Kind::Enum(variants)
}

/// `text` as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Lowering<'_> {
    pub(super) fn integer(&mut self, at: &Location, json: &Json) -> Option<Type> {
        let Some(format) = json.get("format") else { return Some(Type::Integer(I64)) };
        let known = INTEGERS.iter().find(|(name, _)| format.as_str() == Some(name));
        match known {
            Some((_, integer)) => Some(Type::Integer(*integer)),
            None => {
                let names: Vec<_> = INTEGERS.iter().map(|(name, _)| format!("`{name}`")).collect();
                let reason = format!("the format of an integer must be one of {}", names.join(", "));
                self.report(&at.join("format"), reason)
            }
        }
    }

    pub(super) fn number(&mut self, at: &Location, json: &Json) -> Option<Type> {
        match json.get("format").map(Json::as_str) {
            None | Some(Some("double")) => Some(Type::F64),
            Some(Some("float")) => Some(Type::F32),
            Some(_) => self.report(&at.join("format"), "the format of a number must be `float` or `double`"),
        }
    }

    /// The strings of an `enum`, and whether null is among its values.
    pub(super) fn enum_values(&mut self, at: &Location, json: &Json) -> Option<(Vec<String>, bool)> {
        let place = at.join("enum");
        let Some(list) = json.get("enum").and_then(Json::as_array) else {
            return self.report(&place, "`enum` must be a list");
        };
        let mut values = Vec::new();
        let mut null = false;
        for value in list {
            match &value.value {
                Value::String(text) => values.push(text.clone()),
                Value::Null => null = true,
                _ => return self.report(&place, "an `enum` of other values than strings is not supported yet"),
            }
        }
        if values.is_empty() {
            return self.report(&place, "an `enum` without a string is not supported yet");
        }
        Some((values, null))
    }
}
