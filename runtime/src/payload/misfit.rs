//! Where a payload does not fit its type, and why.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::de::StrRead;
use serde_path_to_error::{Path, Segment, Track};

use super::nested::Pointers;

/// A deserializer that keeps track of where it is.
pub(super) type Tracked<'t, 'k, 'de> =
    serde_path_to_error::Deserializer<'t, 'k, &'t mut serde_json::Deserializer<StrRead<'de>>>;

/// Why a payload does not fit its type. Displays as `/items/0/quantity: below the minimum 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The JSON Pointer of the value; empty for the payload itself.
    pointer: String,
    reason: String,
}

/// Reads the payload `text`.
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    serde_json::from_str(text).map_err(|error| find::<T>(text, &error))
}

/// Reads the payload again, slower, to learn where it does not fit.
#[cold]
fn find<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Misfit {
    let _pointers = Pointers::new();
    match track(text, |tracked| T::deserialize(tracked)) {
        Err(misfit) => misfit,
        // An implementation that does not always say the same, or something behind the value.
        Ok(_) => Misfit { pointer: String::new(), reason: reason(error) },
    }
}

/// Reads `text` and says where it failed. A text inside it that failed has said so, too.
pub(super) fn track<'de, T>(
    text: &'de str,
    read: impl FnOnce(Tracked<'_, '_, 'de>) -> Result<T, serde_json::Error>,
) -> Result<T, Misfit> {
    let mut track = Track::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let outcome = read(serde_path_to_error::Deserializer::new(&mut deserializer, &mut track));
    outcome.map_err(|error| {
        let pointer = pointer(&track.path());
        let reason = reason(&error);
        match reason.strip_prefix('/').and_then(|inner| inner.split_once(": ")) {
            Some((inner, reason)) => Misfit { pointer: format!("{pointer}/{inner}"), reason: reason.to_owned() },
            None => Misfit { pointer, reason },
        }
    })
}

/// The message of an error, without line and column: those of a payload inside an envelope help nobody.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if message.ends_with(&place) {
        message.truncate(message.len() - place.len());
    }
    message
}

fn pointer(path: &Path) -> String {
    let token = |segment: &Segment| match segment {
        Segment::Seq { index } => index.to_string(),
        Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
        Segment::Enum { variant } => variant.replace('~', "~0").replace('/', "~1"),
        Segment::Unknown => "?".to_owned(),
    };
    path.iter().map(|segment| format!("/{}", token(segment))).collect()
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer.escape_debug())?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Misfit {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::decode;
    use crate::payload::{object, union};

    #[derive(Debug)]
    struct Order {
        _items: Vec<Line>,
        _tags: BTreeMap<String, (u8, String)>,
    }

    object! {
        Order {
            _items: required "items/all" [UniqueItems],
            _tags: required "tags" [Each(&[At(1, &[MinLength(1)])])],
        }
        others refused
    }

    #[derive(Debug)]
    struct Line {
        _quantity: u8,
        _price: Option<Price>,
    }

    object! {
        Line {
            _quantity: required "quantity" [Minimum(Whole(1))],
            _price: optional "~price",
        }
        others dropped
    }

    #[derive(Debug)]
    enum Price {
        Cents(u8),
        Steps(Vec<Step>),
    }

    union! {
        Price {
            Cents: Integer,
            Steps: Array,
        }
    }

    #[derive(Debug)]
    struct Step {
        _price: Price,
    }

    object! {
        Step { _price: required "p" }
        others dropped
    }

    fn misfit(text: &str) -> String {
        decode::<Order>(text).map(drop).expect_err("it does not fit").to_string()
    }

    #[test]
    fn an_error_names_the_place_and_the_rule() {
        for (text, error) in [
            ("[]", "invalid type: sequence, expected an object"),
            (r#"{"items/all":[]}"#, "missing member `tags`"),
            (r#"{"items/all":[],"tags":{},"x":1}"#, "/x: unknown member `x`"),
            (r#"{"items/all":[{"quantity":1},{"quantity":0}]}"#, "/items~1all/1/quantity: below the minimum 1"),
            (
                r#"{"items/all":[{"quantity":1},{"quantity":1.0}]}"#,
                "/items~1all: the items 0 and 1 are equal, and items have to be unique",
            ),
            (r#"{"items/all":[],"tags":{"a":[1,""]}}"#, "/tags/a/1: shorter than 1 character"),
            (r#"{"items/all":[],"tags":{"a":[1]}}"#, "/tags/a: the array has to have 2 items"),
            (r#"{"items/all":[],"tags":{"a":[1,"b",2]}}"#, "/tags/a: the array has to have 2 items"),
        ] {
            assert_eq!(misfit(text), error, "{text}");
        }
    }

    #[test]
    fn the_place_goes_on_inside_unions() {
        let with = |price: &str| misfit(&format!(r#"{{"items/all":[{{"quantity":1,"~price":{price}}}],"tags":{{}}}}"#));
        assert_eq!(with("true"), "/items~1all/0/~0price: found a boolean, expected an integer or an array");
        assert_eq!(with("256"), "/items~1all/0/~0price: the number is out of range of `u8`");
        assert_eq!(
            with(r#"[{"p":1},{"p":[{"p":-1}]}]"#),
            "/items~1all/0/~0price/1/p/0/p: the number is out of range of `u8`"
        );
        assert_eq!(with("[{}]"), "/items~1all/0/~0price/0: missing member `p`");
    }

    #[test]
    fn a_payload_type_of_serdes_own_has_places_too() {
        let error = decode::<BTreeMap<String, Vec<u8>>>(r#"{"a~":[1,"x"]}"#).expect_err("a string");
        assert_eq!(error.to_string(), r#"/a~0/1: invalid type: string "x", expected u8"#);
        assert_eq!(decode::<u8>("1 1").expect_err("two").to_string(), "trailing characters");
    }

    #[test]
    fn only_the_search_for_a_place_takes_the_time_for_it() {
        misfit("[]");
        let error = serde_json::from_str::<Line>(r#"{"quantity":1,"~price":[{}]}"#).unwrap_err().to_string();
        assert!(error.starts_with("missing member `p`"), "{error}");
    }
}
