//! `cargo xtask bench`: the benchmarks on a real broker.

mod programs;

use std::process::Command;

use anyhow::Result;

use self::programs::Programs;
use crate::cargo::cargo;
use crate::kafka;
use crate::process::run_ok;

/// Runs the benchmark that the first argument names, or that of the throughput, with the other arguments. That of the
/// generator needs no broker.
///
/// # Errors
/// If there is no broker to be had, something that is measured cannot be built, or the benchmark fails.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    if let ["codegen"] = arguments {
        return run_ok(&mut cargo("bench -p babelqueue-codegen --bench generate"));
    }
    let mut command = match arguments {
        ["waiting", rest @ ..] => {
            let mut command = cargo("bench -p babelqueue --bench waiting --");
            command.args(rest);
            command
        }
        all => throughput(all)?,
    };
    let broker = kafka::start_or_use()?;
    broker.tell(&mut command);
    run_ok(&mut command)
}

fn throughput(arguments: &[&str]) -> Result<Command> {
    let programs = Programs::prepare()?;
    let mut command = Command::new(&programs.throughput);
    command.args(arguments);
    programs.tell(&mut command);
    Ok(command)
}
