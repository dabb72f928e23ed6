//! `cargo xtask ci`: what a change must pass besides the tests.

use anyhow::Result;

use crate::cargo::cargo;
use crate::process::run_ok;
use crate::tools;

/// Runs the checks one after another, up to the first that fails.
///
/// # Errors
/// If a check fails, or a library that it compiles against cannot be had.
pub(crate) fn run() -> Result<()> {
    announce("formatting");
    run_ok(&mut cargo("fmt --all --check"))?;
    announce("clippy");
    tools::c_libraries()?;
    run_ok(&mut cargo("clippy --workspace --all-targets --all-features -- -D warnings"))?;
    announce("documentation");
    run_ok(cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))?;
    announce("the example as a newcomer runs it");
    run_ok(cargo("run -p orders").env_remove(crate::kafka::BROKERS))
}

fn announce(what: &str) {
    println!("\n=== {what}");
}
