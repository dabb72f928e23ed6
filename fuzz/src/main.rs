//! Random schema folders and random messages: no panic, no hang, bounded memory. `cargo xtask fuzz` starts this.

mod corpus;
mod damage;
mod envelopes;
mod input;
mod json;
mod memory;
mod random;
mod run;
mod schemas;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use run::{Options, Target};

const USAGE: &str = "Usage: cargo xtask fuzz [schemas|envelopes] [--minutes N] [--seed N] [--input folder]";

/// What the command line asks for.
struct Wanted {
    schemas: bool,
    envelopes: bool,
    time: Duration,
    seed: u64,
    input: Option<PathBuf>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(wanted) = parse(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match run(&wanted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Option<Wanted> {
    let mut wanted = Wanted {
        schemas: true,
        envelopes: true,
        time: Duration::from_secs(600),
        seed: random::Random::new(rand::random(), 0).bits(),
        input: None,
    };
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "schemas" => wanted.envelopes = false,
            "envelopes" => wanted.schemas = false,
            "--minutes" => {
                let minutes: f64 = words.next()?.parse().ok()?;
                wanted.time = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
            }
            "--seed" => wanted.seed = words.next()?.parse().ok()?,
            "--input" => wanted.input = Some(PathBuf::from(words.next()?)),
            _ => return None,
        }
    }
    // An input is one of schemas or one of envelopes.
    let one = wanted.schemas != wanted.envelopes;
    (one || (wanted.schemas && wanted.input.is_none())).then_some(wanted)
}

fn run(wanted: &Wanted) -> std::io::Result<bool> {
    let mut well = true;
    if wanted.envelopes {
        well &= one(&envelopes::Envelopes::new()?, wanted)?;
    }
    if wanted.schemas {
        well &= one(&schemas::Schemas::new()?, wanted)?;
    }
    Ok(well)
}

fn one<T: Target>(target: &T, wanted: &Wanted) -> std::io::Result<bool> {
    let faults = corpus::root().join("target/faults");
    if let Some(input) = &wanted.input {
        return run::saved(target, input, &faults);
    }
    let time = if wanted.schemas && wanted.envelopes { wanted.time / 2 } else { wanted.time };
    run::random(target, Options { time, seed: wanted.seed }, &faults)
}
