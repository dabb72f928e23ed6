//! Runs the public conformance suite of the wire contract, a line a section; `cargo xtask conformance` fetches the
//! suite and starts this.

mod backoff;
mod broker;
mod check;
mod idempotency;
mod identity;
mod kafka;
mod poison;
mod producing;
mod reemit;
mod report;
mod retrying;
mod schema;
mod sections;
mod suite;
mod traceparent;

use std::{env, path::Path, process::ExitCode};

use self::{report::Totals, sections::SECTIONS, suite::Suite};

/// Names the folder with the suite's `manifest.json`.
const SUITE: &str = "BABELQUEUE_CONFORMANCE";

fn main() -> ExitCode {
    let Some(folder) = env::var_os(SUITE).filter(|folder| !folder.is_empty()) else {
        eprintln!("\nTHE CONFORMANCE SUITE DID NOT RUN: {SUITE} does not name its folder.");
        eprintln!("`cargo xtask conformance` fetches the suite and runs it.\n");
        // Where nobody reads this, a suite that did not run is a failure.
        return if env::var("CI").is_ok_and(|ci| ci == "true") { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    };
    let suite = match Suite::load(Path::new(&folder)) {
        Ok(suite) => suite,
        Err(error) => {
            eprintln!("the conformance suite cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    let totals = run(&suite);
    println!("{totals}");
    if totals.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(suite: &Suite) -> Totals {
    println!("\nconformance suite {}", suite.version());
    let (ours, others): (Vec<_>, Vec<_>) =
        suite.sections().partition(|(_, scope)| matches!(*scope, "core" | "kafka" | "otel"));
    let mut totals = Totals::default();
    for (name, _) in &ours {
        totals.add(name, sections::run(suite, name));
    }
    for (name, _) in SECTIONS {
        if !ours.iter().any(|(other, _)| other == name) {
            totals.missing(name);
        }
    }
    let others: Vec<_> = others.iter().map(|(name, _)| *name).collect();
    println!("not ours: {}", others.join(", "));
    totals
}
