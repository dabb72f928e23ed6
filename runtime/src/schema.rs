//! The JSON Schema of a code-first payload (feature `schemars`).

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use crate::job::Job;

/// The JSON Schema (draft-07, as contract section 7 has it) of a payload type. [`Export`](crate::Export) keeps it beside a
/// `registry.json`.
///
/// It says what a consumer takes: a field with a default is optional. It does not depend on the order of the fields.
///
/// ```
/// use babelqueue::{babel_job, json_schema};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created")]
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// let schema = json_schema::<OrderCreated>();
/// assert_eq!(schema["required"][0], "order_id");
/// println!("{schema:#}");
/// ```
#[must_use]
pub fn json_schema<J: Job + JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with_transform(RecursiveTransform(sort_required));
    settings.into_generator().into_root_schema_for::<J>().to_value()
}

fn sort_required(schema: &mut Schema) {
    if let Some(Value::Array(names)) = schema.get_mut("required") {
        names.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}
