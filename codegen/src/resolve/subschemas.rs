//! Where a schema holds other schemas, by keyword and edition.

use super::Dialect::{self, Draft4, Draft6, Draft7, Draft2019, Draft2020};
use crate::json::{Json, Value};
use crate::pointer::Pointer;

/// What the value of a keyword is.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    One,
    List,
    Map,
}

/// A keyword, what its value is, and the first and last edition that has it.
type Keyword = (&'static str, Holds, Dialect, Dialect);

/// Both names are read in all editions.
const DEFINITIONS: &[Keyword] =
    &[("$defs", Holds::Map, Draft4, Draft2020), ("definitions", Holds::Map, Draft4, Draft2020)];

/// What is in neither list, such as `enum` or a keyword of somebody's own, holds no schemas, whatever it looks like.
const APPLICATORS: &[Keyword] = &[
    ("additionalItems", Holds::One, Draft4, Draft2019),
    ("additionalProperties", Holds::One, Draft4, Draft2020),
    ("allOf", Holds::List, Draft4, Draft2020),
    ("anyOf", Holds::List, Draft4, Draft2020),
    ("contains", Holds::One, Draft6, Draft2020),
    ("contentSchema", Holds::One, Draft2019, Draft2020),
    // The later editions keep the name for those who come from the earlier ones.
    ("dependencies", Holds::Map, Draft4, Draft2020),
    ("dependentSchemas", Holds::Map, Draft2019, Draft2020),
    ("else", Holds::One, Draft7, Draft2020),
    ("if", Holds::One, Draft7, Draft2020),
    ("items", Holds::One, Draft4, Draft2020),
    ("items", Holds::List, Draft4, Draft2019),
    ("not", Holds::One, Draft4, Draft2020),
    ("oneOf", Holds::List, Draft4, Draft2020),
    ("patternProperties", Holds::Map, Draft4, Draft2020),
    ("prefixItems", Holds::List, Draft2020, Draft2020),
    ("properties", Holds::Map, Draft4, Draft2020),
    ("propertyNames", Holds::One, Draft6, Draft2020),
    ("then", Holds::One, Draft7, Draft2020),
    ("unevaluatedItems", Holds::One, Draft2019, Draft2020),
    ("unevaluatedProperties", Holds::One, Draft2019, Draft2020),
];

/// The schemas directly in the schema `json` at `at`, with their places.
pub(super) fn all<'a>(dialect: Dialect, at: &Pointer, json: &'a Json) -> Vec<(Pointer, &'a Json)> {
    let mut found = find(dialect, at, json, DEFINITIONS);
    found.extend(applied(dialect, at, json));
    found
}

/// Those of `all` that are judged together with the schema, so not its definitions.
pub(super) fn applied<'a>(dialect: Dialect, at: &Pointer, json: &'a Json) -> Vec<(Pointer, &'a Json)> {
    find(dialect, at, json, APPLICATORS)
}

fn find<'a>(dialect: Dialect, at: &Pointer, json: &'a Json, keywords: &[Keyword]) -> Vec<(Pointer, &'a Json)> {
    let mut found = Vec::new();
    for (keyword, holds, first, last) in keywords {
        let Some(value) = json.get(keyword) else { continue };
        if !(*first..=*last).contains(&dialect) {
            continue;
        }
        let place = at.join(keyword);
        match (holds, &value.value) {
            (Holds::One, _) => found.push((place, value)),
            (Holds::List, Value::Array(items)) => {
                found.extend(items.iter().enumerate().map(|(index, item)| (place.join(&index.to_string()), item)));
            }
            (Holds::Map, Value::Object(members)) => {
                found.extend(members.iter().map(|(name, member)| (place.join(name), &member.json)));
            }
            _ => {}
        }
    }
    // An array is no schema: `items` and `dependencies` take other things, too.
    found.retain(|(_, json)| matches!(json.value, Value::Object(_) | Value::Bool(_)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn places(dialect: Dialect, text: &str) -> Vec<String> {
        let json = json::parse(text).expect("JSON");
        let found = all(dialect, &Pointer::default(), &json);
        found.iter().map(|(place, _)| place.as_str().to_owned()).collect()
    }

    #[test]
    fn only_keywords_of_the_edition_hold_schemas() {
        let text = r#"{"prefixItems":[{}],"items":[{}],"if":{},"unevaluatedItems":{},"$defs":{"a":{}}}"#;
        assert_eq!(places(Draft4, text), ["/$defs/a", "/items/0"]);
        assert_eq!(places(Draft7, text), ["/$defs/a", "/if", "/items/0"]);
        assert_eq!(places(Draft2019, text), ["/$defs/a", "/if", "/items/0", "/unevaluatedItems"]);
        assert_eq!(places(Draft2020, text), ["/$defs/a", "/if", "/prefixItems/0", "/unevaluatedItems"]);
    }

    #[test]
    fn values_and_unknown_keywords_hold_none() {
        let text = r#"{"enum":[{"not":{}}],"const":{"not":{}},"default":{"not":{}},"examples":[{}],"x-own":{"not":{}},
            "dependencies":{"a":["b"],"c/d":{}},"properties":{"enum":true}}"#;
        assert_eq!(places(Draft7, text), ["/dependencies/c~1d", "/properties/enum"]);
    }
}
