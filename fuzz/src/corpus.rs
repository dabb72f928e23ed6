//! Real files to start from: those of this repository, and the collections that lie beside it, where they are there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::input::below;

/// The repository's root folder.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// A folder beside the project; `None` where it is not there, which is said aloud.
pub(crate) fn beside(name: &str) -> Option<PathBuf> {
    let folder = root().join("../shared").join(name);
    if !folder.is_dir() {
        eprintln!("The folder ../shared/{name} beside the project is missing: nothing of it is tried");
    }
    folder.is_dir().then_some(folder)
}

/// The JSON files of a folder: path in the folder, and content.
pub(crate) fn json_files(folder: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for path in below(folder)? {
        let name = path.strip_prefix(folder).map_err(io::Error::other)?.display().to_string();
        if name.ends_with(".json") {
            files.push((name, fs::read(&path)?));
        }
    }
    Ok(files)
}
