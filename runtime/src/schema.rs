//! The JSON Schema of a code-first payload (feature `schemars`).

use schemars::{JsonSchema, generate::SchemaSettings};

use crate::job::Job;

/// The JSON Schema (draft-07, as contract section 7 has it) of a payload type, to be kept beside `registry.json`.
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
pub fn json_schema<J: Job + JsonSchema>() -> serde_json::Value {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<J>().to_value()
}
