//! How structs are read and written as objects.

use std::{
    borrow::Cow,
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    marker::PhantomData,
};

use serde::{
    Deserializer, Serialize,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::value::RawValue;

use super::{
    decode::{Decode, Seed, duplicate},
    rules::{self, Rules},
};
use crate::json;

/// A struct whose table [`object!`](crate::__object) has read.
pub trait Object: Sized {
    /// The members that have a field.
    type Member: Copy;
    /// Members that must have one value, and that value as JSON.
    const CONSTANTS: &'static [(&'static str, &'static str)];
    /// Names that no member may have.
    const FORBIDDEN: &'static [&'static str];
    /// What the object as a whole must keep to.
    const RULES: Rules;

    /// The member of this name.
    fn member(name: &str) -> Option<Self::Member>;

    /// Reads all members.
    ///
    /// # Errors
    ///
    /// A member is missing, comes twice or does not fit.
    fn members<'de, A: MapAccess<'de>>(members: Members<'de, A, Self>) -> Result<Self, A::Error>;
}

/// The name of a member.
#[derive(Debug)]
pub enum Key<'de, M> {
    /// One that has a field.
    Member(M),
    /// Any other.
    Other(Cow<'de, str>),
}

/// The members of an object that is being read.
#[derive(Debug)]
pub struct Members<'de, A, T> {
    map: A,
    /// How many members there were.
    count: usize,
    constants: Seen,
    /// Those members that the rules ask for.
    named: Vec<String>,
    object: PhantomData<fn(&'de ()) -> T>,
}

/// The constants that were there, by their index.
#[derive(Debug, Default)]
struct Seen {
    first: u64,
    further: Vec<usize>,
}

impl Seen {
    fn contains(&self, index: usize) -> bool {
        if index < 64 { self.first & 1 << index != 0 } else { self.further.contains(&index) }
    }

    fn insert(&mut self, index: usize) {
        if index < 64 {
            self.first |= 1 << index;
        } else {
            self.further.push(index);
        }
    }
}

/// Reads an object.
///
/// # Errors
///
/// The value is no object, or does not fit.
pub fn read_object<'de, T: Object, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::members(Members { map, count: 0, constants: Seen::default(), named: Vec::new(), object: PhantomData })
    }
}

impl<'de, A: MapAccess<'de>, T: Object> Members<'de, A, T> {
    /// The name of the next member that has no constant value.
    ///
    /// # Errors
    ///
    /// The member is forbidden, or a constant has another value.
    #[allow(clippy::should_implement_trait)] // An iterator could not read the value in between.
    pub fn next(&mut self) -> Result<Option<Key<'de, T::Member>>, A::Error> {
        loop {
            let key = self.map.next_key_seed(Name::<T>(PhantomData))?;
            self.count += usize::from(key.is_some());
            match key {
                Some(Key::Other(name)) => {
                    if T::FORBIDDEN.contains(&name.as_ref()) {
                        return Err(A::Error::custom(format_args!("forbidden member `{}`", rules::cut(&name))));
                    }
                    if let Some(index) = T::CONSTANTS.iter().position(|(constant, _)| *constant == name) {
                        self.constant(index)?;
                        continue;
                    }
                    return Ok(Some(Key::Other(name)));
                }
                key => return Ok(key),
            }
        }
    }

    fn constant(&mut self, index: usize) -> Result<(), A::Error> {
        let Some((name, value)) = T::CONSTANTS.get(index) else { return Ok(()) };
        if self.constants.contains(index) {
            return Err(duplicate(name));
        }
        self.note(name);
        self.constants.insert(index);
        self.map.next_value_seed(Constant(value))
    }

    /// Reads the value of the member `name` into its place.
    ///
    /// # Errors
    ///
    /// The member was there before, or its value does not fit.
    #[inline]
    pub fn value<C: Decode<V>, V>(
        &mut self,
        place: &mut Option<V>,
        name: &'static str,
        rules: Rules,
    ) -> Result<(), A::Error> {
        if place.is_some() {
            return Err(duplicate(name));
        }
        self.note(name);
        *place = Some(self.map.next_value_seed(Seed::<C, V>::new(rules))?);
        Ok(())
    }

    /// Keeps a member without a field.
    ///
    /// # Errors
    ///
    /// The member was there before, or its value does not fit.
    pub fn keep<C: Decode<V>, V>(
        &mut self,
        kept: &mut BTreeMap<String, V>,
        name: Cow<'de, str>,
        rules: Rules,
    ) -> Result<(), A::Error> {
        self.note(&name);
        match kept.entry(name.into_owned()) {
            Entry::Vacant(place) => drop(place.insert(self.map.next_value_seed(Seed::<C, V>::new(rules))?)),
            Entry::Occupied(place) => return Err(duplicate(place.key())),
        }
        Ok(())
    }

    /// Passes over the value of a member without a field.
    ///
    /// # Errors
    ///
    /// The value is no JSON.
    pub fn pass(&mut self, name: &str) -> Result<(), A::Error> {
        self.note(name);
        self.map.next_value::<IgnoredAny>().map(drop)
    }

    /// The error of a member that the object does not take.
    pub fn unknown(&self, name: &str) -> A::Error {
        A::Error::custom(format_args!("unknown member `{}`", rules::cut(name)))
    }

    /// The value of a member that has to be there.
    ///
    /// # Errors
    ///
    /// It is not.
    #[inline]
    pub fn required<V>(&self, place: Option<V>, name: &'static str) -> Result<V, A::Error> {
        place.ok_or_else(|| A::Error::custom(rules::missing(name)))
    }

    /// Judges the object as a whole.
    ///
    /// # Errors
    ///
    /// A constant is missing, or a rule is broken.
    #[inline]
    pub fn end(&self) -> Result<(), A::Error> {
        for (index, (name, _)) in T::CONSTANTS.iter().enumerate() {
            if !self.constants.contains(index) {
                return Err(A::Error::custom(rules::missing(name)));
            }
        }
        if T::RULES.is_empty() {
            return Ok(());
        }
        let has = |name: &str| self.named.iter().any(|named| named == name);
        rules::object(self.count, has, T::RULES).map_err(A::Error::custom)
    }

    #[inline]
    fn note(&mut self, name: &str) {
        if T::RULES.iter().any(|rule| rule.names(name)) {
            self.named.push(name.to_owned());
        }
    }
}

/// Reads the name of a member, which needs no memory of its own where it is known.
struct Name<T>(PhantomData<T>);

impl<'de, T: Object> DeserializeSeed<'de> for Name<T> {
    type Value = Key<'de, T::Member>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, T: Object> Visitor<'de> for Name<T> {
    type Value = Key<'de, T::Member>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(T::member(name).map_or(Key::Other(Cow::Borrowed(name)), Key::Member))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(T::member(name).map_or_else(|| Key::Other(Cow::Owned(name.to_owned())), Key::Member))
    }
}

/// A value that is the one that it has to be.
struct Constant(&'static str);

impl<'de> DeserializeSeed<'de> for Constant {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if json::equal(&json::text(deserializer)?, self.0) {
            return Ok(());
        }
        Err(D::Error::custom(format_args!("the value is not `{}`", rules::cut(self.0))))
    }
}

/// Writes a member whose value is JSON text.
///
/// # Errors
///
/// The serializer's own.
pub fn write_constant<S: SerializeMap>(map: &mut S, name: &'static str, json: &'static str) -> Result<(), S::Error> {
    let value: &RawValue = serde_json::from_str(json).map_err(serde::ser::Error::custom)?;
    map.serialize_entry(name, value)
}

/// Writes the members without a field.
///
/// # Errors
///
/// One of them has a name that the struct itself writes or that is forbidden, or the serializer's own.
pub fn write_others<T: Object, S: SerializeMap, V: Serialize>(
    map: &mut S,
    others: &BTreeMap<String, V>,
) -> Result<(), S::Error> {
    for (name, value) in others {
        let constant = || T::CONSTANTS.iter().any(|(constant, _)| constant == name);
        if T::member(name).is_some() || constant() || T::FORBIDDEN.contains(&name.as_str()) {
            let name = rules::cut(name);
            let error = format_args!("the member `{name}` cannot stand among those without a field");
            return Err(serde::ser::Error::custom(error));
        }
        map.serialize_entry(name, value)?;
    }
    Ok(())
}

/// Implements serde's traits for a struct by the table of its members.
///
/// `field: presence "name" = default as way [rules]`, where the presence is `required`, `optional` or `default`; then the
/// `constants`, the `forbidden` names, the `rules` of the whole, and what becomes of `others`: `dropped`, `refused` or
/// `kept in` a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __object {
    (
        $name:ident {
            $($field:ident: $presence:ident $member:literal $(= $default:path)? $(as $way:ty)? $([$($rule:tt)*])?),* $(,)?
        }
        $(constants { $($constant:literal = $value:literal),* $(,)? })?
        $(forbidden { $($forbidden:literal),* $(,)? })?
        $(rules [$($whole:tt)*])?
        others $others:ident $(in $kept:ident $(as $kept_way:ty)? $([$($kept_rule:tt)*])?)?
    ) => {
        const _: () = {
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy)]
            pub enum __Member {
                $($field,)*
            }

            impl $crate::private::Object for $name {
                type Member = __Member;
                const CONSTANTS: &'static [(&'static str, &'static str)] = &[$($(($constant, $value),)*)?];
                const FORBIDDEN: &'static [&'static str] = &[$($($forbidden,)*)?];
                const RULES: $crate::private::Rules = $crate::__object!(@rules $($($whole)*)?);

                fn member(name: &str) -> ::core::option::Option<__Member> {
                    match name {
                        $($member => ::core::option::Option::Some(__Member::$field),)*
                        _ => ::core::option::Option::None,
                    }
                }

                #[allow(unused_mut)]
                fn members<'de, A: $crate::private::serde::de::MapAccess<'de>>(
                    mut members: $crate::private::Members<'de, A, Self>,
                ) -> ::core::result::Result<Self, A::Error> {
                    $(let mut $field = ::core::option::Option::None;)*
                    $(let mut $kept = ::std::collections::BTreeMap::new();)?
                    while let ::core::option::Option::Some(key) = members.next()? {
                        match key {
                            $($crate::private::Key::Member(__Member::$field) => {
                                const RULES: $crate::private::Rules = $crate::__object!(@rules $($($rule)*)?);
                                members.value::<$crate::__object!(@way $($way)?), _>(&mut $field, $member, RULES)?;
                            })*
                            $crate::private::Key::Other(name) => {
                                $crate::__object!(
                                    @others $others members name $($kept [$($kept_way)?] [$($($kept_rule)*)?])?
                                );
                            }
                        }
                    }
                    members.end()?;
                    ::core::result::Result::Ok(Self {
                        $($field: $crate::__object!(@field $presence members $field $member $($default)?),)*
                        $($kept,)?
                    })
                }
            }

            impl $crate::private::Decode<$name> for $crate::private::Own {
                fn read<'de, D: $crate::private::serde::Deserializer<'de>>(
                    deserializer: D,
                    _: $crate::private::Rules,
                ) -> ::core::result::Result<$name, D::Error> {
                    $crate::private::read_object(deserializer)
                }

                fn by_text(rules: $crate::private::Rules) -> bool {
                    !rules.is_empty()
                }
            }

            impl<'de> $crate::private::serde::Deserialize<'de> for $name {
                fn deserialize<D: $crate::private::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    $crate::private::read_object(deserializer)
                }
            }

            impl $crate::private::serde::Serialize for $name {
                fn serialize<S: $crate::private::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    let mut map = serializer.serialize_map(::core::option::Option::None)?;
                    $($crate::__object!(@write $presence map self $field $member);)*
                    $($($crate::private::write_constant(&mut map, $constant, $value)?;)*)?
                    $($crate::private::write_others::<Self, _, _>(&mut map, &self.$kept)?;)?
                    $crate::private::serde::ser::SerializeMap::end(map)
                }
            }
        };
    };

    (@way) => { $crate::private::Own };
    (@way $way:ty) => { $way };

    (@rules) => { &[] };
    (@rules $($rule:tt)+) => {{
        #[allow(unused_imports)]
        use $crate::private::{Bound::*, Kind::*, Rule::*};
        &[$($rule)+]
    }};

    (@others dropped $members:ident $other:ident) => { $members.pass(&$other)? };
    (@others refused $members:ident $other:ident) => {
        return ::core::result::Result::Err($members.unknown(&$other))
    };
    (@others kept $members:ident $other:ident $kept:ident [$($way:ty)?] [$($rule:tt)*]) => {
        const RULES: $crate::private::Rules = $crate::__object!(@rules $($rule)*);
        $members.keep::<$crate::__object!(@way $($way)?), _>(&mut $kept, $other, RULES)?;
    };

    (@field required $members:ident $field:ident $member:literal) => { $members.required($field, $member)? };
    (@field optional $members:ident $field:ident $member:literal) => { $field };
    (@field default $members:ident $field:ident $member:literal $default:path) => { $field.unwrap_or_else($default) };

    (@write optional $map:ident $self:ident $field:ident $member:literal) => {
        if let ::core::option::Option::Some(value) = &$self.$field {
            $crate::private::serde::ser::SerializeMap::serialize_entry(&mut $map, $member, value)?;
        }
    };
    (@write $presence:ident $map:ident $self:ident $field:ident $member:literal) => {
        $crate::private::serde::ser::SerializeMap::serialize_entry(&mut $map, $member, &$self.$field)?
    };
}
