//! The text of an exported schema, whose bytes come from its content alone.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};

/// Members that come first and last, as people write a schema; the others stand between them by name. The order that they
/// have in memory depends on a feature of `serde_json` that any other crate may turn on.
const FIRST: &[&str] = &["$schema", "$id", "$comment", "$ref", "title", "description", "type", "format"];
const LAST: &[&str] = &["required", "properties", "additionalProperties", "definitions"];

/// The text of a file: indented, with a line feed at its end.
pub(super) fn text(schema: &Value) -> String {
    // A JSON value always serializes.
    let mut text = serde_json::to_string_pretty(&Ordered(schema)).unwrap_or_default();
    text.push('\n');
    text
}

struct Ordered<'a>(&'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in sorted(members) {
                    map.serialize_entry(name, &Ordered(value))?;
                }
                map.end()
            }
            Value::Array(elements) => serializer.collect_seq(elements.iter().map(Ordered)),
            other => other.serialize(serializer),
        }
    }
}

fn sorted(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_cached_key(|(name, _)| {
        let place = |list: &[&str]| list.iter().position(|other| other == name);
        match (place(FIRST), place(LAST)) {
            (Some(place), _) => (0, place, String::new()),
            (None, Some(place)) => (2, place, String::new()),
            (None, None) => (1, 0, (*name).clone()),
        }
    });
    members
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text;

    #[test]
    fn members_stand_where_people_look_for_them_and_the_text_ends_in_a_line_feed() {
        let schema = json!({
            "definitions": {"b": {}, "a": {"maximum": 9, "minimum": 1, "type": "integer"}},
            "properties": {"z": true, "a": {"default": {"y": 1, "x": 2}}},
            "required": ["z"],
            "title": "T",
            "oneOf": [],
            "$schema": "s",
        });
        let expected = r#"{
  "$schema": "s",
  "title": "T",
  "oneOf": [],
  "required": [
    "z"
  ],
  "properties": {
    "a": {
      "default": {
        "x": 2,
        "y": 1
      }
    },
    "z": true
  },
  "definitions": {
    "a": {
      "type": "integer",
      "maximum": 9,
      "minimum": 1
    },
    "b": {}
  }
}
"#;
        assert_eq!(text(&schema), expected);
    }
}
