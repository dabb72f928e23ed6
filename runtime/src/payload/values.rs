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
        impl $crate::private::Decode<$name> for $crate::private::Own {
            fn read<'de, D: $crate::private::serde::Deserializer<'de>>(
                deserializer: D,
                _: $crate::private::Rules,
            ) -> ::core::result::Result<$name, D::Error> {
                $crate::private::$read(deserializer)
            }

            fn by_text(rules: $crate::private::Rules) -> bool {
                !rules.is_empty()
            }
        }

        impl<'de> $crate::private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::private::$read(deserializer)
            }
        }

        impl $crate::private::serde::Serialize for $name {
            fn serialize<S: $crate::private::serde::Serializer>(
                &self,
                $serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let $value = *self;
                $write
            }
        }
    };
}
