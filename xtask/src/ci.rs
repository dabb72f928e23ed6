//! `cargo xtask ci`: what a change must pass besides the tests.

use anyhow::{Context as _, Result, ensure};

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
    // A workspace of its own.
    run_ok(&mut cargo("fmt --check --manifest-path runtime/benches/rivals/ruststream/Cargo.toml"))?;
    announce("clippy");
    tools::c_libraries()?;
    run_ok(&mut cargo("clippy --workspace --all-targets --all-features -- -D warnings"))?;
    // Those that only run with what they need are not among all targets.
    const STARTED: &str = "--test conformance --test live --test stores";
    run_ok(&mut cargo(&format!("clippy --workspace {STARTED} --all-features -- -D warnings")))?;
    announce("documentation");
    run_ok(cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))?;
    announce("build scripts and macros without librdkafka");
    for package in ["babelqueue-codegen", "babelqueue-macros"] {
        let mut tree = cargo("tree --edges normal,build --prefix none --package");
        let tree = tree.arg(package).output().context("cargo tree does not run")?;
        let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
        ensure!(tree.starts_with(package), "cargo tree said nothing of {package}");
        ensure!(!tree.contains("rdkafka"), "{package} depends on librdkafka:\n{tree}");
    }
    announce("the examples as a newcomer runs them");
    run_ok(cargo("run -p orders").env_remove(crate::kafka::BROKERS))?;
    run_ok(&mut cargo("run -p alerts"))?;
    run_ok(cargo("run -p orders --bin failing").env_remove(crate::kafka::BROKERS))?;
    announce("members and brokers in trouble: nothing lost, nothing out of order");
    crate::chaos::run(&["--records", "100000", "--seed", "1"])
}

fn announce(what: &str) {
    println!("\n=== {what}");
}
