//! Random schemas from a table of building blocks, and random data for them.

use serde_json::{Map, Value, json};

/// A generator of numbers that are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).expect("a small number")
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const NAMES: [&str; 4] = ["a", "b", "ab", "c"];
const PATTERNS: [&str; 3] = ["^a", "b$", "^[abc]+$"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A schema with schemas inside, at most `depth` deep.
pub(crate) fn schema(random: &mut Random, depth: usize) -> Value {
    if random.one_in(25) {
        return Value::Bool(random.one_in(2) || random.one_in(2));
    }
    let mut members = Map::new();
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => {
            let mut types: Vec<&str> = (0..=random.below(3)).map(|_| *random.pick(&TYPES)).collect();
            types.sort_unstable();
            types.dedup();
            members.insert("type".into(), json!(types));
        }
        1 => members.extend(values(random)),
        2 => members.extend(number(random)),
        3 | 4 => members.extend(string(random)),
        5 | 6 => members.extend(object(random, depth)),
        7 => members.extend(array(random, depth)),
        _ => {}
    }
    if depth > 0 && random.one_in(3) {
        members.extend(combined(random, depth));
    }
    Value::Object(members)
}

fn entries(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn values(random: &mut Random) -> Map<String, Value> {
    let mut values: Vec<Value> = Vec::new();
    for _ in 0..=random.below(3) {
        let value = scalar(random);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    entries(if random.one_in(3) { json!({"const": values[0]}) } else { json!({"enum": values}) })
}

fn number(random: &mut Random) -> Map<String, Value> {
    let mut members = entries(json!({"type": random.pick(&["integer", "number"])}));
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        if random.one_in(4) {
            members.insert(keyword.into(), random.pick(&[json!(0), json!(1), json!(2), json!(1.5), json!(3)]).clone());
        }
    }
    if random.one_in(4) {
        members.insert("multipleOf".into(), random.pick(&[json!(1), json!(2), json!(0.5)]).clone());
    }
    members
}

fn string(random: &mut Random) -> Map<String, Value> {
    let mut members = entries(json!({"type": "string"}));
    for keyword in ["minLength", "maxLength"] {
        if random.one_in(3) {
            members.insert(keyword.into(), random.below(4).into());
        }
    }
    if random.one_in(3) {
        members.insert("pattern".into(), (*random.pick(&PATTERNS)).into());
    }
    members
}

fn object(random: &mut Random, depth: usize) -> Map<String, Value> {
    let mut members = entries(if random.one_in(5) { json!({}) } else { json!({"type": "object"}) });
    let mut named = |random: &mut Random, keyword: &str, names: &[&str]| {
        let mut schemas = Map::new();
        for _ in 0..=random.below(2) {
            schemas.insert((*random.pick(names)).into(), schema(random, depth - 1));
        }
        members.insert(keyword.into(), Value::Object(schemas));
    };
    named(random, "properties", &NAMES);
    if random.one_in(5) {
        named(random, "patternProperties", &PATTERNS);
    }
    if random.one_in(8) {
        named(random, "dependentSchemas", &NAMES);
    }
    if random.one_in(2) {
        members.insert("required".into(), json!([random.pick(&NAMES)]));
    }
    if random.one_in(3) {
        let schema = if random.one_in(2) { json!(false) } else { schema(random, depth - 1) };
        members.insert("additionalProperties".into(), schema);
    } else if random.one_in(6) {
        let schema = if random.one_in(2) { json!(false) } else { schema(random, depth - 1) };
        members.insert("unevaluatedProperties".into(), schema);
    }
    if random.one_in(8) {
        members.insert("propertyNames".into(), Value::Object(string(random)));
    }
    if random.one_in(8) {
        members.insert("dependentRequired".into(), json!({*random.pick(&NAMES): [random.pick(&NAMES)]}));
    }
    for keyword in ["minProperties", "maxProperties"] {
        if random.one_in(10) {
            members.insert(keyword.into(), random.below(3).into());
        }
    }
    members
}

fn array(random: &mut Random, depth: usize) -> Map<String, Value> {
    let mut members = entries(json!({"type": "array"}));
    if random.one_in(3) {
        let items: Vec<Value> = (0..=random.below(2)).map(|_| schema(random, depth - 1)).collect();
        members.insert("prefixItems".into(), items.into());
    }
    if !random.one_in(3) {
        members.insert("items".into(), schema(random, depth - 1));
    } else if random.one_in(3) {
        members.insert("unevaluatedItems".into(), schema(random, depth - 1));
    }
    if random.one_in(5) {
        members.insert("contains".into(), schema(random, depth - 1));
        for keyword in ["minContains", "maxContains"] {
            if random.one_in(3) {
                members.insert(keyword.into(), random.below(3).into());
            }
        }
    }
    for keyword in ["minItems", "maxItems"] {
        if random.one_in(4) {
            members.insert(keyword.into(), random.below(3).into());
        }
    }
    if random.one_in(4) {
        members.insert("uniqueItems".into(), json!(true));
    }
    members
}

fn combined(random: &mut Random, depth: usize) -> Map<String, Value> {
    let list =
        |random: &mut Random| -> Vec<Value> { (0..=random.below(2) + 1).map(|_| schema(random, depth - 1)).collect() };
    entries(match random.below(6) {
        0 => json!({"allOf": list(random)}),
        1 => json!({"anyOf": list(random)}),
        2 => json!({"oneOf": list(random)}),
        3 => json!({"not": schema(random, depth - 1)}),
        4 => json!({"if": schema(random, depth - 1), "then": schema(random, depth - 1)}),
        _ => {
            json!({"if": schema(random, depth - 1), "then": schema(random, depth - 1), "else": schema(random, depth - 1)})
        }
    })
}

/// The schema with a few small changes.
pub(crate) fn changed(random: &mut Random, original: &Value) -> Value {
    let mut changed = original.clone();
    for _ in 0..=random.below(2) {
        change(random, &mut changed, 3);
    }
    changed
}

fn change(random: &mut Random, value: &mut Value, depth: usize) {
    let Value::Object(members) = value else {
        *value = schema(random, depth);
        return;
    };
    let names: Vec<String> = members.keys().cloned().collect();
    match random.below(6) {
        0 => members.extend(entries(schema(random, depth))),
        1 if !names.is_empty() => {
            members.remove(random.pick(&names));
        }
        _ if !names.is_empty() && depth > 0 => {
            let name = random.pick(&names).clone();
            if let Some(inner) = members.get_mut(&name) {
                change_keyword(random, &name, inner, depth - 1);
            }
        }
        _ => *value = schema(random, depth),
    }
}

fn change_keyword(random: &mut Random, keyword: &str, value: &mut Value, depth: usize) {
    match (keyword, value) {
        ("properties" | "patternProperties" | "dependentSchemas", Value::Object(members)) => {
            let names: Vec<String> = members.keys().cloned().collect();
            match random.below(4) {
                0 => {
                    let name = *random.pick(if keyword == "patternProperties" { &PATTERNS } else { &NAMES[..3] });
                    members.insert(name.into(), schema(random, depth));
                }
                1 if !names.is_empty() => {
                    members.remove(random.pick(&names));
                }
                _ => {
                    if let Some(inner) = names.first().and_then(|name| members.get_mut(name)) {
                        change(random, inner, depth);
                    }
                }
            }
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(items)) => match random.below(4) {
            0 => items.push(schema(random, depth)),
            1 if items.len() > 1 => {
                items.remove(random.below(items.len()));
            }
            _ => {
                let at = random.below(items.len());
                change(random, &mut items[at], depth);
            }
        },
        ("enum", Value::Array(items)) => {
            let value = scalar(random);
            if random.one_in(2) && items.len() > 1 {
                items.pop();
            } else if !items.contains(&value) {
                items.push(value);
            }
        }
        ("type", value) => *value = json!([random.pick(&TYPES)]),
        ("required", value) => *value = json!([random.pick(&NAMES)]),
        ("pattern", value) => *value = (*random.pick(&PATTERNS)).into(),
        ("const", value) => *value = scalar(random),
        ("dependentRequired", _) => {}
        ("uniqueItems", value) => *value = json!(false),
        ("multipleOf", value) => *value = random.pick(&[json!(1), json!(2), json!(4)]).clone(),
        (_, value @ Value::Number(_)) => *value = random.below(4).into(),
        (_, value) => change(random, value, depth),
    }
}

fn scalar(random: &mut Random) -> Value {
    let scalars = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(1.5),
        json!(-1),
        json!(4),
        json!(""),
        json!("a"),
        json!("b"),
        json!("ab"),
        json!("abc"),
        json!("x"),
        json!("abcd"),
        json!("cb"),
        json!("c"),
    ];
    random.pick(&scalars).clone()
}

/// Data that is likely to fit `schema`.
pub(crate) fn instance(random: &mut Random, schema: &Value, depth: usize) -> Value {
    let Value::Object(members) = schema else { return anything(random, depth) };
    if random.one_in(12) {
        return anything(random, depth);
    }
    if let Some(Value::Array(values)) = members.get("enum") {
        return random.pick(values).clone();
    }
    if let Some(value) = members.get("const") {
        return value.clone();
    }
    let branches: Vec<&Value> = ["allOf", "anyOf", "oneOf"]
        .iter()
        .filter_map(|keyword| members.get(*keyword)?.as_array())
        .flatten()
        .chain(["if", "then", "else"].iter().filter_map(|keyword| members.get(*keyword)))
        .collect();
    let part = (!branches.is_empty()).then(|| (*random.pick(&branches)).clone()).filter(|_| random.one_in(2));
    let kind = members.get("type").map(|kind| match kind {
        Value::Array(kinds) => random.pick(kinds).clone(),
        kind => kind.clone(),
    });
    let own = match kind.as_ref().and_then(Value::as_str) {
        Some("object") => object_of(random, members, depth),
        Some("array") => array_of(random, members, depth),
        Some("string") => random.pick(&["", "a", "b", "ab", "abc", "x", "abcd", "cb"].map(Value::from)).clone(),
        Some("integer") => random.pick(&[0, 1, 2, 3, 4, -1].map(Value::from)).clone(),
        Some("number") => random.pick(&[0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0].map(Value::from)).clone(),
        Some("null") => Value::Null,
        Some("boolean") => random.one_in(2).into(),
        _ if members.contains_key("properties") || members.contains_key("required") => {
            object_of(random, members, depth)
        }
        _ => anything(random, depth),
    };
    match (own, part.map(|part| instance(random, &part, depth))) {
        // Members of both.
        (Value::Object(mut own), Some(Value::Object(part))) => {
            own.extend(part);
            Value::Object(own)
        }
        (own, None) => own,
        (_, Some(part)) => part,
    }
}

fn object_of(random: &mut Random, members: &Map<String, Value>, depth: usize) -> Value {
    let mut object = Map::new();
    let required = members.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = members.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let anything = json!({});
    let rest = members.get("additionalProperties").unwrap_or(&anything).clone();
    for name in NAMES {
        if required.contains(&name.into()) || (properties.contains_key(name) && !random.one_in(3)) || random.one_in(8) {
            let schema = properties.get(name).unwrap_or(&rest);
            object.insert(name.into(), instance(random, schema, depth.saturating_sub(1)));
        }
    }
    Value::Object(object)
}

fn array_of(random: &mut Random, members: &Map<String, Value>, depth: usize) -> Value {
    let prefix = members.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
    let anything = json!({});
    let items = members.get("items").or(members.get("contains")).unwrap_or(&anything).clone();
    (0..random.below(4)).map(|at| instance(random, prefix.get(at).unwrap_or(&items), depth.saturating_sub(1))).collect()
}

fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 3 } else { 5 }) {
        0..=2 => scalar(random),
        3 => (0..random.below(3)).map(|_| anything(random, depth - 1)).collect(),
        _ => {
            let mut object = Map::new();
            for _ in 0..random.below(3) {
                object.insert((*random.pick(&NAMES)).into(), anything(random, depth - 1));
            }
            Value::Object(object)
        }
    }
}
