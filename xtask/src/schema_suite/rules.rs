//! A schema as the `jsonschema` crate judges by it, which is what the runtime's feature `validate` uses.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use jsonschema::{Draft, Retrieve, Uri, Validator};
use serde_json::Value;

use super::group::Source;

/// A schema, and what it takes to compile it.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) schema: Value,
    pub(super) source: Source,
    /// Whether `format` is checked; by the rules of the draft when this is nothing.
    pub(super) formats: Option<bool>,
    pub(super) documents: Documents,
}

/// Documents that schemas refer to by a URI, as files. Nothing else is ever read, and nothing fetched.
#[derive(Clone, Debug)]
pub(super) struct Documents {
    pub(super) prefix: &'static str,
    pub(super) folder: PathBuf,
}

impl Rules {
    /// # Errors
    /// If the schema is not valid, or refers to what is not there.
    pub(super) fn compile(&self) -> Result<Validator, String> {
        let mut options = jsonschema::options().with_retriever(self.documents.clone());
        if self.schema.get("$schema").is_none() {
            options = options.with_draft(match self.source {
                Source::Draft7 => Draft::Draft7,
                Source::Draft2020 | Source::Gcn => Draft::Draft202012,
            });
        }
        if let Some(formats) = self.formats {
            options = options.should_validate_formats(formats);
        }
        options.build(&self.schema).map_err(|error| error.to_string())
    }
}

impl Retrieve for Documents {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let path = uri.as_str().strip_prefix(self.prefix).ok_or("only documents of the suite can be referred to")?;
        Ok(serde_json::from_slice(&fs::read(self.folder.join(path))?)?)
    }
}
