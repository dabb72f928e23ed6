//! Schema folders as the generator wants them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::group::Source;

/// The registry's file in a schema folder.
pub(super) const REGISTRY: &str = "registry.json";
/// The payload schema that wraps a value of any kind.
pub(super) const WRAPPER: &str = "payload.json";
/// The topic of every contract, and so the module of its types.
pub(super) const TOPIC: &str = "suite";

/// A payload schema whose one member is what `schema` describes: a payload is an object, what a schema describes need
/// not be.
pub(super) fn wrapper(schema: &str, source: Source) -> String {
    json!({
        "$schema": source.dialect(),
        "type": "object",
        "required": ["value"],
        "properties": {"value": {"$ref": schema}},
        "additionalProperties": false,
    })
    .to_string()
}

/// A registry of these payload schemas.
pub(super) fn registry(schemas: &[&str]) -> String {
    let entry = |(index, schema): (usize, &&str)| json!({"urn": format!("urn:babel:{TOPIC}:payload.v{}", index + 1), "topic": TOPIC, "schema": schema});
    json!({"schemas": schemas.iter().enumerate().map(entry).collect::<Vec<_>>()}).to_string()
}

/// The files below a folder whose names end so, as sorted paths with `/`.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn below(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(inner) = folders.pop() {
        let path = folder.join(&inner);
        for entry in fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
            let entry = entry?;
            let name = format!("{inner}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(format!("{name}/"));
            } else if name.ends_with(ending) {
                found.push(name);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies the JSON files of a folder to another.
///
/// # Errors
/// If a file cannot be read or written.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    for name in below(from, ".json")? {
        // The content, not the file: the source may be read-only, and the copy must not be.
        write(&to.join(&name), &fs::read_to_string(from.join(&name))?)?;
    }
    Ok(())
}

/// Writes a file unless it is there with the same content: an untouched file keeps its time, so that nothing is
/// compiled again.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(path: &Path, content: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}
