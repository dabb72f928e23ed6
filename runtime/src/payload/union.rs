//! How unions are read: a value is looked at first, and then read as the form that it has.

use serde::{Deserializer, de::Error};

use super::{
    decode::Decode,
    nested,
    rules::{self, Rules},
};
use crate::json::{self, Kind};

/// A union whose table [`union!`](crate::__union) has read.
pub trait Union: Sized + 'static {
    /// All forms.
    const FORMS: &'static [Form<Self>];
}

/// One form of a union.
#[derive(Debug)]
pub struct Form<T: 'static> {
    /// The name of the variant.
    pub name: &'static str,
    /// The kinds of values that have this form.
    pub kinds: &'static [Kind],
    /// A member, and the values (as JSON) that it has in objects of this form.
    pub tag: Option<(&'static str, &'static [&'static str])>,
    /// Reads the text of a value.
    pub read: fn(&str) -> Result<T, String>,
}

/// Reads `text` in the way `C`, for [`Form::read`].
///
/// # Errors
///
/// The value does not fit.
pub fn read_form<C: Decode<T>, T>(text: &str, rules: Rules) -> Result<T, String> {
    nested::decode::<C, T>(text, rules)
}

/// Reads a value as the first form that takes it, of those whose kind and tag it has.
///
/// # Errors
///
/// There is none.
pub fn read_union<'de, T: Union, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = json::text(deserializer)?;
    choose(&text).map_err(D::Error::custom)
}

fn choose<T: Union>(text: &str) -> Result<T, String> {
    let kind = Kind::of(text);
    let mut tag = Tag { object: text, last: None };
    let mut failures = Vec::new();
    for form in T::FORMS {
        if !form.kinds.contains(&kind) {
            continue;
        }
        // Where the tag is missing, it is for the form to say whether it may be.
        if let (Kind::Object, Some((name, values))) = (kind, form.tag)
            && !tag.value(name).is_none_or(|value| values.iter().any(|known| json::equal(known, value)))
        {
            continue;
        }
        match (form.read)(text) {
            Ok(value) => return Ok(value),
            Err(error) => failures.push((form.name, error)),
        }
    }
    Err(match failures.as_slice() {
        [] => no_form::<T>(kind, text, &mut tag),
        several if several.len() > 1 && tag.is_missing() => no_form::<T>(kind, text, &mut tag),
        [(_, error)] => error.clone(),
        several => {
            let reasons: Vec<_> = several.iter().map(|(name, error)| format!("{name}: {}", short(error))).collect();
            format!("the value has none of the forms it may have ({})", reasons.join("; "))
        }
    })
}

/// Says what was expected of a value that no form is for.
fn no_form<T: Union>(kind: Kind, text: &str, tag: &mut Tag<'_>) -> String {
    let tags = || T::FORMS.iter().filter(|form| form.kinds.contains(&kind)).filter_map(|form| form.tag);
    let Some((name, _)) = tags().next() else {
        let mut kinds: Vec<Kind> = Vec::new();
        let all = T::FORMS.iter().flat_map(|form| form.kinds);
        all.for_each(|kind| {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        });
        return rules::expected(&kinds, text);
    };
    let known: Vec<&str> = tags().filter(|(other, _)| *other == name).flat_map(|(_, values)| values).copied().collect();
    let (value, name, known) = (tag.value(name), name.escape_debug(), rules::listed(&known));
    match value {
        Some(value) => format!("the member `{name}` is `{}`, expected one of {known}", rules::cut(value)),
        None => format!("missing member `{name}`, expected one of {known}"),
    }
}

/// The tag of an object; forms mostly share one.
struct Tag<'a> {
    object: &'a str,
    last: Option<(&'static str, Option<&'a str>)>,
}

impl<'a> Tag<'a> {
    /// Whether it was looked for, and is not there.
    fn is_missing(&self) -> bool {
        matches!(self.last, Some((_, None)))
    }

    /// The value of the member `name`.
    fn value(&mut self, name: &'static str) -> Option<&'a str> {
        if let Some((last, value)) = self.last
            && last == name
        {
            return value;
        }
        let found = json::members(self.object)
            .find(|(spelled, _)| json::unquote(spelled).is_some_and(|spelled| spelled == name))
            .map(|(_, value)| value);
        self.last = Some((name, found));
        found
    }
}

/// One of several reasons.
fn short(reason: &str) -> String {
    const CHARACTERS: usize = 120;
    let cut: String = reason.chars().take(CHARACTERS).collect();
    if cut.len() < reason.len() { cut + "…" } else { cut }
}

/// Implements serde's traits for a union by the table of its forms: `Variant: Kind | Kind where "member" in ["JSON"] as
/// way [rules]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __union {
    (
        $name:ident {
            $(
                $variant:ident: $($kind:ident)|+ $(where $tag:literal in [$($value:literal),* $(,)?])?
                    $(as $way:ty)? $([$($rule:tt)*])?
            ),* $(,)?
        }
    ) => {
        impl $crate::private::Union for $name {
            const FORMS: &'static [$crate::private::Form<Self>] = &[$($crate::private::Form {
                name: ::core::stringify!($variant),
                kinds: &[$($crate::private::Kind::$kind),+],
                tag: $crate::__union!(@tag $($tag [$($value),*])?),
                read: |text| {
                    const RULES: $crate::private::Rules = $crate::__object!(@rules $($($rule)*)?);
                    let value = $crate::private::read_form::<$crate::__object!(@way $($way)?), _>(text, RULES);
                    ::core::result::Result::map(value, Self::$variant)
                },
            }),*];
        }

        impl $crate::private::Decode<$name> for $crate::private::Own {
            fn read<'de, D: $crate::private::serde::Deserializer<'de>>(
                deserializer: D,
                _: $crate::private::Rules,
            ) -> ::core::result::Result<$name, D::Error> {
                $crate::private::read_union(deserializer)
            }

            fn by_text(rules: $crate::private::Rules) -> bool {
                !rules.is_empty()
            }
        }

        impl<'de> $crate::private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::private::read_union(deserializer)
            }
        }

        impl $crate::private::serde::Serialize for $name {
            fn serialize<S: $crate::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => $crate::private::serde::Serialize::serialize(value, serializer),)*
                }
            }
        }
    };

    (@tag) => { ::core::option::Option::None };
    (@tag $tag:literal [$($value:literal),*]) => { ::core::option::Option::Some(($tag, &[$($value),*])) };
}
