//! The folder of a `registry.json`: its entries, and the files that schemas refer to. Nothing outside it is read.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use babelqueue_codegen::folder::json_files;
use jsonschema::{Retrieve, Uri};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use super::SchemaError;

/// The files of the folder go by this name, whatever the folder is called.
const ROOT: &str = "babelqueue:///";
const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";
/// What the path of a URI does not hold as it stands.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

#[derive(Clone)]
pub(super) struct Folder {
    path: PathBuf,
    /// The file of each `$id`; looked for when a reference is no path.
    ids: Arc<OnceLock<BTreeMap<String, String>>>,
}

/// An entry of the registry. What else it has is not for validation.
pub(super) struct Entry {
    pub(super) urn: String,
    /// The path of its schema in the folder.
    pub(super) file: String,
}

#[derive(Deserialize)]
struct Registry {
    schemas: Vec<RegistryEntry>,
}

#[derive(Deserialize)]
struct RegistryEntry {
    urn: String,
    schema: String,
}

impl Folder {
    /// The folder of the registry at `path`, and its entries.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<Entry>), SchemaError> {
        let folder = Self { path: path.parent().unwrap_or(Path::new("")).to_owned(), ids: Arc::default() };
        let refuse = |reason| SchemaError::new(&path.display().to_string(), reason);
        let registry: Registry = parse(&fs::read(path).map_err(|error| refuse(error.to_string()))?).map_err(refuse)?;
        let entries = registry.schemas.into_iter().enumerate().map(|(index, RegistryEntry { urn, schema })| {
            if urn.trim().is_empty() {
                return Err(refuse(format!("/schemas/{index}/urn: the URN is blank")));
            }
            let file =
                inside(&schema).ok_or_else(|| refuse(format!("/schemas/{index}/schema: {}", outside(&schema))))?;
            Ok(Entry { urn, file })
        });
        let entries = entries.collect::<Result<_, _>>()?;
        Ok((folder, entries))
    }

    /// The file with this `$id`. One that is no URI, as it has no scheme, is a path like any other.
    fn with_id(&self, id: &str) -> Option<&String> {
        if !id.contains(':') {
            return None;
        }
        let ids = self.ids.get_or_init(|| {
            let read = |file: String| {
                let schema: Value = parse(&fs::read(self.path.join(&file)).ok()?).ok()?;
                let id = schema.get("$id").or_else(|| schema.get("id"))?.as_str()?;
                Some((id.trim_end_matches('#').to_owned(), file))
            };
            json_files(&self.path).into_iter().rev().filter_map(read).collect()
        });
        ids.get(id)
    }

    /// The file as people know it, for messages.
    pub(super) fn show(&self, file: &str) -> String {
        self.path.join(file).display().to_string()
    }

    pub(super) fn uri(&self, file: &str) -> String {
        format!("{ROOT}{}", utf8_percent_encode(file, ESCAPED))
    }

    /// A schema file. A reference in it is relative to the file, wherever the URI that `$id` gives it leads; one by the
    /// `$id` of a file leads to that file.
    pub(super) fn read(&self, file: &str) -> Result<Value, String> {
        let mut schema: Value = parse(&fs::read(self.path.join(file)).map_err(|error| error.to_string())?)?;
        if let Value::Object(members) = &mut schema {
            members.remove("id");
            members.remove("$id");
            // Or a file that is referred to would be of the draft of the file that refers to it.
            members.entry("$schema").or_insert_with(|| DRAFT_07.into());
        }
        self.lead_to_files(&mut schema);
        Ok(schema)
    }

    /// Puts the URIs of files in the place of their `$id`s.
    fn lead_to_files(&self, schema: &mut Value) {
        match schema {
            Value::Array(schemas) => schemas.iter_mut().for_each(|schema| self.lead_to_files(schema)),
            Value::Object(members) => members.iter_mut().for_each(|(name, value)| match (name.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
                    if let Some(file) = self.with_id(id) {
                        *reference = format!("{}#{fragment}", self.uri(file));
                    }
                }
                // Values, and no schemas.
                ("const" | "default" | "enum" | "examples", _) => {}
                // Schemas by names of any kind.
                (
                    "properties" | "patternProperties" | "definitions" | "$defs" | "dependencies" | "dependentSchemas",
                    Value::Object(schemas),
                ) => schemas.values_mut().for_each(|schema| self.lead_to_files(schema)),
                (_, value) => self.lead_to_files(value),
            }),
            _ => {}
        }
    }
}

impl Retrieve for Folder {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let file = uri.as_str().strip_prefix(ROOT);
        let file = file.ok_or("only files of the schema folder can be referred to, and none has this `$id`")?;
        let file = percent_decode_str(file).decode_utf8()?;
        let file = inside(&file).ok_or_else(|| outside(&file))?;
        Ok(self.read(&file)?)
    }
}

/// The path without `.` and `..`, or `None` when it leads out of the folder. The check is on its text: a symbolic link
/// that somebody laid in the folder is followed.
fn inside(path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains(['\\', ':', '\0']) {
        return None;
    }
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

fn outside(path: &str) -> String {
    format!("`{}` is not a relative path inside the schema folder", path.escape_debug())
}

/// JSON text; a byte order mark, which some editors write, is skipped.
fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)).map_err(|error| error.to_string())
}
