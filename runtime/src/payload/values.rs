//! How enums are read and written: types whose values are all known.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer, Serialize, Serializer,
    de::{self, Visitor},
    ser,
};
use serde_json::value::RawValue;

use super::rules;
use crate::json;

/// An enum whose values are all strings.
pub trait Strings: Sized {
    /// All values.
    const ALL: &'static [&'static str];

    /// The variant of a value.
    fn of(text: &str) -> Option<Self>;
}

/// An enum of any JSON values.
pub trait Values: Copy + 'static {
    /// All variants and their values.
    const ALL: &'static [(Self, &'static str)];
}

/// Reads one of the known strings.
///
/// # Errors
///
/// The value is another one.
pub fn read_string<'de, T: Strings, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_str(StringVisitor(PhantomData))
}

struct StringVisitor<T>(PhantomData<T>);

impl<T: Strings> Visitor<'_> for StringVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", rules::listed(T::ALL))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::of(text).ok_or_else(|| unknown(text, T::ALL))
    }
}

/// Reads one of the known JSON values.
///
/// # Errors
///
/// The value is another one.
pub fn read_value<'de, T: Values, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = json::text(deserializer)?;
    let exact = T::ALL.iter().find(|(_, value)| *value == text);
    let found = exact.or_else(|| T::ALL.iter().find(|(_, value)| json::equal(value, &text)));
    found.map(|(variant, _)| *variant).ok_or_else(|| {
        let values: Vec<_> = T::ALL.iter().map(|(_, value)| *value).collect();
        unknown(&text, &values)
    })
}

/// Writes JSON text as the value that it is.
///
/// # Errors
///
/// The serializer's own.
pub fn write_value<S: Serializer>(serializer: S, json: &'static str) -> Result<S::Ok, S::Error> {
    let value: &RawValue = serde_json::from_str(json).map_err(ser::Error::custom)?;
    value.serialize(serializer)
}

fn unknown<E: de::Error>(value: &str, known: &[&str]) -> E {
    E::custom(format_args!("unknown value `{}`, expected one of {}", rules::cut(value), rules::listed(known)))
}

/// Implements serde's traits for an enum by the table of its values: `strings { Variant = "text" }`, which gives `as_str`
/// and `Display` too, or `json { Variant = "JSON text" }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __values {
    ($name:ident strings { $($variant:ident = $text:literal),* $(,)? }) => {
        impl $name {
            /// The value as JSON has it.
            #[must_use]
            #[allow(unreachable_pub)]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::private::Strings for $name {
            const ALL: &'static [&'static str] = &[$($text),*];

            fn of(text: &str) -> ::core::option::Option<Self> {
                match text {
                    $($text => ::core::option::Option::Some(Self::$variant),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        $crate::__values!(@serde $name read_string, |value, serializer| {
            $crate::private::serde::Serializer::serialize_str(serializer, value.as_str())
        });
    };

    ($name:ident json { $($variant:ident = $json:literal),* $(,)? }) => {
        impl $crate::private::Values for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $json)),*];
        }

        $crate::__values!(@serde $name read_value, |value, serializer| {
            $crate::private::write_value(serializer, match value {
                $($name::$variant => $json,)*
            })
        });
    };

    (@serde $name:ident $read:ident, |$value:ident, $serializer:ident| $write:block) => {
        $crate::__read!($name $read);

        impl $crate::private::serde::Serialize for $name {
            fn serialize<__S: $crate::private::serde::Serializer>(
                &self,
                $serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                let $value = *self;
                $write
            }
        }
    };
}

pub use __values as values;

#[cfg(test)]
mod tests {
    use super::values;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Currency {
        Eur,
        Quoted,
    }

    values! {
        Currency strings {
            Eur = "EUR",
            Quoted = "a\"\\",
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Level {
        Null,
        One,
        Text,
        Yes,
        Object,
    }

    values! {
        Level json {
            Null = "null",
            One = "1",
            Text = "\"1\"",
            Yes = "true",
            Object = "{\"a\":[1.50]}",
        }
    }

    #[test]
    fn strings_are_read_and_written_exactly() {
        for (value, json, text) in [(Currency::Eur, r#""EUR""#, "EUR"), (Currency::Quoted, r#""a\"\\""#, "a\"\\")] {
            assert_eq!(serde_json::from_str::<Currency>(json).unwrap(), value);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!((value.as_str(), value.to_string().as_str()), (text, text));
        }
        assert_eq!(serde_json::from_str::<Currency>(r#""\u0045UR""#).unwrap(), Currency::Eur);
    }

    #[test]
    fn another_value_is_refused_and_the_known_ones_are_named() {
        let error = |text: &str| serde_json::from_str::<Currency>(text).unwrap_err().to_string();
        assert!(
            error(r#""GBP""#).starts_with(r#"unknown value `GBP`, expected one of `EUR`, `a"\\`"#),
            "{}",
            error(r#""GBP""#)
        );
        // Serde's own enums take this one.
        assert!(error(r#"{"EUR":null}"#).starts_with("invalid type: map, expected one of `EUR`"));
        assert!(error("null").starts_with("invalid type: null"));
        let error = serde_json::from_str::<Level>("2").unwrap_err().to_string();
        assert!(
            error.starts_with(r#"unknown value `2`, expected one of `null`, `1`, `"1"`, `true`, `{"a":[1.50]}`"#),
            "{error}"
        );
    }

    #[test]
    fn values_of_any_kind_keep_their_kind() {
        for (value, json) in [
            (Level::Null, "null"),
            (Level::One, "1"),
            (Level::Text, "\"1\""),
            (Level::Yes, "true"),
            (Level::Object, r#"{"a":[1.50]}"#),
        ] {
            assert_eq!(serde_json::from_str::<Level>(json).unwrap(), value);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
        assert_eq!(serde_json::from_str::<Level>("1.0").unwrap(), Level::One);
        assert_eq!(serde_json::from_str::<Level>(r#"{"a" : [15e-1]}"#).unwrap(), Level::Object);
    }
}
