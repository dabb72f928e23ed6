//! What schemars cannot derive of generated types.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// The schema of an enum of these JSON values.
#[must_use]
pub fn schema_of_values(values: &[&str]) -> Schema {
    let values: Vec<Value> = values.iter().map(|value| parsed(value)).collect();
    let mut schema = Schema::default();
    schema.insert("enum".to_owned(), values.into());
    schema
}

/// Adds members that must have one value, and that value as JSON, to the schema of a struct.
pub fn add_constants(schema: &mut Schema, constants: &[(&str, &str)]) {
    let object = schema.ensure_object();
    let properties = object.entry("properties").or_insert_with(|| Map::new().into());
    for (name, value) in constants {
        if let Some(properties) = properties.as_object_mut() {
            properties.insert((*name).to_owned(), json!({ "const": parsed(value) }));
        }
    }
    let required = object.entry("required").or_insert_with(|| Vec::<Value>::new().into());
    if let Some(required) = required.as_array_mut() {
        required.extend(constants.iter().map(|(name, _)| Value::from(*name)));
    }
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}
