//! PostgreSQL, one of the stores of the idempotency guard.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{find_or_install, on_path};

/// The folder with the programs `initdb` and `postgres`.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn postgres() -> Result<PathBuf> {
    find_or_install("PostgreSQL", &["postgresql"], || candidates().into_iter().find(|folder| is_whole(folder)))
}

/// The one on `PATH`, then those that Debian keeps off it, the newest first.
fn candidates() -> Vec<PathBuf> {
    let usual = on_path("initdb").and_then(|program| program.canonicalize().ok()?.parent().map(Path::to_owned));
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|entry| entry.path()).collect();
    installed.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
    usual.into_iter().chain(installed.into_iter().map(|folder| folder.join("bin"))).collect()
}

fn version(folder: &Path) -> Option<u32> {
    folder.file_name()?.to_str()?.parse().ok()
}

fn is_whole(folder: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
}
