//! Two states of a schema folder, and what the gate says of them.

use std::fs;
use std::path::{Path, PathBuf};

use babelqueue_codegen::evolution;
use tempfile::TempDir;

/// An earlier and a present schema folder, both gone when it is dropped.
pub(crate) struct States(TempDir);

pub(crate) const REGISTRY: &str = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"}]}"#;

impl States {
    pub(crate) fn new<T: AsRef<str>>(earlier: &[(T, T)], now: &[(T, T)]) -> Self {
        let states = Self(tempfile::tempdir().expect("a folder"));
        for (folder, files) in [("earlier", earlier), ("now", now)] {
            files.iter().for_each(|(path, content)| write(&states.path(folder), path.as_ref(), content.as_ref()));
        }
        states
    }

    /// The two schemas of the payload of `urn:babel:t:x`.
    pub(crate) fn of_schemas(earlier: &str, now: &str) -> Self {
        Self::new(&[("registry.json", REGISTRY), ("x.json", earlier)], &[("registry.json", REGISTRY), ("x.json", now)])
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn gate(&self) -> babelqueue_codegen::evolution::Gate {
        evolution(self.path("now/registry.json")).against_folder(self.path("earlier/registry.json"))
    }

    pub(crate) fn backward(&self) -> Vec<String> {
        self.lines(self.gate().backward().check())
    }

    pub(crate) fn forward(&self) -> Vec<String> {
        self.lines(self.gate().forward().check())
    }

    pub(crate) fn full(&self) -> Vec<String> {
        self.lines(self.gate().full().check())
    }

    /// The problems, one line each, with paths below `now/` and `earlier/`.
    fn lines(&self, result: Result<(), babelqueue_codegen::Error>) -> Vec<String> {
        let text = result.err().map(|error| error.to_string()).unwrap_or_default();
        text.replace(&format!("{}/", self.0.path().display()), "").lines().map(str::to_owned).collect()
    }
}

pub(crate) fn write(folder: &Path, path: &str, content: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// A change of a schema: the earlier one, the one of now, and what the backward and the forward check must find: nothing
/// (`OK`), or breaks, one of which holds this text.
pub(crate) type Row<'a> = (&'a str, &'a str, &'a str, &'a str);

pub(crate) const OK: &str = "";

/// Checks every row of a table, and tells all that are wrong.
#[track_caller]
pub(crate) fn check(rows: &[Row<'_>]) {
    let mut wrong = Vec::new();
    for (index, (earlier, now, backward, forward)) in rows.iter().enumerate() {
        let states = States::of_schemas(earlier, now);
        for (check, expected, found) in
            [("backward", backward, states.backward()), ("forward", forward, states.forward())]
        {
            let right = match *expected {
                OK => found.is_empty(),
                text => found.iter().any(|line| line.contains(text)),
            };
            if !right {
                wrong.push(format!(
                    "row {index}, {check}:\n  {earlier}\n  {now}\n  expected {expected:?}\n  {found:#?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len() * 2, wrong.join("\n"));
}
