//! Compiles generated code until what is left compiles: a group that does not is left out and named, and hides no other.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::crates::{self, Library};
use super::diagnostics;
use super::generate::Code;
use crate::cargo::cargo;
use crate::process::{run, run_ok};

/// Groups a library. A larger one takes more memory, and its rest is compiled once more for each round of errors; a
/// smaller one makes the program slow to link.
const GROUPS: usize = 100;

/// What compiled.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) program: PathBuf,
    /// Groups that do not compile, and why.
    pub(super) broken: BTreeMap<String, String>,
    /// Groups that compile with warnings, and the first of each.
    pub(super) warned: BTreeMap<String, String>,
}

/// Divides groups, `None` for one without code, into libraries whose names begin with `name`. The same groups give the
/// same libraries whichever of them have code, so that a library without a change is not compiled again.
pub(super) fn libraries(name: &str, codes: &[Option<Code>]) -> Vec<Library> {
    let library = |(index, codes): (usize, &[Option<Code>])| Library {
        name: format!("{name}_{index}"),
        codes: codes.iter().flatten().cloned().collect(),
    };
    codes.chunks(GROUPS).enumerate().map(library).collect()
}

/// Compiles the libraries and the program in `folder`.
///
/// # Errors
/// If something else than a group does not compile.
pub(super) fn compile(mut libraries: Vec<Library>, folder: &Path) -> Result<Compiled> {
    // What the build below takes from the registry; nothing is fetched if it is there.
    run_ok(&mut cargo("fetch --quiet --locked"))?;
    let (sources, target) = (folder.join("crates"), folder.join("build"));
    let printed = folder.join("cargo.jsonl");
    let mut broken = BTreeMap::new();
    loop {
        crates::write(&sources, &libraries)?;
        let mut command = cargo("build --offline --keep-going --message-format json --manifest-path");
        command.arg(sources.join("Cargo.toml")).arg("--target-dir").arg(&target);
        let status = run(command.stdout(File::create(&printed)?))?;
        let codes: Vec<&Code> = libraries.iter().flat_map(|library| &library.codes).collect();
        let diagnostics = diagnostics::read(&fs::read_to_string(&printed)?, &codes);
        if status.success() {
            let program = target.join("debug").join(crates::PROGRAM);
            return Ok(Compiled { program, broken, warned: diagnostics.warnings });
        }
        ensure!(diagnostics.compiled.contains("babelqueue_codegen_stub"), "the runtime's stub does not compile");
        let compiled = |library: &Library| diagnostics.compiled.contains(&library.name);
        let next: Vec<_> = libraries
            .iter()
            .flat_map(|library| match compiled(library) {
                true => vec![library.clone()],
                false => without(library, &diagnostics.errors, &mut broken),
            })
            .collect();
        ensure!(next != libraries, "something else than a group does not compile; see above");
        libraries = next;
    }
}

/// A library that does not compile, without the groups that have errors. If none has, the compiler itself gave up: then
/// it is halved, until the group that is left alone is the one.
fn without(
    library: &Library,
    errors: &BTreeMap<String, String>,
    broken: &mut BTreeMap<String, String>,
) -> Vec<Library> {
    let (bad, good): (Vec<_>, Vec<_>) = library.codes.iter().cloned().partition(|code| errors.contains_key(&code.id));
    let name = &library.name;
    match good.as_slice() {
        _ if !bad.is_empty() => {
            broken.extend(
                bad.into_iter()
                    .filter_map(|code| errors.get_key_value(&code.id))
                    .map(|(id, error)| (id.clone(), error.clone())),
            );
            vec![Library { name: name.clone(), codes: good }]
        }
        [] => vec![library.clone()],
        [code] => {
            broken.insert(code.id.clone(), "the compiler gives up without naming a place".to_owned());
            Vec::new()
        }
        codes => {
            let (first, second) = codes.split_at(codes.len() / 2);
            [("a", first), ("b", second)]
                .map(|(half, codes)| Library { name: format!("{name}{half}"), codes: codes.to_vec() })
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, ids: &[&str]) -> Library {
        let code = |id: &&str| Code { id: (*id).to_owned(), file: (*id).into(), payload: "Payload".to_owned() };
        Library { name: name.to_owned(), codes: ids.iter().map(code).collect() }
    }

    #[test]
    fn a_group_without_code_moves_no_other_to_another_library() {
        let mut codes: Vec<_> = (0..GROUPS + 1).map(|n| library("", &[&n.to_string()]).codes.pop()).collect();
        codes[0] = None;
        let libraries = libraries("groups", &codes);
        let sizes: Vec<_> = libraries.iter().map(|library| (library.name.as_str(), library.codes.len())).collect();
        assert_eq!(sizes, [("groups_0", GROUPS - 1), ("groups_1", 1)]);
    }

    #[test]
    fn groups_with_errors_are_left_out_and_named() {
        let errors = BTreeMap::from([("b".to_owned(), "no".to_owned()), ("x".to_owned(), "no".to_owned())]);
        let mut broken = BTreeMap::new();
        let left = without(&library("l", &["a", "b", "c"]), &errors, &mut broken);
        assert_eq!(left, [library("l", &["a", "c"])]);
        assert_eq!(broken, BTreeMap::from([("b".to_owned(), "no".to_owned())]));
    }

    #[test]
    fn a_library_in_which_no_group_is_to_blame_is_halved_down_to_one() {
        let mut broken = BTreeMap::new();
        let halves = without(&library("l", &["a", "b", "c"]), &BTreeMap::new(), &mut broken);
        assert_eq!(halves, [library("la", &["a"]), library("lb", &["b", "c"])]);
        assert!(broken.is_empty());
        assert_eq!(without(&halves[0], &BTreeMap::new(), &mut broken), []);
        assert!(broken["a"].starts_with("the compiler gives up"), "{broken:?}");
        let empty = library("l", &[]);
        assert_eq!(without(&empty, &BTreeMap::new(), &mut broken), std::slice::from_ref(&empty));
    }
}
