//! Payloads made from a schema, with another value at each place.
//!
//! Only for schemas as schemars writes them, and only as true to them as it takes to be read: a payload that its type refuses
//! is an error of the export, never a wrong result.

use serde_json::{Map, Value, json};

/// How deep a payload may be, and how many values it may have.
const DEEPEST: usize = 64;
const MOST: usize = 10_000;

/// One of two payloads that differ at each place, by a difference that no other place has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    First,
    Second,
}

/// A payload, with the optional members or without them; `None` where none could be made.
pub(super) fn payload(schema: &Value, optional: bool, which: Which) -> Option<Value> {
    Sampler { root: schema, optional, which, made: 0, places: 0, following: Vec::new() }.value(schema)
}

struct Sampler<'a> {
    root: &'a Value,
    optional: bool,
    which: Which,
    /// How many values were made.
    made: usize,
    /// How many places have a number.
    places: u64,
    /// The references that lead to the present place, so that none is followed inside itself.
    following: Vec<&'a str>,
}

impl<'a> Sampler<'a> {
    /// A number for the next place.
    fn number(&mut self) -> u64 {
        self.places += 1;
        match self.which {
            Which::First => self.places,
            Which::Second => 2 * self.places + 1,
        }
    }

    fn value(&mut self, schema: &'a Value) -> Option<Value> {
        self.made += 1;
        if self.made > MOST {
            return None;
        }
        let Value::Object(keywords) = schema else { return (*schema == Value::Bool(true)).then_some(Value::Null) };
        let first = |name: &str| keywords.get(name)?.as_array()?.first();
        if let Some(given) = first("examples").or_else(|| keywords.get("const")).or_else(|| first("enum")) {
            return Some(given.clone());
        }
        let mut parts = Vec::new();
        if let Some(kind) = kind(keywords) {
            parts.push(self.of_kind(kind, keywords)?);
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            parts.push(self.referred(reference)?);
        }
        for schema in list(keywords, "allOf") {
            parts.push(self.value(schema)?);
        }
        for branches in ["oneOf", "anyOf"].map(|name| list(keywords, name)).into_iter().filter(|list| !list.is_empty())
        {
            parts.push(self.branch(branches)?);
        }
        Some(parts.into_iter().reduce(merge).unwrap_or(Value::Null))
    }

    fn referred(&mut self, reference: &'a str) -> Option<Value> {
        let target = self.root.pointer(reference.strip_prefix('#')?)?;
        if self.following.contains(&reference) || self.following.len() == DEEPEST {
            return None;
        }
        self.following.push(reference);
        let value = self.value(target);
        self.following.pop();
        value
    }

    /// The first branch that is more than null.
    fn branch(&mut self, branches: &'a [Value]) -> Option<Value> {
        let mut null = None;
        for branch in branches {
            match self.value(branch) {
                Some(Value::Null) => null = Some(Value::Null),
                Some(value) => return Some(value),
                None => {}
            }
        }
        null
    }

    fn of_kind(&mut self, kind: &str, keywords: &'a Map<String, Value>) -> Option<Value> {
        Some(match kind {
            "object" => self.object(keywords)?,
            "array" => self.array(keywords)?,
            "string" => self.string(keywords).into(),
            "integer" => self.integer(keywords)?,
            "number" => json!(self.number()),
            "boolean" => json!(self.number().is_multiple_of(2)),
            _ => Value::Null,
        })
    }

    fn object(&mut self, keywords: &'a Map<String, Value>) -> Option<Value> {
        let required = list(keywords, "required");
        let mut members = Map::new();
        for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let required = required.iter().any(|other| other == name);
            if !required && !self.optional {
                continue;
            }
            match self.value(schema) {
                Some(value) => drop(members.insert(name.clone(), value)),
                None if required => return None,
                None => {}
            }
        }
        Some(Value::Object(members))
    }

    fn array(&mut self, keywords: &'a Map<String, Value>) -> Option<Value> {
        let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        match keywords.get("items") {
            Some(Value::Array(schemas)) => schemas.iter().map(|schema| self.value(schema)).collect(),
            Some(schema) => (0..least).map(|_| self.value(schema)).collect(),
            None => (0..least.min(DEEPEST as u64)).map(|_| Some(Value::Null)).collect(),
        }
    }

    fn integer(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_i64);
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum")?.checked_add(1)).unwrap_or(0);
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum")?.checked_sub(1)).unwrap_or(i64::MAX);
        let number = i64::try_from(self.number()).ok()?;
        // One that fits, wherever the bounds are.
        let width = most.saturating_sub(least).saturating_add(1).max(1);
        Some(json!(least.checked_add(number % width)?))
    }

    fn string(&mut self, keywords: &Map<String, Value>) -> String {
        let number = self.number();
        let (minutes, seconds) = (number / 60 % 60, number % 60);
        match keywords.get("format").and_then(Value::as_str) {
            Some("uuid") => return format!("00000000-0000-4000-8000-{number:012x}"),
            Some("date-time") => return format!("2000-01-01T00:{minutes:02}:{seconds:02}Z"),
            Some("partial-date-time") => return format!("2000-01-01T00:{minutes:02}:{seconds:02}"),
            Some("zoned-date-time") => return format!("2000-01-01T00:{minutes:02}:{seconds:02}+00:00[UTC]"),
            Some("date") => return format!("{}-01-01", 2000 + number),
            Some("time") => return format!("00:{minutes:02}:{seconds:02}Z"),
            Some("partial-time") => return format!("00:{minutes:02}:{seconds:02}"),
            Some("duration") => return format!("PT{number}S"),
            Some("ip" | "ipv4") => return format!("10.0.{}.{}", number / 256 % 256, number % 256),
            Some("ipv6") => return format!("fd00::{:x}", number % 0x1_0000),
            Some("uri") => return format!("https://example.com/{number}"),
            Some("email") => return format!("k{number}@example.com"),
            _ => {}
        }
        // What a pattern asks is not known; decimals are the type of schemars' own that has one.
        let text = if keywords.contains_key("pattern") { number.to_string() } else { format!("k{number}") };
        let bound =
            |name: &str| keywords.get(name).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(usize::MAX));
        if text.len() > most {
            // A letter has more values than a digit.
            return (0..most).map(|place| letter(number, place)).collect();
        }
        format!("{text:k>width$}", width = least.min(MOST))
    }
}

fn letter(number: u64, place: usize) -> char {
    let shifted = u32::try_from(place).ok().and_then(|place| 26_u64.checked_pow(place)).map_or(0, |base| number / base);
    u8::try_from(shifted % 26).map_or('a', |offset| char::from(b'a' + offset))
}

/// The type, and of several the first that is not null.
fn kind(keywords: &Map<String, Value>) -> Option<&str> {
    match keywords.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            let first = kinds.next();
            if first == Some("null") { kinds.next().or(first) } else { first }
        }
        _ => keywords.contains_key("properties").then_some("object"),
    }
}

fn list<'a>(keywords: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    keywords.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What is valid for two schemas that describe members of one object; of anything else, what the second one describes.
fn merge(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut members), Value::Object(more)) => {
            members.extend(more);
            Value::Object(members)
        }
        (_, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_members_are_made_and_optional_ones_when_asked() {
        let schema = json!({
            "type": "object",
            "required": ["id", "of"],
            "properties": {
                "id": {"type": "integer", "minimum": 1, "maximum": 255},
                "of": {"allOf": [{"$ref": "#/definitions/Of"}], "description": "d"},
                "note": {"type": ["null", "string"]},
            },
            "definitions": {"Of": {"oneOf": [{"type": "null"}, {"required": ["kind"], "properties": {"kind": {"const": "a"}}}]}},
        });
        assert_eq!(payload(&schema, false, Which::First), Some(json!({"id": 2, "of": {"kind": "a"}})));
        assert_eq!(payload(&schema, true, Which::First), Some(json!({"id": 2, "note": "k2", "of": {"kind": "a"}})));
    }

    #[test]
    fn no_two_places_hold_the_same_in_both_payloads() {
        let integers: Map<String, Value> =
            (0..50).map(|least| (least.to_string(), json!({"type": "integer", "minimum": least}))).collect();
        let schema = json!({"properties": integers});
        let both = [Which::First, Which::Second].map(|which| payload(&schema, true, which).unwrap());
        let seen: std::collections::HashSet<_> =
            integers.keys().map(|name| both.each_ref().map(|payload| payload[name].to_string())).collect();
        assert_eq!(seen.len(), 50);
    }

    #[test]
    fn strings_keep_to_their_lengths() {
        let made = |schema: &Value| payload(schema, false, Which::Second).unwrap();
        assert_eq!(made(&json!({"type": "string", "minLength": 1, "maxLength": 1})), "d");
        assert_eq!(made(&json!({"type": "string", "minLength": 5})), "kkkk3");
        assert_eq!(made(&json!({"type": "string", "pattern": "^\\d+$"})), "3");
        assert_eq!(made(&json!({"type": "string", "maxLength": 0})), "");
    }

    #[test]
    fn types_within_themselves_end() {
        let schema = json!({
            "$ref": "#/definitions/Node",
            "definitions": {
                "Node": {"properties": {
                    "left": {"anyOf": [{"$ref": "#/definitions/Node"}, {"type": "null"}]},
                    "right": {"$ref": "#/definitions/Node"},
                }},
                "Endless": {"required": ["of"], "properties": {"of": {"$ref": "#/definitions/Endless"}}},
            },
        });
        assert_eq!(payload(&schema, true, Which::First), Some(json!({"left": null})));
        let endless = json!({"$ref": "#/definitions/Endless", "definitions": schema["definitions"]});
        assert_eq!(payload(&endless, false, Which::First), None);
    }

    #[test]
    fn a_schema_that_doubles_with_each_step_has_an_end() {
        let step = |index: usize| {
            let next = json!({"$ref": format!("#/definitions/{}", index + 1)});
            (index.to_string(), json!({"required": ["a", "b"], "properties": {"a": next, "b": next}}))
        };
        let mut definitions: Map<String, Value> = (0..60).map(step).collect();
        definitions.insert("60".to_owned(), json!({"type": "string"}));
        let schema = json!({"$ref": "#/definitions/0", "definitions": definitions});
        assert_eq!(payload(&schema, false, Which::First), None);
    }
}
