//! Payloads checked against their JSON Schemas (contract section 7, feature `validate`).

mod folder;
mod violations;

use std::{collections::HashMap, fmt, path::Path};

use jsonschema::{Draft, ValidationOptions, Validator};
use serde_json::Value;

use self::folder::Folder;
pub use self::violations::{Violation, Violations};

/// The payload schemas of a service, each of one URN and compiled once. [`Kafka::validated_by`](crate::Kafka::validated_by)
/// puts them to use.
///
/// The draft is what `$schema` says, draft-07 without it. References lead to places of the schema itself, or (with
/// [`Schemas::from_registry`]) to other files of the registry's folder, by their path or their `$id`; nothing is ever
/// fetched.
///
/// A payload is judged as it stands on the wire. Integers from -2^63 to 2^64 - 1 are compared exactly; wider ones, and
/// fractions, as the doubles next to them. The length of a string counts code points. `format` is checked up to
/// draft-07, for the formats that need no list of domain names; from 2019-09 on it is a note. What is nested deeper than
/// 127 levels, or holds a lone surrogate (`"\ud800"`), cannot be judged and violates every schema.
///
/// ```
/// use babelqueue::Schemas;
/// use serde_json::json;
///
/// let mut schemas = Schemas::new();
/// schemas.insert(
///     "urn:babel:orders:created",
///     &json!({"type": "object", "required": ["order_id"], "properties": {"order_id": {"minimum": 1}}}),
/// )?;
/// assert!(schemas.validate("urn:babel:orders:created", r#"{"order_id": 1042}"#).is_ok());
///
/// let violations = schemas.validate("urn:babel:orders:created", r#"{"order_id": 0}"#).unwrap_err();
/// assert_eq!(violations.iter().next().unwrap().pointer, "/order_id");
///
/// // A URN without a schema is not validated.
/// assert!(schemas.validate("urn:babel:orders:cancelled", "{}").is_ok());
/// # Ok::<(), babelqueue::SchemaError>(())
/// ```
#[derive(Default)]
pub struct Schemas {
    by_urn: HashMap<String, Validator>,
}

impl Schemas {
    /// No schemas yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The schemas of this `registry.json` (contract section 7), whatever their status. Reads files, so it belongs to the
    /// start of a service; its folder has to be there at run time.
    ///
    /// # Errors
    ///
    /// A file cannot be read, is not JSON or lies outside the registry's folder; an entry has no URN or no schema; two
    /// have one URN; a schema is not valid. The error names the file.
    pub fn from_registry(path: impl AsRef<Path>) -> Result<Self, SchemaError> {
        let (folder, entries) = Folder::open(path.as_ref())?;
        let mut schemas = Self::new();
        for entry in entries {
            let place = folder.show(&entry.file);
            let schema = folder.read(&entry.file).map_err(|reason| SchemaError::new(&place, reason))?;
            let options = jsonschema::options().with_base_uri(folder.uri(&entry.file)).with_retriever(folder.clone());
            schemas.compile(entry.urn, &schema, options, &place)?;
        }
        Ok(schemas)
    }

    /// Adds the schema of a URN, such as one that is part of the program or that `json_schema` (feature `schemars`) made.
    ///
    /// # Errors
    ///
    /// The schema is not valid, refers to something outside itself, or the URN has one already.
    pub fn insert(&mut self, urn: impl Into<String>, schema: &Value) -> Result<(), SchemaError> {
        let urn = urn.into();
        let place = format!("the schema of `{urn}`");
        self.compile(urn, schema, jsonschema::options().offline(), &place)
    }

    fn compile(
        &mut self,
        urn: String,
        schema: &Value,
        options: ValidationOptions<'_>,
        place: &str,
    ) -> Result<(), SchemaError> {
        let options = match schema.get("$schema") {
            Some(_) => options,
            None => options.with_draft(Draft::Draft7),
        };
        let validator = options.build(schema).map_err(|error| {
            let at = error.instance_path().as_str();
            let at = if at.is_empty() { String::new() } else { format!("{at}: ") };
            SchemaError::new(place, format!("{at}{error}"))
        })?;
        if self.by_urn.contains_key(&urn) {
            return Err(SchemaError::new(place, format!("`{urn}` has a schema already")));
        }
        self.by_urn.insert(urn, validator);
        Ok(())
    }

    /// Whether the URN has a schema.
    pub(crate) fn covers(&self, urn: &str) -> bool {
        self.by_urn.contains_key(urn)
    }

    /// Validates a payload, the JSON text of an envelope's `data`, against the schema of its URN. A URN without a schema
    /// is not validated.
    ///
    /// # Errors
    ///
    /// The payload violates the schema, or cannot be judged.
    pub fn validate(&self, urn: &str, data: &str) -> Result<(), Violations> {
        let Some(validator) = self.by_urn.get(urn) else { return Ok(()) };
        let data: Value = serde_json::from_str(data).map_err(|error| Violations::unreadable(&error))?;
        // Much faster than to look for errors in a payload that has none.
        if validator.is_valid(&data) {
            return Ok(());
        }
        Err(Violations::of(validator.iter_errors(&data)))
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut urns: Vec<_> = self.by_urn.keys().collect();
        urns.sort();
        f.debug_set().entries(urns).finish()
    }
}

/// Why a schema, or a registry of schemas, is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct SchemaError {
    place: String,
    reason: String,
}

impl SchemaError {
    fn new(place: &str, reason: String) -> Self {
        Self { place: place.to_owned(), reason }
    }
}

#[cfg(test)]
mod tests;
