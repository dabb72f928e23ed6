//! The public conformance suite of the wire contract, and the test that runs it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;
use crate::paths;
use crate::process::{run_ok, run_quiet};
use crate::python;

/// Names the folder with the suite's `manifest.json`.
const CONFORMANCE: &str = "BABELQUEUE_CONFORMANCE";

/// The test prints a line for each section, which is the point of this command.
const TEST: &str = "test --quiet --workspace --test conformance \
    -- --nocapture";

/// The suite travels in the source archive of the SDK for Python.
const ARCHIVE: &str = "babelqueue-1.24.0";
const REQUIREMENT: &str = "babelqueue==1.24.0 \
    --hash=sha256:3918ef1e53ad08be2311f27840d1c949159a1d66701ebe899acabbd86a430da1\n";

/// Runs the suite.
///
/// # Errors
/// If its data cannot be had, or a section of ours falls short.
pub(crate) fn run() -> Result<()> {
    let suite = match env::var_os(CONFORMANCE).filter(|folder| !folder.is_empty()) {
        Some(folder) => named(Path::new(&folder))?,
        None => downloaded()?,
    };
    println!("The suite: {}", suite.display());
    run_ok(cargo(TEST).env(CONFORMANCE, suite))
}

fn named(folder: &Path) -> Result<PathBuf> {
    if !folder.join("manifest.json").is_file() {
        bail!("{CONFORMANCE} names {}, which holds no manifest.json", folder.display());
    }
    // The test runs in another folder.
    folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))
}

fn downloaded() -> Result<PathBuf> {
    let folder = paths::target("conformance");
    let suite = folder.join(ARCHIVE).join("tests/conformance");
    // Written last: it says that the suite is whole, and which one it is.
    let stamp = folder.join("requirements.txt.done");
    if fs::read_to_string(&stamp).is_ok_and(|content| content == REQUIREMENT) {
        return named(&suite);
    }
    let python = python::environment()?;
    eprintln!("Fetching the conformance suite");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove an old suite")?;
    }
    fs::create_dir_all(&folder)?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, REQUIREMENT)?;
    // pip asks the archive's build tool for its metadata: the one in the environment, not one that
    // it would fetch unpinned.
    run_quiet(
        python::pip(&python)
            .args(["download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"])
            .args(["--require-hashes", "--requirement"])
            .arg(&requirements)
            .arg("--dest")
            .arg(&folder),
    )
    .context("cannot fetch the conformance suite")?;
    run_quiet(
        Command::new(&python)
            .args(["-m", "tarfile", "--extract"])
            .arg(folder.join(format!("{ARCHIVE}.tar.gz")))
            .arg(&folder),
    )
    .context("cannot unpack the conformance suite")?;
    let suite = named(&suite)?;
    fs::write(stamp, REQUIREMENT)?;
    Ok(suite)
}
