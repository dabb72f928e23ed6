//! `cargo xtask soak`: the program of the package `soak`, on a real broker.

use std::process::Command;

use anyhow::Result;

use crate::cargo::{cargo, program};
use crate::kafka;
use crate::process::run_ok;
use crate::tools;

/// Runs it with the given words.
///
/// # Errors
/// If something was lost or not flat, a word has no meaning, or there is no broker to be had.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    tools::c_libraries()?;
    // The whole workspace is named as for the tests, or librdkafka would be compiled again.
    run_ok(&mut cargo("build --quiet --workspace --bin babelqueue-soak"))?;
    let broker = kafka::start_or_use()?;
    let mut command = Command::new(program("babelqueue-soak"));
    command.args(words);
    broker.tell(&mut command);
    run_ok(&mut command)
}
