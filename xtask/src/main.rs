//! Developer tasks, run as `cargo xtask …`. `cargo xtask help` lists them.

mod kafka;
mod paths;
mod process;
mod tools;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask <command>

  kafka start    start an Apache Kafka broker of this checkout and leave it running
  kafka stop     stop it
  kafka status   say whether it runs; exit code 1 if it does not
  help           print this text
";

/// What a shell reports for a program that Ctrl-C ended.
const EXIT_INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match process::handle_interrupts().and_then(|()| dispatch(&words)) {
        Ok(code) => code,
        Err(_) if process::interrupted() => {
            eprintln!("xtask: interrupted");
            ExitCode::from(EXIT_INTERRUPTED)
        }
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<ExitCode> {
    match words {
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        ["kafka", "start"] => kafka::start(),
        ["kafka", "stop"] => kafka::stop(),
        ["kafka", "status"] => kafka::status(),
        other => bail!("unknown command `{}`\n\n{USAGE}", other.join(" ")),
    }
}
