//! Where things lie in this checkout.

use std::path::{Path, PathBuf};

/// The repository's root folder.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// A folder of ours under `target`: ignored by git, removed by `cargo clean`.
pub(crate) fn target(name: &str) -> PathBuf {
    root().join("target").join(name)
}

/// A folder of data that lies beside the project, if it is there.
pub(crate) fn beside(name: &str) -> Option<PathBuf> {
    let folder = root().join("../shared").join(name);
    folder.canonicalize().ok().filter(|folder| folder.is_dir())
}
