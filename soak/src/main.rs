//! A service that runs for a long time under random load, with failures, retries, dead letters and redrives: whether
//! everything that was published is handled, and whether memory, file handles and threads stay flat. `cargo xtask soak`
//! starts this.
//!
//! Top to bottom: [`run::run`] makes topics, starts the service (`service.rs`), loads it (`load.rs`), takes samples
//! (`sample.rs`), stops in order and judges (`flat.rs`, `ledger.rs`).

mod fate;
mod flat;
mod ledger;
mod load;
mod note;
mod options;
mod redriver;
mod run;
mod sample;
mod sampler;
mod service;
mod topics;

use std::{error::Error, process::ExitCode};

use options::Options;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = Options::read(&words) else {
        eprintln!("soak: {}", options::USAGE);
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run::run(&options))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("soak: not well. Repeat with --seed {}", options.seed);
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("soak: {error}\nRepeat with --seed {}", options.seed);
            ExitCode::FAILURE
        }
    }
}
