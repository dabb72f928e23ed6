//! The public conformance suite of the wire contract, and the test that runs it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::archive::Archive;
use crate::cargo::cargo;
use crate::process::run_ok;

/// Names the folder with the suite's `manifest.json`.
const CONFORMANCE: &str = "BABELQUEUE_CONFORMANCE";

/// The test prints a line for each section, which is the point of this command.
const TEST: &str = "test --quiet --workspace --test conformance \
    -- --nocapture";

/// The suite travels in the source archive of the SDK for Python.
const ARCHIVE: Archive = Archive {
    name: "babelqueue-1.24.0",
    requirement: "babelqueue==1.24.0 \
        --hash=sha256:3918ef1e53ad08be2311f27840d1c949159a1d66701ebe899acabbd86a430da1\n",
    wanted: "tests/conformance",
};

/// Runs the suite.
///
/// # Errors
/// If its data cannot be had, or a section of ours falls short.
pub(crate) fn run() -> Result<()> {
    let suite = match env::var_os(CONFORMANCE).filter(|folder| !folder.is_empty()) {
        Some(folder) => named(Path::new(&folder))?,
        None => named(&ARCHIVE.unpacked("conformance")?)?,
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
