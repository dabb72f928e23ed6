//! Python, which runs the other SDK.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{find_or_install, on_path};

/// A Python that the pinned packages support and that can make environments, which Debian's
/// cannot without a package more.
const SUITABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";

/// The Python to make an environment with.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn python() -> Result<PathBuf> {
    find_or_install("Python 3.11 or newer with its venv module", &["python3", "python3-venv"], || {
        on_path("python3").into_iter().chain(["/usr/bin/python3".into()]).find(|path| suitable(path))
    })
}

fn suitable(python: &Path) -> bool {
    Command::new(python).args(["-c", SUITABLE]).output().is_ok_and(|output| output.status.success())
}
