//! Source archives on Python's package index, pinned by version and hash: test data that others publish travels in
//! them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::paths;
use crate::process::run_quiet;
use crate::python;

/// A source archive.
pub(crate) struct Archive {
    /// Name and version, as the file is called.
    pub(crate) name: &'static str,
    /// The line of a requirements file that pins it by hash.
    pub(crate) requirement: &'static str,
    /// The folder in it that is wanted.
    pub(crate) wanted: &'static str,
}

impl Archive {
    /// The wanted folder, unpacked in the folder `name` under `target`; fetched on the first call.
    ///
    /// # Errors
    /// If it cannot be fetched, or does not hold that folder.
    pub(crate) fn unpacked(&self, name: &str) -> Result<PathBuf> {
        let folder = paths::target(name);
        let wanted = folder.join(self.name).join(self.wanted);
        // Written last: it says that the folder is whole, and of which archive it is.
        let stamp = folder.join("requirements.txt.done");
        if fs::read_to_string(&stamp).is_ok_and(|content| content == self.requirement) {
            return Ok(wanted);
        }
        let python = python::environment()?;
        eprintln!("Fetching {}", self.name);
        if folder.exists() {
            fs::remove_dir_all(&folder).context("cannot remove an old archive")?;
        }
        fs::create_dir_all(&folder)?;
        let requirements = folder.join("requirements.txt");
        fs::write(&requirements, self.requirement)?;
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
        .with_context(|| format!("cannot fetch {}", self.name))?;
        run_quiet(
            Command::new(&python)
                .args(["-m", "tarfile", "--extract"])
                .arg(folder.join(format!("{}.tar.gz", self.name)))
                .arg(&folder),
        )
        .with_context(|| format!("cannot unpack {}", self.name))?;
        ensure!(wanted.is_dir(), "{} holds no folder {}", self.name, self.wanted);
        fs::write(stamp, self.requirement)?;
        Ok(wanted)
    }
}
