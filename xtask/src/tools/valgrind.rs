//! Valgrind, which counts instructions.

use std::path::PathBuf;

use anyhow::Result;

use super::{find_or_install, on_path};

/// The `valgrind` program.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn valgrind() -> Result<PathBuf> {
    find_or_install("Valgrind", &["valgrind"], || on_path("valgrind"))
}
