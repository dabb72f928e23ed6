//! `cargo xtask bench`: the benchmark on a real broker.

use anyhow::Result;

use crate::cargo::cargo;
use crate::kafka;
use crate::process::run_ok;

/// Runs the benchmark with the given arguments.
///
/// # Errors
/// If there is no broker to be had, or the benchmark fails.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let broker = kafka::start_or_use()?;
    let mut command = cargo("bench -p babelqueue --bench throughput --");
    command.args(arguments);
    broker.tell(&mut command);
    run_ok(&mut command)
}
