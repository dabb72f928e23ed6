//! Maven, which fetches the broker.

use std::path::PathBuf;

use anyhow::Result;

use super::{find_or_install, on_path};

/// The `mvn` program.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn maven() -> Result<PathBuf> {
    find_or_install("Maven", &["maven"], || on_path("mvn"))
}
