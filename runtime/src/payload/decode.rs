//! How the values of fields are read.
//!
//! Serde's own implementations are not enough: an integer may be written `1.0`, a value must keep to the rules of its
//! schema where it is read (so that an error knows its place), and a member written twice is an error in maps, too.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    marker::PhantomData,
};

use serde::{
    Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

use super::{
    nested,
    rules::{self, Rule, Rules},
};
use crate::json::{self, Json};

/// Reads a `T` in the way that the implementing type stands for.
pub trait Decode<T>: Sized {
    /// Reads a value that keeps to those rules that need no text.
    ///
    /// # Errors
    ///
    /// The value is no `T` or breaks a rule.
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<T, D::Error>;

    /// Whether any of the rules can only be judged by the text of the value.
    #[must_use]
    fn by_text(rules: Rules) -> bool {
        rules.iter().any(Rule::needs_text)
    }

    /// Reads a value that keeps to the rules.
    ///
    /// # Errors
    ///
    /// The value is no `T` or breaks a rule.
    #[inline]
    fn decode<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<T, D::Error> {
        if rules.is_empty() || !Self::by_text(rules) {
            return Self::read(deserializer, rules);
        }
        let text = json::text(deserializer)?;
        rules::text(&text, rules).map_err(D::Error::custom)?;
        nested::read::<Self, T>(&text, rules).map_err(D::Error::custom)
    }
}

/// The way of a type that the runtime or the generator made, and of lists, maps and so on of these.
#[derive(Debug)]
pub struct Own;

/// The way of a type that the runtime does not know: its own `Deserialize`.
#[derive(Debug)]
pub struct Foreign;

/// The way of a list, map, option or box whose values are read in the way `C`.
#[derive(Debug)]
pub struct Of<C>(PhantomData<C>);

impl<T: DeserializeOwned> Decode<T> for Foreign {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, _: Rules) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }

    fn by_text(rules: Rules) -> bool {
        !rules.is_empty()
    }
}

impl Decode<Json> for Own {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<Json, D::Error> {
        let json: Json = serde::Deserialize::deserialize(deserializer)?;
        rules::text(json.as_str(), rules).map_err(D::Error::custom)?;
        Ok(json)
    }

    fn by_text(_: Rules) -> bool {
        false
    }
}

impl<C: Decode<T>, T> Decode<Box<T>> for Of<C> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<Box<T>, D::Error> {
        C::read(deserializer, rules).map(Box::new)
    }

    fn by_text(rules: Rules) -> bool {
        C::by_text(rules)
    }
}

/// Null is always taken; the rules are for other values.
impl<C: Decode<T>, T> Decode<Option<T>> for Of<C> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_option(OptionVisitor::<C, T>(Seed::new(rules)))
    }

    fn by_text(_: Rules) -> bool {
        false
    }
}

impl<C: Decode<T>, T> Decode<Vec<T>> for Of<C> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<Vec<T>, D::Error> {
        let items = deserializer.deserialize_seq(ListVisitor::<C, T>(Seed::new(rules::each(rules))))?;
        rules::array(items.len(), rules).map_err(D::Error::custom)?;
        Ok(items)
    }
}

impl<C: Decode<T>, T> Decode<BTreeMap<String, T>> for Of<C> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<BTreeMap<String, T>, D::Error> {
        let map = deserializer.deserialize_map(MapVisitor::<C, T>(Seed::new(rules::each(rules))))?;
        rules::object(map.len(), |name| map.contains_key(name), rules).map_err(D::Error::custom)?;
        Ok(map)
    }
}

macro_rules! own {
    ($($container:ty),*) => {$(
        impl<T> Decode<$container> for Own
        where
            Own: Decode<T>,
        {
            fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<$container, D::Error> {
                Of::<Own>::read(deserializer, rules)
            }

            fn by_text(rules: Rules) -> bool {
                <Of<Own> as Decode<$container>>::by_text(rules)
            }
        }
    )*};
}

own!(Box<T>, Option<T>, Vec<T>, BTreeMap<String, T>);

/// Reads one value inside another.
pub(super) struct Seed<C, T> {
    rules: Rules,
    way: PhantomData<fn(C) -> T>,
}

impl<C, T> Seed<C, T> {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, way: PhantomData }
    }
}

impl<C, T> Clone for Seed<C, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C, T> Copy for Seed<C, T> {}

impl<'de, C: Decode<T>, T> DeserializeSeed<'de> for Seed<C, T> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        C::decode(deserializer, self.rules)
    }
}

struct OptionVisitor<C, T>(Seed<C, T>);

impl<'de, C: Decode<T>, T> Visitor<'de> for OptionVisitor<C, T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

struct ListVisitor<C, T>(Seed<C, T>);

impl<'de, C: Decode<T>, T> Visitor<'de> for ListVisitor<C, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self.0)? {
            items.push(item);
        }
        Ok(items)
    }
}

struct MapVisitor<C, T>(Seed<C, T>);

impl<'de, C: Decode<T>, T> Visitor<'de> for MapVisitor<C, T> {
    type Value = BTreeMap<String, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            match members.entry(name) {
                Entry::Vacant(place) => drop(place.insert(map.next_value_seed(self.0)?)),
                Entry::Occupied(place) => return Err(duplicate(place.key())),
            }
        }
        Ok(members)
    }
}

/// The error of a member that comes twice.
pub(super) fn duplicate<E: Error>(name: &str) -> E {
    E::custom(format_args!("the member `{}` comes twice", rules::cut(name)))
}

/// Implements reading for a generated type by one of the functions of this module's siblings.
#[doc(hidden)]
#[macro_export]
macro_rules! __read {
    ($name:ident $read:ident) => {
        impl $crate::private::Decode<$name> for $crate::private::Own {
            fn read<'de, __D: $crate::private::serde::Deserializer<'de>>(
                deserializer: __D,
                _: $crate::private::Rules,
            ) -> ::core::result::Result<$name, __D::Error> {
                $crate::private::$read(deserializer)
            }

            fn by_text(rules: $crate::private::Rules) -> bool {
                !rules.is_empty()
            }
        }

        impl<'de> $crate::private::serde::Deserialize<'de> for $name {
            fn deserialize<__D: $crate::private::serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                $crate::private::$read(deserializer)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Bound;

    fn read<C: Decode<T>, T>(text: &str, rules: Rules) -> Result<T, String> {
        let outcome = C::decode(&mut serde_json::Deserializer::from_str(text), rules);
        outcome.map_err(|error| error.to_string().split(" at line").next().unwrap_or("").to_owned())
    }

    #[test]
    fn rules_of_items_are_kept_at_any_depth() {
        const RULES: Rules = &[Rule::MaxItems(2), Rule::Each(&[Rule::Each(&[Rule::Maximum(Bound::Whole(9))])])];
        type Nested = Vec<Option<BTreeMap<String, u8>>>;
        assert_eq!(
            read::<Own, Nested>(r#"[null,{"a":9.0}]"#, RULES),
            Ok(vec![None, Some([("a".to_owned(), 9)].into())])
        );
        assert_eq!(read::<Own, Nested>(r#"[{"a":10}]"#, RULES).unwrap_err(), "above the maximum 9");
        assert_eq!(read::<Own, Nested>("[{},{},{}]", RULES).unwrap_err(), "more than 2 items");
    }

    #[test]
    fn a_null_is_taken_whatever_the_rules_of_other_values_are() {
        const RULES: Rules = &[Rule::OneOf(&["\"a\"", "\"b\""])];
        assert_eq!(read::<Own, Option<String>>("null", RULES), Ok(None));
        assert_eq!(read::<Own, Option<String>>("\"b\"", RULES), Ok(Some("b".to_owned())));
        assert!(read::<Own, Option<String>>("\"c\"", RULES).is_err());
    }

    #[test]
    fn a_type_that_the_runtime_does_not_know_reads_itself_at_any_depth() {
        const RULES: Rules = &[Rule::Each(&[Rule::NoneOf(&["\"::1\""])])];
        type Addresses = Vec<Option<std::net::IpAddr>>;
        let found = read::<Of<Of<Foreign>>, Addresses>(r#"["127.0.0.1",null]"#, RULES).unwrap();
        assert_eq!(found, [Some([127, 0, 0, 1].into()), None]);
        assert!(read::<Of<Of<Foreign>>, Addresses>(r#"["localhost"]"#, RULES).is_err());
        assert!(read::<Of<Of<Foreign>>, Addresses>(r#"["::1"]"#, RULES).is_err());
        let (number, address): (u8, std::net::IpAddr) = read::<(Own, Foreign), _>(r#"[1.0,"::1"]"#, &[]).unwrap();
        assert_eq!((number, address.is_loopback()), (1, true));
    }

    #[test]
    fn a_member_of_a_map_comes_once() {
        assert_eq!(
            read::<Own, BTreeMap<String, u8>>(r#"{"a":1,"\u0061":1}"#, &[]).unwrap_err(),
            "the member `a` comes twice"
        );
    }

    #[test]
    fn an_array_of_a_fixed_length_has_that_length() {
        assert_eq!(read::<Own, [(); 0]>("[]", &[]), Ok([]));
        assert_eq!(read::<Own, [(); 0]>("[1]", &[]).unwrap_err(), "the array has to have 0 items");
        assert_eq!(read::<Own, (bool,)>("[true]", &[]), Ok((true,)));
        assert_eq!(read::<Own, (bool,)>("[]", &[]).unwrap_err(), "the array has to have 1 item");
        assert_eq!(serde_json::to_string(&([(); 0], (1,))).unwrap(), "[[],[1]]");
    }

    #[test]
    fn a_double_is_finite() {
        assert_eq!(read::<Own, f64>("1e308", &[]), Ok(1e308));
        assert_eq!(read::<Own, f32>("16777217", &[]), Ok(16_777_216.0));
        for text in ["1e400", "-1e400"] {
            assert!(read::<Own, f64>(text, &[]).is_err());
        }
        assert_eq!(read::<Own, f32>("1e39", &[]).unwrap_err(), "the number is out of range of `f32`");
        assert!(read::<Own, f64>(&"9".repeat(400), &[]).is_err());
    }
}
