//! JSON values that are kept as they are written, and what it takes to look at such text.

mod capture;
mod equality;
mod finite;
mod number;
mod walk;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::Error as _};
use serde_json::value::{RawValue, to_raw_value};

pub use self::walk::Kind;
pub(crate) use self::{
    capture::text,
    equality::{canonical, equal},
    finite::Finite,
    number::Number,
    walk::{items, members, nesting, unquote},
};

/// Any JSON value, kept as it is written: digits of numbers, order of members and spaces are those of the source.
///
/// Generated contracts use it for what a schema leaves open. Two of them are equal when they are one value: numbers are
/// compared by value, whatever their size (`1` is `1.0`), and members in any order.
///
/// ```
/// use babelqueue::Json;
///
/// let price: Json = serde_json::from_str("1250.00")?;
/// assert_eq!(price.as_str(), "1250.00");
/// assert_eq!(price, Json::of(&1250)?);
/// assert_eq!(price.parse::<f64>()?, 1250.0);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// `value` as JSON.
    ///
    /// # Errors
    ///
    /// The value does not serialize, or holds a number that JSON does not have, such as NaN.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        let mut text = Vec::new();
        value.serialize(Finite(&mut serde_json::Serializer::new(&mut text)))?;
        let text = String::from_utf8(text).map_err(serde_json::Error::custom)?;
        RawValue::from_string(text).map(Self)
    }

    /// Reads the value as a `T`.
    ///
    /// # Errors
    ///
    /// The value is no `T`, or nests deeper than 128 levels.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// The text of the value, as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

/// Null.
impl Default for Json {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        // A JSON value is always JSON text.
        to_raw_value(&value).map(Self).unwrap_or_default()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        equal(self.as_str(), other.as_str())
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        capture::raw(deserializer).map(Self)
    }
}

/// Any value.
#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Json {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_spelling_survives_reading_and_writing() {
        let text = r#"{"a":1.50,"b":123456789012345678901234567890,"c":[ -0.0 , "\u0041"],"d":1e400}"#;
        let members: BTreeMap<String, Json> = serde_json::from_str(text).unwrap();
        assert_eq!(members["b"].as_str(), "123456789012345678901234567890");
        assert_eq!(serde_json::to_string(&members).unwrap(), text);
        assert_eq!(read(" [1.0 ] ").to_string(), "[1.0 ]");
        assert_eq!(format!("{:?}", read("1.0")), "Json(1.0)");
    }

    #[test]
    fn values_are_equal_by_value_and_not_by_text() {
        assert_eq!(read(r#"{"a":1,"b":[2.0]}"#), read(r#"{"b":[2],"a":1e0}"#));
        assert_ne!(read("123456789012345678901234567890"), read("123456789012345678901234567891"));
        assert_ne!(read("1"), read("true"));
    }

    #[test]
    fn values_of_other_types_become_json_and_come_back() {
        assert_eq!(Json::default(), Json::from(json!(null)));
        assert_eq!(Json::from(json!({"a": [1, "x"]})).as_str(), r#"{"a":[1,"x"]}"#);
        assert_eq!(Json::of(&("x", 1.5)).unwrap().parse::<(String, f64)>().unwrap(), ("x".to_owned(), 1.5));
        assert_eq!(serde_json::to_value(read("[1,null]")).unwrap(), json!([1, null]));
        assert!(read("1").parse::<String>().is_err());
    }

    #[test]
    fn a_number_that_json_does_not_have_is_no_value() {
        assert!(Json::of(&f64::NAN).is_err());
        assert!(Json::of(&[f32::INFINITY]).is_err());
    }

    #[test]
    fn a_value_of_any_depth_is_kept_and_compared_without_the_stack() {
        let deep = |levels: usize| read(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
        assert_eq!(deep(1_000_000), deep(1_000_000));
        assert!(deep(200).parse::<serde_json::Value>().is_err());
    }
}
