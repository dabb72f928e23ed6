//! Members of a consumer group in trouble: killed, suspended, their brokers down, their writes refused. A ledger in another
//! process says whether anything was lost, committed too early or out of order. `cargo xtask chaos` starts this.
//!
//! One program, three parts: the director (`director.rs`), the members that it starts (`member.rs`), and the ledger
//! (`ledger.rs`), which judges (`judge/`).

mod brokers;
mod director;
mod events;
mod judge;
mod ledger;
mod line;
mod member;
mod members;
mod observer;
mod options;
mod plan;
mod publish;
mod random;

use std::process::ExitCode;

use options::Options;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ended = match words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("member", rest)) => member::run(rest).map_err(|error| format!("member {}: {error}", rest.join(" "))),
        Some(("ledger", rest)) => ledger::run(rest).map_err(|error| format!("ledger: {error}")),
        _ => direct(&words),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            if error.contains("FencedInstanceId") { ExitCode::from(member::FENCED) } else { ExitCode::FAILURE }
        }
    }
}

fn direct(words: &[String]) -> Result<(), String> {
    let options = Options::read(words).ok_or_else(|| format!("chaos: {}", options::USAGE))?;
    eprintln!("{} records, {} brokers, seed {}", options.records, options.nodes, options.seed);
    match director::run(&options) {
        Ok(true) => Ok(()),
        Ok(false) => Err("chaos: a promise was broken".to_owned()),
        Err(error) => Err(format!("chaos: {error}\nRepeat with --seed {}", options.seed)),
    }
}
