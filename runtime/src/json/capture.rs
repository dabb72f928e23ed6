//! The text of a value, from the deserializer that is about to read it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::{RawValue, to_raw_value};

/// How `serde_json` names a struct that asks for the text of a value. Other deserializers take it for a struct around one
/// value.
const TOKEN: &str = "$serde_json::private::RawValue";

/// The text of the value; borrowed, if the deserializer reads from text in memory.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    deserializer.deserialize_newtype_struct(TOKEN, Text)
}

/// The text of the value in a place of its own.
pub(super) fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    deserializer.deserialize_newtype_struct(TOKEN, Raw)
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        match map.next_key_seed(Spelling)? {
            Some(name) if name == TOKEN => map.next_value_seed(Spelling),
            _ => Err(A::Error::custom("expected any JSON value")),
        }
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        serde_json::Value::deserialize(deserializer).map(|value| Cow::Owned(value.to_string()))
    }
}

struct Raw;

impl<'de> Visitor<'de> for Raw {
    type Value = Box<RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Box::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        to_raw_value(&serde_json::Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A string, borrowed where it can be.
struct Spelling;

impl<'de> DeserializeSeed<'de> for Spelling {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Spelling {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Captured(String);

    impl<'de> Deserialize<'de> for Captured {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = text(deserializer)?;
            Ok(Self(text.into_owned()))
        }
    }

    #[derive(Deserialize)]
    struct Flat {
        #[serde(flatten)]
        members: BTreeMap<String, Captured>,
    }

    #[test]
    fn the_text_is_that_of_the_source() {
        let json = r#"{"a": 1.50, "b":[ "x" , {"y":1e2} ]}"#;
        let captured: BTreeMap<String, Captured> = serde_json::from_str(json).unwrap();
        assert_eq!((captured["a"].0.as_str(), captured["b"].0.as_str()), ("1.50", r#"[ "x" , {"y":1e2} ]"#));
        let captured: BTreeMap<String, Captured> = serde_json::from_reader(json.as_bytes()).unwrap();
        assert_eq!(captured["a"].0, "1.50");
        assert!(matches!(text(&mut serde_json::Deserializer::from_str("[1]")), Ok(Cow::Borrowed("[1]"))));
    }

    #[test]
    fn where_there_is_no_text_it_is_written_anew() {
        let value = serde_json::json!({"a": [1, "x"]});
        assert_eq!(serde_json::from_value::<Captured>(value).unwrap().0, r#"{"a":[1,"x"]}"#);
        let flat: Flat = serde_json::from_str(r#"{"a": {"b": [1.5,null]}, "c": {}}"#).unwrap();
        assert_eq!((flat.members["a"].0.as_str(), flat.members["c"].0.as_str()), (r#"{"b":[1.5,null]}"#, "{}"));
    }
}
