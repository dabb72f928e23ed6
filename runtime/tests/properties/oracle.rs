//! What `serde_json` says of a body: a second opinion, of other authors.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Whether the bytes are one JSON value.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// The members of an object, names and values as they are spelled, in order; `None` when it is none.
pub(crate) fn members(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    struct Members(Vec<(String, String)>);

    impl<'de> Deserialize<'de> for Members {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(Collect)
        }
    }

    struct Collect;

    impl<'de> Visitor<'de> for Collect {
        type Value = Members;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
            let mut members = Vec::new();
            while let Some((name, value)) = map.next_entry::<Box<RawValue>, Box<RawValue>>()? {
                members.push((name.get().to_owned(), value.get().to_owned()));
            }
            Ok(Members(members))
        }
    }

    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str::<Members>(text).ok().map(|members| members.0)
}

/// A name as it reads; one with half of a surrogate pair is nobody's and stays as it is spelled.
pub(crate) fn name(spelled: &str) -> String {
    serde_json::from_str(spelled).unwrap_or_else(|_| spelled.to_owned())
}

/// Whether a string or a name in JSON holds half of a surrogate pair: `serde_json` takes none as a string.
pub(crate) fn has_half_of_a_pair(json: &[u8]) -> bool {
    if let Some(members) = members(json) {
        return members.iter().flat_map(|(name, value)| [name, value]).any(|text| has_half_of_a_pair(text.as_bytes()));
    }
    if let Ok(elements) = serde_json::from_slice::<Vec<Box<RawValue>>>(json) {
        return elements.iter().any(|element| has_half_of_a_pair(element.get().as_bytes()));
    }
    json.trim_ascii_start().starts_with(b"\"") && serde_json::from_slice::<String>(json).is_err()
}
