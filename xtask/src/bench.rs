//! `cargo xtask bench`: the benchmarks on a real broker.

use anyhow::Result;

use crate::cargo::cargo;
use crate::kafka;
use crate::process::run_ok;

/// Runs the benchmark that the first argument names, or that of the throughput, with the other arguments. That of the
/// generator needs no broker.
///
/// # Errors
/// If there is no broker to be had, or the benchmark fails.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    if let ["codegen"] = arguments {
        return run_ok(&mut cargo("bench -p babelqueue-codegen --bench generate"));
    }
    let broker = kafka::start_or_use()?;
    let (name, arguments) = match arguments {
        ["waiting", rest @ ..] => ("waiting", rest),
        all => ("throughput", all),
    };
    let mut command = cargo("bench -p babelqueue --bench");
    command.arg(name).arg("--").args(arguments);
    broker.tell(&mut command);
    run_ok(&mut command)
}
