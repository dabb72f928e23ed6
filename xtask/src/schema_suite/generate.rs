//! The generator under measure, run as a build script runs it.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result};
use babelqueue_codegen::{Config, Dialect, configure};

use super::group::{Group, Source};

/// What the generator made of a group.
#[derive(Debug)]
pub(super) enum Outcome {
    Code(Code),
    /// It refused the schema, for this reason.
    Refused(String),
    Panicked(String),
}

/// Generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// The group's.
    pub(super) id: String,
    pub(super) file: PathBuf,
    /// The name of the payload type.
    pub(super) payload: String,
}

/// The settings for a group: URIs stand for the files that the suite brings along, and members that are missing stay
/// missing, as the suite's defaults are notes.
fn config(group: &Group, code: &Path) -> Config {
    let dialect = match group.source {
        Source::Draft7 => Dialect::Draft7,
        Source::Draft2020 | Source::Gcn => Dialect::Draft2020,
    };
    let exact = ["bignum", "float_overflow"].iter().any(|file| group.id.replace('-', "_").contains(file));
    configure()
        .registry(&group.registry)
        .out_dir(code)
        .rerun_if_changed(false)
        .default_dialect(dialect)
        .map_uri(super::suite::REMOTES, "remotes")
        .fill_defaults(false)
        .exact_numbers(exact)
}

/// Generates the contract of a group into a folder of its own below `codes`.
///
/// # Errors
/// If files cannot be written. What the generator does is no error here.
pub(super) fn generate(group: &Group, codes: &Path) -> Result<Outcome> {
    let folder = codes.join(&group.id);
    fs::create_dir_all(&folder)?;
    let config = config(group, &folder);
    // A thread of that name: a stack that overflows ends this program, and what it prints then names the thread.
    let run = thread::Builder::new().name(group.id.clone()).spawn(move || config.generate())?.join();
    Ok(match run {
        Err(panic) => Outcome::Panicked(text(panic.as_ref())),
        Ok(Err(error)) => Outcome::Refused(reasons(&error.to_string(), &group.registry)),
        Ok(Ok(())) => {
            let file = folder.join("babelqueue_contracts.rs");
            let code = fs::read_to_string(&file).context("the generator has written nothing")?;
            match payload(&code) {
                Some(payload) => Outcome::Code(Code { id: group.id.clone(), file, payload: payload.to_owned() }),
                None => Outcome::Refused("the generated code has no payload type".to_owned()),
            }
        }
    })
}

/// What a panic says.
fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text").to_owned()
}

/// The problems of a run, without the schema folder's path.
fn reasons(error: &str, registry: &Path) -> String {
    let folder = registry.parent().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    error.replace(&folder, "")
}

/// The type with the attribute of a payload.
fn payload(code: &str) -> Option<&str> {
    let (_, item) = code.split_once("babel_job(")?;
    let (_, name) = ["pub struct ", "pub enum "]
        .iter()
        .filter_map(|kind| item.split_once(kind))
        .min_by_key(|(before, _)| before.len())?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '#')?;
    name.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_the_type_below_the_attribute() {
        let code = "pub struct Other {}\n#[::babelqueue::babel_job(\n \"urn:x\", topic = \"t\")]\n#[derive(Clone)]\n";
        assert_eq!(payload(&format!("{code}pub struct Payload {{}}\npub enum Later {{}}")), Some("Payload"));
        assert_eq!(payload(&format!("{code}pub enum Payload<T> {{}}\npub struct Later;")), Some("Payload"));
        assert_eq!(payload("pub struct Other {}"), None);
    }

    #[test]
    fn reasons_name_files_inside_the_schema_folder() {
        let text = "/tmp/s/a.json:1:2: /x: bad\n/tmp/s/b/c.json: worse";
        assert_eq!(reasons(text, Path::new("/tmp/s/registry.json")), "a.json:1:2: /x: bad\nb/c.json: worse");
    }
}
