//! `cargo xtask fuzz`: the program of the package `fuzz`, compiled so that an overflow is a panic.

use std::process::Stdio;

use anyhow::Result;

use crate::cargo::cargo;
use crate::process::run_ok;

/// Runs it with the given words.
///
/// # Errors
/// If it finds a fault, or a word has no meaning.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let mut command = cargo("run --quiet --profile fuzz --package babelqueue-fuzz --");
    // What build scripts tell Cargo is nothing to look at here.
    run_ok(command.args(words).stdout(Stdio::null()))
}
