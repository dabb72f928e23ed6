//! The schema collections that lie beside the project.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder `name` of the schema collections that lie beside the project; without it the test says so aloud, and fails where
/// `CI=true`.
pub(crate) fn collection(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = root.join("shared").join(name);
    if !found.is_dir() {
        // Written past the capture of the test runner: a run without the collection must not look like one with it.
        let _ = writeln!(std::io::stderr(), "NOT RUN: the folder ../shared/{name} beside the project is missing");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "with CI=true a check that cannot run is a failed one");
        return None;
    }
    Some(found)
}

/// Adds the `*.json` files below `folder` to `found`, sorted.
pub(crate) fn json_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            json_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
}
