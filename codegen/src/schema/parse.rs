//! From the JSON of a schema to its keywords, as its dialect reads them. What a dialect does not know is an annotation.

use super::pattern;
use super::read::Reader;
use super::{Arena, Array, Literal, Object, Schema, SchemaId, Union};
use crate::json::{Json, Value};
use crate::load::Failure;
use crate::model::{Kinds, Rule};
use crate::resolve::{Dialect, Location, Target};

/// How much may be nested in the path of a Rust type.
const MAX_NESTED: usize = 32;

/// Reads the schema at `place`; what is wrong with it is reported.
pub(super) fn schema(arena: &mut Arena, place: &Location) -> Schema {
    let Some(json) = place.json() else { return Schema::anything(place.clone()) };
    match &json.value {
        Value::Object(_) => {}
        Value::Bool(false) => return Schema { kinds: Kinds::NONE, ..Schema::anything(place.clone()) },
        Value::Bool(true) => return Schema::anything(place.clone()),
        _ => {
            arena.report(place, "a schema must be an object, or `true` or `false`");
            return Schema::anything(place.clone());
        }
    }
    let dialect = arena.resolver.dialect(place);
    let mut reader = Reader { arena, place, json, inside: Vec::new() };
    let mut schema = Schema::anything(place.clone());
    definitions(&mut reader);
    annotations(&mut reader, &mut schema);
    references(&mut reader, &mut schema, dialect);
    // Up to draft-07 nothing beside `$ref` counts.
    if dialect >= Dialect::Draft2019 || !reader.has("$ref") {
        applicators(&mut reader, &mut schema, dialect);
        values(&mut reader, &mut schema, dialect);
        numbers(&mut reader, &mut schema.rules, dialect);
        sizes(&mut reader, &mut schema.rules);
        schema.unchecked = reader.has("pattern");
        schema.object = object(&mut reader, &mut schema.rules, &mut schema.conditional, dialect);
        schema.array = array(&mut reader, &mut schema.rules, &mut schema.conditional, dialect);
    }
    schema.inside = reader.inside;
    if !arena.resolver.validates(&schema.place.document) {
        schema.validates_nothing();
    }
    schema
}

impl Schema {
    /// A schema that says nothing.
    fn anything(place: Location) -> Self {
        Self {
            place,
            title: None,
            description: None,
            kinds: Kinds::ALL,
            typed: false,
            values: None,
            format: None,
            rules: Vec::new(),
            unchecked: false,
            also: Vec::new(),
            unions: Vec::new(),
            not: None,
            conditional: false,
            object: Object::default(),
            array: Array::default(),
            rust_type: None,
            rust_name: None,
            sensitive: false,
            inside: Vec::new(),
        }
    }

    /// Leaves out what only validates.
    fn validates_nothing(&mut self) {
        (self.kinds, self.typed, self.values) = (Kinds::ALL, false, None);
        self.rules.clear();
        self.object.required.clear();
    }
}

/// Both keywords are read in every dialect: teams mix them.
fn definitions(reader: &mut Reader<'_>) {
    for keyword in ["definitions", "$defs"] {
        reader.schema_map(keyword);
    }
}

/// The path of a Rust type.
fn rust_type(reader: &mut Reader<'_>) -> Option<String> {
    let path = reader.text("x-rust-type")?;
    // The parser's stack grows with what is nested.
    let nested = path.chars().filter(|c| matches!(c, '<' | '(' | '[' | '{')).count();
    if nested > MAX_NESTED || syn::parse_str::<syn::TypePath>(&path).is_err() {
        return reader.refuse("x-rust-type", format!("`{}` is no path of a Rust type", path.escape_debug()));
    }
    Some(path)
}

fn annotations(reader: &mut Reader<'_>, schema: &mut Schema) {
    let some = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    schema.title = some(reader.text("title"));
    schema.description = some(reader.text("description"));
    schema.rust_type = rust_type(reader);
    schema.rust_name = reader.text("x-rust-name");
    schema.sensitive = match reader.json.get("x-gdpr-sensitive").map(|json| &json.value) {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true) | Value::String(_)) => true,
        Some(_) => {
            reader.refuse("x-gdpr-sensitive", "`x-gdpr-sensitive` must be true, false or a category").unwrap_or(true)
        }
    };
}

fn references(reader: &mut Reader<'_>, schema: &mut Schema, dialect: Dialect) {
    let dynamic = match dialect {
        Dialect::Draft2019 => Some("$recursiveRef"),
        Dialect::Draft2020 => Some("$dynamicRef"),
        _ => None,
    };
    for keyword in ["$ref"].into_iter().chain(dynamic) {
        let Some(text) = reader.text(keyword) else { continue };
        let place = reader.place;
        let found = if keyword == "$ref" {
            reader.arena.resolver.reference(place, &text)
        } else {
            reader.arena.resolver.dynamic_reference(place, &text)
        };
        match found {
            Ok(Target::Schema(target)) => schema.also.push(reader.arena.at(&target)),
            Ok(Target::Metaschema(_)) => {
                schema.kinds = schema.kinds.and(Kinds::BOOLEAN.or(Kinds::OBJECT));
                schema.conditional = true;
            }
            Ok(Target::Dynamic) => schema.conditional = true,
            Err(Failure::Unreadable(reason)) => {
                reader.refuse::<()>(keyword, reason);
            }
            Err(Failure::Reported) => {}
        }
    }
}

fn applicators(reader: &mut Reader<'_>, schema: &mut Schema, dialect: Dialect) {
    schema.also.extend(reader.schemas("allOf").unwrap_or_default());
    for (keyword, exclusive) in [("anyOf", false), ("oneOf", true)] {
        if let Some(branches) = reader.schemas(keyword) {
            schema.unions.push(Union { branches, exclusive });
        }
    }
    schema.not = reader.schema("not");
    if dialect >= Dialect::Draft7 {
        let condition = reader.schema("if").is_some();
        reader.schema("then");
        reader.schema("else");
        schema.conditional |= condition;
    }
}

fn values(reader: &mut Reader<'_>, schema: &mut Schema, dialect: Dialect) {
    schema.typed = reader.has("type");
    schema.kinds = schema.kinds.and(kinds(reader));
    let listed = reader.values("enum");
    let one = if dialect >= Dialect::Draft6 { reader.json.get("const").map(Literal::of) } else { None };
    let allowed = match (listed, one) {
        (None, None) => None,
        (Some(listed), None) => Some(listed),
        (None, Some(one)) => Some(vec![one]),
        (Some(listed), Some(one)) => Some(listed.into_iter().filter(|value| *value == one).collect()),
    };
    if let Some(allowed) = allowed {
        let mut values: Vec<Literal> = Vec::new();
        for value in allowed {
            if schema.kinds.meets(value.kind) && !values.contains(&value) {
                values.push(value);
            }
        }
        schema.kinds = values.iter().fold(Kinds::NONE, |kinds, value| kinds.or(value.kind));
        schema.values = Some(values);
    }
    schema.format = reader.text("format");
}

fn kinds(reader: &mut Reader<'_>) -> Kinds {
    let Some(json) = reader.json.get("type") else { return Kinds::ALL };
    let names = match &json.value {
        Value::String(name) => vec![name.clone()],
        Value::Array(items) if !items.is_empty() => match reader.texts("type") {
            Some(names) => names,
            None => return Kinds::ALL,
        },
        _ => {
            reader.refuse::<()>("type", "`type` must be a string or a list of strings");
            return Kinds::ALL;
        }
    };
    names.iter().fold(Kinds::NONE, |kinds, name| {
        kinds.or(match name.as_str() {
            "null" => Kinds::NULL,
            "boolean" => Kinds::BOOLEAN,
            "integer" => Kinds::INTEGER,
            "number" => Kinds::NUMBER,
            "string" => Kinds::STRING,
            "array" => Kinds::ARRAY,
            "object" => Kinds::OBJECT,
            other => {
                let reason = format!("`{}` is no type of JSON Schema", other.escape_debug());
                reader.refuse("type", reason).unwrap_or(Kinds::ALL)
            }
        })
    })
}

fn numbers(reader: &mut Reader<'_>, rules: &mut Vec<Rule>, dialect: Dialect) {
    let minimum = reader.number("minimum");
    let maximum = reader.number("maximum");
    if dialect == Dialect::Draft4 {
        let exclusive = reader.flag("exclusiveMinimum") == Some(true);
        rules.extend(minimum.map(if exclusive { Rule::ExclusiveMinimum } else { Rule::Minimum }));
        let exclusive = reader.flag("exclusiveMaximum") == Some(true);
        rules.extend(maximum.map(if exclusive { Rule::ExclusiveMaximum } else { Rule::Maximum }));
    } else {
        rules.extend(minimum.map(Rule::Minimum));
        rules.extend(maximum.map(Rule::Maximum));
        rules.extend(reader.number("exclusiveMinimum").map(Rule::ExclusiveMinimum));
        rules.extend(reader.number("exclusiveMaximum").map(Rule::ExclusiveMaximum));
    }
    rules.extend(reader.number("multipleOf").map(Rule::MultipleOf));
}

fn sizes(reader: &mut Reader<'_>, rules: &mut Vec<Rule>) {
    for (keyword, rule) in [
        ("minLength", Rule::MinLength as fn(u64) -> Rule),
        ("maxLength", Rule::MaxLength),
        ("minItems", Rule::MinItems),
        ("maxItems", Rule::MaxItems),
        ("minProperties", Rule::MinProperties),
        ("maxProperties", Rule::MaxProperties),
    ] {
        rules.extend(reader.count(keyword).map(rule));
    }
    if reader.flag("uniqueItems") == Some(true) {
        rules.push(Rule::UniqueItems);
    }
    if let Some(pattern) = reader.text("pattern") {
        check_pattern(reader, &reader.place.join("pattern"), &pattern);
    }
}

fn object(reader: &mut Reader<'_>, rules: &mut Vec<Rule>, conditional: &mut bool, dialect: Dialect) -> Object {
    let mut object = Object {
        properties: reader.schema_map("properties").into_iter().collect(),
        required: reader.texts("required").unwrap_or_default(),
        patterns: reader.schema_map("patternProperties"),
        additional: reader.schema("additionalProperties"),
        names: None,
        unevaluated: None,
    };
    for (pattern, _) in &object.patterns {
        check_pattern(reader, &reader.place.join("patternProperties").join(pattern), pattern);
    }
    if dialect >= Dialect::Draft6 {
        object.names = reader.schema("propertyNames");
    }
    if dialect >= Dialect::Draft2019 {
        object.unevaluated = reader.schema("unevaluatedProperties");
        *conditional |= !reader.schema_map("dependentSchemas").is_empty();
        dependencies(reader, "dependentRequired", rules);
    } else {
        *conditional |= dependencies(reader, "dependencies", rules);
    }
    object
}

/// Members that must be there with others; tells whether there are also schemas that hold with others.
fn dependencies(reader: &mut Reader<'_>, keyword: &str, rules: &mut Vec<Rule>) -> bool {
    let Some(json) = reader.json.get(keyword) else { return false };
    let Some(members) = json.as_object() else {
        reader.refuse::<()>(keyword, format!("`{keyword}` must be an object"));
        return false;
    };
    let place = reader.place.join(keyword);
    let mut schemas = false;
    for (name, member) in members {
        let place = place.join(name);
        match member.json.as_array().map(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect()) {
            Some(Some(names)) => rules.push(Rule::DependentRequired(name.clone(), names)),
            Some(None) => reader.arena.report(&place, "the members must be a list of strings"),
            None if keyword == "dependencies" => schemas |= reader.schema_at(&place, &member.json).is_some(),
            None => reader.arena.report(&place, "the members must be a list of strings"),
        }
    }
    schemas
}

fn array(reader: &mut Reader<'_>, rules: &mut Vec<Rule>, conditional: &mut bool, dialect: Dialect) -> Array {
    let mut array = Array::default();
    if dialect >= Dialect::Draft2020 {
        array.prefix = reader.schemas("prefixItems").unwrap_or_default();
        array.items = reader.schema("items");
    } else if reader.json.get("items").is_some_and(|items| items.as_array().is_some()) {
        // An empty list is allowed here.
        if !reader.json.get("items").and_then(Json::as_array).is_some_and(<[Json]>::is_empty) {
            array.prefix = reader.schemas("items").unwrap_or_default();
        }
        array.items = reader.schema("additionalItems");
    } else {
        array.items = reader.schema("items");
        // It says nothing beside one schema for all items, but must be a schema all the same.
        reader.schema("additionalItems");
    }
    if dialect >= Dialect::Draft6
        && let Some(item) = reader.schema("contains")
    {
        let counted = dialect >= Dialect::Draft2019;
        let least = if counted { reader.count("minContains").unwrap_or(1) } else { 1 };
        let most = if counted { reader.count("maxContains").unwrap_or(u64::MAX) } else { u64::MAX };
        array.contains = Some((item, least, most));
        // Only the newest dialect counts the items that `contains` found as evaluated.
        *conditional |= dialect >= Dialect::Draft2020;
    }
    if dialect >= Dialect::Draft2019 {
        array.unevaluated = reader.schema("unevaluatedItems");
    }
    if array.items.is_some_and(|items| is_false(reader, items)) {
        let most = u64::try_from(array.prefix.len()).unwrap_or(u64::MAX);
        rules.push(Rule::MaxItems(most));
    }
    array
}

fn is_false(reader: &Reader<'_>, id: SchemaId) -> bool {
    matches!(reader.arena.place(id).json().map(|json| &json.value), Some(Value::Bool(false)))
}

/// A pattern is left to the validation of payloads, but it must be one.
fn check_pattern(reader: &mut Reader<'_>, place: &Location, pattern: &str) {
    if let Err(error) = pattern::compile(pattern) {
        reader.arena.report(place, format!("the pattern is no regular expression: {error}"));
    }
}
