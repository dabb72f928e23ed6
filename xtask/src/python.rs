//! The Python environment with the other SDK.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::paths;
use crate::process::run_quiet;
use crate::tools;

/// Names the environment's `python` for the live tests.
pub(crate) const PYTHON: &str = "BABELQUEUE_PYTHON";

/// The environment's `python`. The environment is made on the first call, and again whenever the
/// pinned packages change.
///
/// # Errors
/// If Python is missing, or a package cannot be installed.
pub(crate) fn environment() -> Result<PathBuf> {
    let folder = paths::target("python");
    let python = folder.join("bin").join("python");
    let requirements = paths::root().join("runtime/tests/python/requirements.txt");
    let wanted =
        fs::read_to_string(&requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    // Written last: it says that the environment is whole, and what is in it. An environment knows
    // its own path, so one that was moved along with its checkout is made anew.
    let stamp = folder.join("babelqueue-requirements.txt");
    let wanted = format!("# {}\n{wanted}", folder.display());
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let system_python = tools::python()?;
    eprintln!("Making the Python environment in {}", folder.display());
    run_quiet(Command::new(system_python).args(["-m", "venv", "--clear"]).arg(&folder))
        .context("cannot make the Python environment")?;
    run_quiet(
        pip(&python)
            .args(["install", "--require-hashes", "--only-binary", ":all:", "--requirement"])
            .arg(&requirements),
    )
    .context("cannot install the Python packages")?;
    fs::write(stamp, wanted)?;
    Ok(python)
}

/// The environment's `pip`, told to be brief.
pub(crate) fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]);
    command
}
