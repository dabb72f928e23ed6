//! The `cargo` that runs this program, for the commands that it runs in turn.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::paths;

/// `cargo` with the words of `arguments` (separated by spaces), in the repository's root.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(paths::root()).args(arguments.split_whitespace());
    command
}

/// A program of this workspace that `cargo build` has built.
pub(crate) fn program(name: &str) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| paths::root().join("target"), PathBuf::from);
    target.join("debug").join(name)
}
