//! The generated code as crates: a library for some hundred groups each, and one program that answers for all.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::files;
use super::generate::Code;
use crate::paths;

/// The program's package.
pub(super) const PROGRAM: &str = "answers";

const PART: &str = include_str!("templates/part.rs");
const ANSWERS: &str = include_str!("templates/answers.rs");

/// The libraries' code is run once and never looked at in a debugger.
const WORKSPACE: &str = "\
[workspace]
resolver = \"3\"
members = [\"*\"]

[profile.dev]
opt-level = 0
debug = false
incremental = false
";

/// A library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Library {
    pub(super) name: String,
    pub(super) codes: Vec<Code>,
}

/// Writes a workspace with these libraries and the program into `folder`; what else was there goes.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(folder: &Path, libraries: &[Library]) -> Result<()> {
    fs::create_dir_all(folder)?;
    let wanted = |name: &str| name == PROGRAM || libraries.iter().any(|library| library.name == name);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_dir() && !wanted(&entry.file_name().to_string_lossy()) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    files::write(&folder.join("Cargo.toml"), WORKSPACE)?;
    // The versions that the project has, and no others.
    let lock = fs::read_to_string(paths::root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    files::write(&folder.join("Cargo.lock"), &lock)?;
    for library in libraries {
        let folder = folder.join(&library.name);
        let stub = paths::root().join("codegen/tests/stub");
        let stub = format!("babelqueue = {{ package = \"babelqueue-codegen-stub\", path = {:?} }}\n", stub.display());
        files::write(&folder.join("Cargo.toml"), &manifest(&library.name, &stub))?;
        files::write(&folder.join("src/lib.rs"), &format!("{PART}{}", modules(&library.codes)))?;
    }
    let dependency = |library: &Library| format!("{0} = {{ path = \"../{0}\" }}\n", library.name);
    let dependencies: String = libraries.iter().map(dependency).collect();
    let groups: String = libraries.iter().map(|library| format!("{}::groups(), ", library.name)).collect();
    let folder = folder.join(PROGRAM);
    files::write(&folder.join("Cargo.toml"), &manifest(PROGRAM, &dependencies))?;
    files::write(
        &folder.join("src/main.rs"),
        &format!("{ANSWERS}fn all_groups() -> Vec<&'static [(&'static str, Answer)]> {{\n    vec![{groups}]\n}}\n"),
    )
}

fn manifest(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         serde_json = {{ version = \"1\", features = [\"float_roundtrip\", \"raw_value\"] }}\n{dependencies}"
    )
}

fn modules(codes: &[Code]) -> String {
    let mut text = String::new();
    let mut table = String::new();
    for Code { id, file, payload } in codes {
        // Writing to a string does not fail.
        let _ = write!(text, "/// A group.\npub mod {id} {{\n    include!({:?});\n}}\n", file.display().to_string());
        let _ = writeln!(table, "        ({id:?}, answer::<{id}::{}::{payload}>),", files::TOPIC);
    }
    // Not inlined, or the program would compile the code of all types once more.
    format!(
        "{text}\n/// A function for each group.\n#[inline(never)]\npub fn groups() -> &'static [(&'static str, Answer)] {{\n    &[\n{table}    ]\n}}\n"
    )
}
