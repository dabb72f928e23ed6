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
        match form.tag {
            Some((name, values)) if kind == Kind::Object => match tag.value(name) {
                Some(value) if values.iter().any(|known| json::equal(known, value)) => {}
                Some(_) => continue,
                // It is for the form to say whether its tag may be missing. If it may not, this form was not meant.
                None => match (form.read)(text) {
                    Ok(value) => return Ok(value),
                    Err(_) => continue,
                },
            },
            _ => {}
        }
        match (form.read)(text) {
            Ok(value) => return Ok(value),
            Err(error) => failures.push((form.name, error)),
        }
    }
    Err(match failures.as_slice() {
        [] => no_form::<T>(kind, text, &mut tag),
        [(_, error), others @ ..] if others.iter().all(|(_, other)| other == error) => error.clone(),
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
        for kind in T::FORMS.iter().flat_map(|form| form.kinds) {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        }
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

        $crate::__read!($name read_union);

        impl $crate::private::serde::Serialize for $name {
            fn serialize<__S: $crate::private::serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                match self {
                    $(Self::$variant(value) => $crate::private::serde::Serialize::serialize(value, serializer),)*
                }
            }
        }
    };

    (@tag) => { ::core::option::Option::None };
    (@tag $tag:literal [$($value:literal),*]) => { ::core::option::Option::Some(($tag, &[$($value),*])) };
}

pub use __union as union;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Serialize, de::DeserializeOwned};

    use super::union;
    use crate::{
        json::Json,
        payload::{decode, object},
    };

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string().split(" at line").next().unwrap_or("").to_owned())
    }

    #[derive(Debug, PartialEq)]
    struct Created {
        id: u8,
    }

    object! {
        Created { id: required "id" }
        constants { "event/type" = "\"created\"" }
        others dropped
    }

    #[derive(Debug, PartialEq)]
    struct Ended {
        why: Option<Box<Event>>,
    }

    object! {
        Ended { why: optional "why" }
        others refused
    }

    #[derive(Debug, PartialEq)]
    enum Event {
        Created(Created),
        Ended(Box<Ended>),
        Whole(i64),
        Part(f64),
        Text(String),
        List(Vec<Event>),
        Nothing(()),
    }

    union! {
        Event {
            Created: Object where "event/type" in ["\"created\"", "\"made\""],
            Ended: Object where "event" in ["1"],
            Whole: Integer [Minimum(Whole(0))],
            Part: Fraction,
            Text: String [MaxLength(3)],
            List: Array [MinItems(1), UniqueItems],
            Nothing: Null,
        }
    }

    #[test]
    fn a_value_is_read_as_the_form_of_its_kind() {
        for (text, value) in [
            ("1.0", Event::Whole(1)),
            ("1.5", Event::Part(1.5)),
            ("\"abc\"", Event::Text("abc".to_owned())),
            ("null", Event::Nothing(())),
            ("[1,[null]]", Event::List(vec![Event::Whole(1), Event::List(vec![Event::Nothing(())])])),
        ] {
            assert_eq!(read::<Event>(text).unwrap(), value, "{text}");
            let written = serde_json::to_string(&value).unwrap();
            assert_eq!(read::<Event>(&written).unwrap(), value);
        }
        assert_eq!(
            read::<Event>("true").unwrap_err(),
            "found a boolean, expected an object or a number or a string or an array or null"
        );
        assert_eq!(read::<Event>("-1").unwrap_err(), "below the minimum 0");
        assert_eq!(read::<Event>("\"abcd\"").unwrap_err(), "longer than 3 characters");
        assert_eq!(read::<Event>("[]").unwrap_err(), "fewer than 1 item");
        assert_eq!(read::<Event>("[1,1.0]").unwrap_err(), "the items 0 and 1 are equal, and items have to be unique");
    }

    #[test]
    fn an_object_is_read_as_the_form_of_its_tag() {
        let created = read::<Event>(r#"{"x":{"event/type":2},"id":1,"event\/type":"creat\u0065d"}"#).unwrap();
        assert_eq!(created, Event::Created(Created { id: 1 }));
        assert_eq!(serde_json::to_string(&created).unwrap(), r#"{"id":1,"event/type":"created"}"#);
        assert_eq!(
            read::<Event>(r#"{"id":1,"event/type":"lost"}"#).unwrap_err(),
            r#"the member `event/type` is `"lost"`, expected one of `"created"`, `"made"`"#
        );
        assert_eq!(
            read::<Event>(r#"{"id":1}"#).unwrap_err(),
            r#"missing member `event/type`, expected one of `"created"`, `"made"`"#
        );
        assert_eq!(read::<Event>(r#"{"event/type":"created"}"#).unwrap_err(), "missing member `id`");
    }

    #[derive(Debug, PartialEq)]
    enum Loose {
        Small(u8),
        Named(BTreeMap<String, u8>),
        Line(Created),
        Big(Json),
    }

    union! {
        Loose {
            Small: Integer,
            Named: Object [MaxProperties(1)],
            Line: Object,
            Big: Integer [MultipleOf(Whole(10))],
        }
    }

    #[test]
    fn forms_that_only_trying_tells_apart_are_tried_in_order() {
        assert_eq!(read::<Loose>("30").unwrap(), Loose::Small(30));
        assert_eq!(read::<Loose>("300").unwrap(), Loose::Big(Json::of(&300).unwrap()));
        assert_eq!(read::<Loose>(r#"{"event/type":"created","id":3}"#).unwrap(), Loose::Line(Created { id: 3 }));
        assert_eq!(
            read::<Loose>("301").unwrap_err(),
            "the value has none of the forms it may have (Small: the number is out of range of `u8`; Big: no multiple of 10)"
        );
    }

    #[derive(Debug, PartialEq)]
    enum Tree {
        Left(BTreeMap<String, Tree>),
        Right(BTreeMap<String, Tree>),
        Leaf(u8),
    }

    union! {
        Tree {
            Left: Object,
            Right: Object,
            Leaf: Integer,
        }
    }

    fn deep(levels: usize, leaf: &str) -> String {
        format!("{}{leaf}{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn forms_at_every_level_do_not_take_an_exponential_time() {
        assert!(read::<Tree>(&deep(100, "1")).is_ok());
        let error = read::<Tree>(&deep(100, "\"x\"")).unwrap_err();
        assert!(error.len() < 1000, "{error}");
    }

    struct Chain {
        next: Option<Box<Chain>>,
        tree: Option<Tree>,
    }

    object! {
        Chain { next: optional "next", tree: optional "tree" }
        others refused
    }

    #[test]
    fn a_deep_value_is_an_error_and_not_the_end_of_the_stack() {
        fn on_a_small_stack<T: DeserializeOwned + 'static>(text: String) -> Result<(), String> {
            let thread = std::thread::Builder::new().stack_size(2 << 20);
            thread.spawn(move || read::<T>(&text).map(drop)).unwrap().join().unwrap()
        }
        let too_deep = "the value nests deeper than 128 levels";
        assert_eq!(on_a_small_stack::<Tree>(deep(127, "1")), Ok(()));
        assert_eq!(on_a_small_stack::<Tree>(deep(129, "1")), Err(too_deep.to_owned()));
        assert_eq!(on_a_small_stack::<Tree>(deep(1_000_000, "1")), Err(too_deep.to_owned()));
        // Below the levels of an object that is no union.
        let chain = |levels: usize, tree: &str| {
            format!("{}{{\"tree\":{tree}}}{}", r#"{"next":"#.repeat(levels), "}".repeat(levels))
        };
        assert_eq!(on_a_small_stack::<Chain>(chain(126, &deep(127, "1"))), Ok(()));
        let text = chain(126, &deep(127, "[]"));
        let search = std::thread::Builder::new().stack_size(2 << 20).spawn(move || decode::<Chain>(&text).is_err());
        assert!(search.unwrap().join().unwrap());
        assert!(on_a_small_stack::<Chain>(chain(128, &deep(127, "1"))).unwrap_err().contains("recursion limit"));
    }

    #[derive(Debug, PartialEq)]
    enum Circle {
        Itself(Box<Circle>),
    }

    union! {
        Circle { Itself: Integer }
    }

    #[test]
    fn a_form_that_leads_to_itself_is_an_error() {
        assert!(read::<Circle>("1").unwrap_err().contains("in a circle"));
        assert!(read::<Event>("1").is_ok(), "the thread reads on");
    }

    #[test]
    fn a_union_writes_what_it_holds() {
        let ended = Event::Ended(Box::new(Ended { why: Some(Box::new(Event::Part(0.5))) }));
        let mut text = Vec::new();
        ended.serialize(&mut serde_json::Serializer::new(&mut text)).unwrap();
        assert_eq!(text, br#"{"why":0.5}"#);
    }
}
