//! How structs are read and written as objects.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    marker::PhantomData,
    mem,
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
    /// What becomes of members that have no field.
    const OTHERS: Others;

    /// The member of this name.
    fn member(name: &str) -> Option<Self::Member>;

    /// Reads all members.
    ///
    /// # Errors
    ///
    /// A member is missing, comes twice or does not fit.
    fn members<'de, A: MapAccess<'de>>(members: Members<A, Self>) -> Result<Self, A::Error>;
}

/// What becomes of members that have no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// There may be none.
    Refused,
    /// They are passed over.
    Dropped,
    /// They are kept in a map.
    Kept,
}

/// The name of a member.
#[derive(Clone, Copy, Debug)]
pub enum Key<M> {
    /// One that has a field.
    Member(M),
    /// That of the constant at this index.
    Constant(usize),
    /// Any other. [`Members`] knows it, if somebody wants to.
    Other,
}

/// The members of an object that is being read.
#[derive(Debug)]
pub struct Members<A, T> {
    map: A,
    /// How many members there were, if the rules ask for it.
    count: usize,
    /// Those of the first 64 constants that were there, a bit each.
    constants: u64,
    /// What most objects have no need of.
    notes: Option<Box<Notes>>,
    object: PhantomData<fn() -> T>,
}

#[derive(Debug, Default)]
struct Notes {
    /// The last name that is neither a field's nor a constant's.
    other: String,
    /// Those members that the rules ask for.
    named: Vec<String>,
    /// The constants that were there beyond the first 64.
    constants: Vec<usize>,
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

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::members(Members { map, count: 0, constants: 0, notes: None, object: PhantomData })
    }
}

impl<'de, A: MapAccess<'de>, T: Object> Members<A, T> {
    /// The name of the next member that has no constant value.
    ///
    /// # Errors
    ///
    /// The object takes no such member, or a constant has another value.
    #[inline]
    #[allow(clippy::should_implement_trait)] // An iterator could not read the value in between.
    pub fn next(&mut self) -> Result<Option<Key<T::Member>>, A::Error> {
        loop {
            let key = self.map.next_key_seed(Name::<T> { notes: &mut self.notes, object: PhantomData })?;
            if !T::RULES.is_empty() {
                self.count += usize::from(key.is_some());
            }
            match key {
                Some(Key::Constant(index)) => self.constant(index)?,
                key => return Ok(key),
            }
        }
    }

    fn constant(&mut self, index: usize) -> Result<(), A::Error> {
        let Some((name, value)) = T::CONSTANTS.get(index) else { return Ok(()) };
        if self.had(index) {
            return Err(duplicate(name));
        }
        self.note(name);
        match bit(index) {
            Some(bit) => self.constants |= bit,
            None => self.notes.get_or_insert_default().constants.push(index),
        }
        self.map.next_value_seed(Constant(value))
    }

    /// Whether the constant at this index was there.
    fn had(&self, index: usize) -> bool {
        match bit(index) {
            Some(bit) => self.constants & bit != 0,
            None => self.notes.as_ref().is_some_and(|notes| notes.constants.contains(&index)),
        }
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
    pub fn keep<C: Decode<V>, V>(&mut self, kept: &mut BTreeMap<String, V>, rules: Rules) -> Result<(), A::Error> {
        let name = self.take_other();
        self.note(&name);
        match kept.entry(name) {
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
    pub fn pass(&mut self) -> Result<(), A::Error> {
        if !T::RULES.is_empty() {
            let name = self.take_other();
            self.note(&name);
        }
        self.map.next_value::<IgnoredAny>().map(drop)
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
            if !self.had(index) {
                return Err(A::Error::custom(rules::missing(name)));
            }
        }
        if T::RULES.is_empty() {
            return Ok(());
        }
        let named = self.notes.as_ref().map(|notes| notes.named.as_slice()).unwrap_or_default();
        let has = |name: &str| named.iter().any(|named| named == name);
        rules::object(self.count, has, T::RULES).map_err(A::Error::custom)
    }

    fn take_other(&mut self) -> String {
        self.notes.as_mut().map(|notes| mem::take(&mut notes.other)).unwrap_or_default()
    }

    #[inline]
    fn note(&mut self, name: &str) {
        if T::RULES.iter().any(|rule| rule.names(name)) {
            self.notes.get_or_insert_default().named.push(name.to_owned());
        }
    }
}

/// The bit of one of the first 64 constants.
fn bit(index: usize) -> Option<u64> {
    1_u64.checked_shl(u32::try_from(index).ok()?)
}

/// Reads the name of a member, which needs no memory of its own where it is known.
struct Name<'a, T> {
    notes: &'a mut Option<Box<Notes>>,
    object: PhantomData<T>,
}

impl<T: Object> Name<'_, T> {
    /// What a name means that no field has; apart, as most names are known.
    #[cold]
    fn unknown<E: Error>(self, name: &str) -> Result<Key<T::Member>, E> {
        if let Some(index) = T::CONSTANTS.iter().position(|(constant, _)| *constant == name) {
            return Ok(Key::Constant(index));
        }
        if T::FORBIDDEN.contains(&name) {
            return Err(E::custom(format_args!("forbidden member `{}`", rules::cut(name))));
        }
        if T::OTHERS == Others::Refused {
            return Err(E::custom(format_args!("unknown member `{}`", rules::cut(name))));
        }
        if T::OTHERS == Others::Kept || !T::RULES.is_empty() {
            name.clone_into(&mut self.notes.get_or_insert_default().other);
        }
        Ok(Key::Other)
    }
}

impl<'de, T: Object> DeserializeSeed<'de> for Name<'_, T> {
    type Value = Key<T::Member>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T: Object> Visitor<'_> for Name<'_, T> {
    type Value = Key<T::Member>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        match T::member(name) {
            Some(member) => Ok(Key::Member(member)),
            None => self.unknown(name),
        }
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
            #[allow(non_camel_case_types, unreachable_pub)]
            #[derive(::core::clone::Clone, ::core::marker::Copy)]
            pub enum __Member {
                $($field,)*
            }

            impl $crate::private::Object for $name {
                type Member = __Member;
                const CONSTANTS: &'static [(&'static str, &'static str)] = &[$($(($constant, $value),)*)?];
                const FORBIDDEN: &'static [&'static str] = &[$($($forbidden,)*)?];
                const RULES: $crate::private::Rules = $crate::__object!(@rules $($($whole)*)?);
                const OTHERS: $crate::private::Others = $crate::__object!(@constant $others);

                #[inline]
                fn member(name: &str) -> ::core::option::Option<__Member> {
                    match name {
                        $($member => ::core::option::Option::Some(__Member::$field),)*
                        _ => ::core::option::Option::None,
                    }
                }

                #[inline]
                #[allow(unused_mut)]
                fn members<'de, __A: $crate::private::serde::de::MapAccess<'de>>(
                    mut members: $crate::private::Members<__A, Self>,
                ) -> ::core::result::Result<Self, __A::Error> {
                    $(let mut $field = ::core::option::Option::None;)*
                    $(let mut $kept = ::std::collections::BTreeMap::new();)?
                    while let ::core::option::Option::Some(key) = members.next()? {
                        match key {
                            $($crate::private::Key::Member(__Member::$field) => {
                                const RULES: $crate::private::Rules = $crate::__object!(@rules $($($rule)*)?);
                                members.value::<$crate::__object!(@way $($way)?), _>(&mut $field, $member, RULES)?;
                            })*
                            _ => {
                                $crate::__object!(@others $others members $($kept [$($kept_way)?] [$($($kept_rule)*)?])?)
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

            $crate::__read!($name read_object);

            impl $crate::private::serde::Serialize for $name {
                fn serialize<__S: $crate::private::serde::Serializer>(
                    &self,
                    serializer: __S,
                ) -> ::core::result::Result<__S::Ok, __S::Error> {
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

    (@constant dropped) => { $crate::private::Others::Dropped };
    (@constant refused) => { $crate::private::Others::Refused };
    (@constant kept) => { $crate::private::Others::Kept };

    (@others kept $members:ident $kept:ident [$($way:ty)?] [$($rule:tt)*]) => {{
        const RULES: $crate::private::Rules = $crate::__object!(@rules $($rule)*);
        $members.keep::<$crate::__object!(@way $($way)?), _>(&mut $kept, RULES)?
    }};
    (@others $others:ident $members:ident) => { $members.pass()? };

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

pub use __object as object;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::de::DeserializeOwned;

    use super::object;
    use crate::json::Json;

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string().split(" at line").next().unwrap_or("").to_owned())
    }

    fn written(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[derive(Debug, PartialEq)]
    struct Line {
        sku: String,
        size: Option<u8>,
        note: Option<String>,
        colour: Option<Option<String>>,
        count: u32,
    }

    fn one() -> u32 {
        1
    }

    object! {
        Line {
            sku: required "s\u{e9}ku" [MinLength(2)],
            size: required "size",
            note: optional "note",
            colour: optional "colour",
            count: default "count" = one [Minimum(Whole(1))],
        }
        others dropped
    }

    #[test]
    fn missing_null_and_present_stay_apart() {
        let line = Line { sku: "tea".to_owned(), size: None, note: None, colour: None, count: 1 };
        assert_eq!(read::<Line>(r#"{"séku":"tea","size":null}"#).unwrap(), line);
        assert_eq!(written(&line), r#"{"séku":"tea","size":null,"count":1}"#);
        let line = Line { colour: Some(None), size: Some(2), count: 3, ..line };
        assert_eq!(read::<Line>(r#"{"count":3.0,"s\u00e9ku":"tea","x":[{}],"colour":null,"size":2}"#).unwrap(), line);
        assert_eq!(written(&line), r#"{"séku":"tea","size":2,"colour":null,"count":3}"#);
        for (text, error) in [
            (r#"{"size":1}"#, "missing member `séku`"),
            (r#"{"séku":"tea"}"#, "missing member `size`"),
            (r#"{"séku":"tea","size":1,"note":null}"#, "invalid type: null, expected a string"),
            (r#"{"séku":"tea","size":1,"count":null}"#, "found null, expected an integer"),
            (r#"{"séku":"tea","size":1,"count":0}"#, "below the minimum 1"),
            (r#"{"séku":"t","size":1}"#, "shorter than 2 characters"),
            (r#"{"séku":"tea","size":1,"size":1}"#, "the member `size` comes twice"),
            (r#"["tea",1]"#, "invalid type: sequence, expected an object"),
        ] {
            assert_eq!(read::<Line>(text).unwrap_err(), error, "{text}");
        }
    }

    #[derive(Debug, PartialEq)]
    struct Event {
        id: u8,
    }

    object! {
        Event {
            id: required "id",
        }
        constants {
            "kind" = "\"made\"",
            "version" = "1",
        }
        others refused
    }

    #[test]
    fn a_constant_must_be_there_and_is_always_written() {
        let event = read::<Event>(r#"{"kind":"ma\u0064e","id":7,"version":1.0}"#).unwrap();
        assert_eq!(written(&event), r#"{"id":7,"kind":"made","version":1}"#);
        for (text, error) in [
            (r#"{"id":7,"version":1}"#, "missing member `kind`"),
            (r#"{"id":7,"kind":"lost","version":1}"#, "the value is not `\"made\"`"),
            (r#"{"id":7,"kind":"made","version":1,"version":1}"#, "the member `version` comes twice"),
            (r#"{"id":7,"kind":"made","version":1,"more":0}"#, "unknown member `more`"),
        ] {
            assert_eq!(read::<Event>(text).unwrap_err(), error, "{text}");
        }
    }

    #[derive(Debug, PartialEq)]
    struct Open {
        id: Option<u8>,
        extra: BTreeMap<String, Json>,
    }

    object! {
        Open {
            id: optional "id",
        }
        constants { "v" = "1" }
        forbidden { "secret" }
        rules [MinProperties(2), MaxProperties(3), Required(&["a"]), DependentRequired("id", &["b"])]
        others kept in extra [Kinds(&[Integer, Array])]
    }

    #[test]
    fn members_without_a_field_survive_as_they_are_spelled() {
        let text = r#"{"v":1,"a":[1.50, 2],"é":1e2}"#;
        let open = read::<Open>(text).unwrap();
        assert_eq!(open.extra["a"].as_str(), "[1.50, 2]");
        assert_eq!(written(&open), r#"{"v":1,"a":[1.50, 2],"é":1e2}"#);
        assert_eq!(read::<Open>(&written(&open)).unwrap(), open);
    }

    #[test]
    fn an_object_keeps_to_its_rules_as_a_whole() {
        for (text, error) in [
            (r#"{"v":1}"#, "fewer than 2 members"),
            (r#"{"v":1,"a":1,"c":1,"d":1}"#, "more than 3 members"),
            (r#"{"v":1,"b":1}"#, "missing member `a`"),
            (r#"{"v":1,"a":1,"id":1}"#, "missing member `b`, which belongs to `id`"),
            (r#"{"v":1,"a":"x"}"#, "found a string, expected an integer or an array"),
            (r#"{"v":1,"a":1,"a":1}"#, "the member `a` comes twice"),
            (r#"{"v":1,"a":1,"secret":1}"#, "forbidden member `secret`"),
        ] {
            assert_eq!(read::<Open>(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn a_map_of_other_members_cannot_write_a_member_twice() {
        for name in ["id", "v", "secret"] {
            let open = Open { id: None, extra: [(name.to_owned(), Json::default())].into() };
            let error = serde_json::to_string(&open).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the member `{name}` cannot stand")), "{error}");
        }
    }

    #[test]
    fn an_object_inside_what_serde_buffers_is_read_as_well() {
        #[derive(serde::Deserialize, serde::Serialize)]
        struct Around {
            #[serde(flatten)]
            line: Line,
        }
        let text = r#"{"séku":"tea","size":2,"count":1}"#;
        assert_eq!(written(&read::<Around>(text).unwrap()), text);
        assert_eq!(read::<Line>(text).unwrap(), serde_json::from_reader(text.as_bytes()).unwrap());
    }

    struct Many {}

    object! {
        Many {}
        constants {
            "00" = "0", "01" = "0", "02" = "0", "03" = "0", "04" = "0", "05" = "0", "06" = "0", "07" = "0", "08" = "0",
            "09" = "0", "10" = "0", "11" = "0", "12" = "0", "13" = "0", "14" = "0", "15" = "0", "16" = "0", "17" = "0",
            "18" = "0", "19" = "0", "20" = "0", "21" = "0", "22" = "0", "23" = "0", "24" = "0", "25" = "0", "26" = "0",
            "27" = "0", "28" = "0", "29" = "0", "30" = "0", "31" = "0", "32" = "0", "33" = "0", "34" = "0", "35" = "0",
            "36" = "0", "37" = "0", "38" = "0", "39" = "0", "40" = "0", "41" = "0", "42" = "0", "43" = "0", "44" = "0",
            "45" = "0", "46" = "0", "47" = "0", "48" = "0", "49" = "0", "50" = "0", "51" = "0", "52" = "0", "53" = "0",
            "54" = "0", "55" = "0", "56" = "0", "57" = "0", "58" = "0", "59" = "0", "60" = "0", "61" = "0", "62" = "0",
            "63" = "0", "64" = "0", "65" = "0",
        }
        others refused
    }

    #[test]
    fn more_constants_than_a_word_has_bits_are_told_apart() {
        let text = written(&Many {});
        assert!(read::<Many>(&text).is_ok());
        assert_eq!(read::<Many>(&text.replace(r#","65":0"#, "")).err().unwrap(), "missing member `65`");
        assert_eq!(read::<Many>(&text.replace("{", r#"{"64":0,"#)).err().unwrap(), "the member `64` comes twice");
    }
}
