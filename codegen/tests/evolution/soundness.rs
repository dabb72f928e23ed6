//! Random pairs of schemas and random data: what was valid and is not any more must be told. A validator that knows
//! nothing of the gate is the judge.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::random::{self, Random};
use crate::states::States;

/// How many pairs of schemas one run of the gate compares, and how many such runs there are.
const PAIRS: usize = 200;
const RUNS: u64 = 6;

/// The data with which each pair is tried.
const INSTANCES: usize = 60;

#[test]
fn data_that_is_not_valid_any_more_is_always_a_break() {
    let mut counts = Counts::default();
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let pairs: Vec<(Value, Value)> = (0..PAIRS)
            .map(|_| {
                let earlier = random::schema(&mut random, 3);
                let now = random::changed(&mut random, &earlier);
                (earlier, now)
            })
            .collect();
        check(&pairs, &mut random, &mut counts);
    }
    // The test is worth something only if there is something to find, and pairs that are found compatible.
    assert!(counts.witnesses > 500 && counts.silent > 500, "{counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    /// Directions in which there is data that breaks.
    witnesses: usize,
    /// Directions of which the gate told nothing.
    silent: usize,
    /// Breaks that were told without data that shows them.
    told_alone: usize,
}

#[track_caller]
fn check(pairs: &[(Value, Value)], random: &mut Random, counts: &mut Counts) {
    let registry = registry(pairs.len());
    let files = |side: fn(&(Value, Value)) -> &Value| -> Vec<(String, String)> {
        let schemas = pairs.iter().enumerate().map(|(index, pair)| {
            let mut schema = side(pair).clone();
            if let Value::Object(members) = &mut schema {
                members.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
            }
            (format!("x{index}.json"), schema.to_string())
        });
        [("registry.json".to_owned(), registry.clone())].into_iter().chain(schemas).collect()
    };
    let (earlier, now) = (files(|pair| &pair.0), files(|pair| &pair.1));
    let states = States::new(&earlier, &now);
    let directions = [("BACKWARD", states.backward()), ("FORWARD", states.forward())];
    for (index, (earlier, now)) in pairs.iter().enumerate() {
        let instances: Vec<Value> =
            (0..INSTANCES).map(|at| random::instance(random, if at % 2 == 0 { earlier } else { now }, 3)).collect();
        for (direction, told) in &directions {
            let (data, reader) = if *direction == "BACKWARD" { (earlier, now) } else { (now, earlier) };
            let told: Vec<_> = told
                .iter()
                .filter(|line| {
                    line.contains(&format!("{direction}: the payload of `urn:babel:t:x{index}` breaks"))
                        || line.contains(&format!("/x{index}.json:"))
                })
                .collect();
            let witness = witness(data, reader, &instances);
            counts.witnesses += usize::from(witness.is_some());
            counts.silent += usize::from(told.is_empty());
            counts.told_alone += usize::from(witness.is_none() && !told.is_empty());
            if let Some(witness) = witness {
                assert!(!told.is_empty(), "{direction} told nothing:\n  {earlier}\n  {now}\n  {witness}");
            }
        }
    }
}

fn registry(messages: usize) -> String {
    let entries: Vec<Value> = (0..messages)
        .map(|index| json!({"urn": format!("urn:babel:t:x{index}"), "schema": format!("x{index}.json")}))
        .collect();
    json!({ "schemas": entries }).to_string()
}

/// Data that publishers write by the schema `data`, and that `reader` refuses.
fn witness<'a>(data: &Value, reader: &Value, instances: &'a [Value]) -> Option<&'a Value> {
    let (valid, written, reader) = (validator(data), validator(&written(data)), validator(reader));
    instances.iter().find(|value| valid.is_valid(value) && written.is_valid(value) && !reader.is_valid(value))
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("a schema")
}

/// The schema, but that no object has members that it does not speak of.
fn written(schema: &Value) -> Value {
    json!({"allOf": [spoken(schema)], "unevaluatedProperties": false})
}

fn spoken(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let inner = |name: &str, value: &Value| match (name, value) {
        ("items" | "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems", Value::Object(_)) => {
            written(value)
        }
        ("prefixItems", Value::Array(items)) => items.iter().map(written).collect(),
        ("properties" | "patternProperties", Value::Object(members)) => each(members, written),
        ("dependentSchemas", Value::Object(members)) => each(members, spoken),
        ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => items.iter().map(spoken).collect(),
        ("then" | "else", _) => spoken(value),
        _ => value.clone(),
    };
    // Members that may be anything are open, whether that is written down or not.
    let open = |name: &str, value: &Value| {
        matches!(name, "additionalProperties" | "unevaluatedProperties")
            && (*value == json!({}) || *value == json!(true))
    };
    let members = members.iter().filter(|(name, value)| !open(name, value));
    Value::Object(members.map(|(name, value)| (name.clone(), inner(name, value))).collect())
}

fn each(members: &Map<String, Value>, change: fn(&Value) -> Value) -> Value {
    Value::Object(members.iter().map(|(name, value)| (name.clone(), change(value))).collect())
}

#[test]
fn documentation_of_any_schema_may_change() {
    let mut random = Random::new(7);
    let pairs: Vec<(Value, Value)> = (0..PAIRS)
        .map(|_| {
            let earlier = random::schema(&mut random, 3);
            let now = documented(&earlier);
            (earlier, now)
        })
        .collect();
    let mut counts = Counts::default();
    check(&pairs, &mut random, &mut counts);
    assert_eq!((counts.silent, counts.told_alone), (2 * PAIRS, 0), "{counts:?}");
}

/// The schema with a title on every object that is a schema, and its members in another order.
fn documented(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let inner = |name: &str, value: &Value| match (name, value) {
        ("properties" | "patternProperties" | "dependentSchemas", Value::Object(members)) => each(members, documented),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(items)) => items.iter().map(documented).collect(),
        ("enum" | "const" | "required" | "dependentRequired" | "type", _) => value.clone(),
        (_, Value::Object(_)) => documented(value),
        _ => value.clone(),
    };
    let mut changed: Map<String, Value> =
        members.iter().rev().map(|(name, value)| (name.clone(), inner(name, value))).collect();
    changed.insert("title".into(), "t".into());
    Value::Object(changed)
}
