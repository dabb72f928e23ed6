//! Developer tasks, run as `cargo xtask …`. `cargo xtask help` lists them.

mod archive;
mod bench;
mod cargo;
mod chaos;
mod ci;
mod conformance;
mod fuzz;
mod kafka;
mod net;
mod paths;
mod process;
mod python;
mod readme;
mod schema_suite;
mod soak;
mod stores;
mod test;
mod tools;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask <command>

  test [step…]   run all tests, or only the named steps: unit, numbers, readme,
                 conformance, schemas, stores, live, orders
  conformance    run the conformance suite of the wire contract
  schema-suite [draft7|draft2020-12|gcn] [part of a file's path] [--list type]
                 measure the generator by the official JSON Schema test suite and by real schemas;
                 exit code 1 if it falls short. --list type: what the types alone let through
  bench [quick] [section…] [n] [--write]
                 measure the throughput with n records on a real broker, against the raw client,
                 RustStream and the SDK for Python; write BENCHMARKS.md. Sections: publish, consume,
                 partitions, sizes, handlers, peers, commits, movers, cost
  bench waiting [minutes]
                 measure the memory of a reinjector that holds a million records
  bench codegen  measure the generator with many schemas
  fuzz [schemas|envelopes] [--minutes n] [--seed n] [--input folder]
                 feed the generator and the evolution gate with random schema folders, and what reads
                 messages with random ones: ten minutes in all, unless told otherwise. What fails is
                 kept in target/faults/, and --input tries it again
  chaos [--records n] [--seed n] [--order partition|key|unordered|all] [--brokers 1|3]
                 members killed and suspended, brokers down, writes refused: a ledger in another process
                 says whether anything was lost, committed too early or out of order
  soak [--minutes n] [--seed n]
                 a service under random load with failures, retries and redrives, for 30 minutes unless told
                 otherwise: whether nothing is lost, and memory, file handles and threads stay flat
  ci             check formatting, lints, documentation and the examples; a short chaos
  kafka start    start an Apache Kafka broker of this checkout and leave it running
  kafka stop     stop it
  kafka status   say whether it runs; exit code 1 if it does not
  help           print this text

Java, Maven, OpenSSL, Python, Redis, PostgreSQL and Valgrind are installed if they are missing and this is
root on Debian; elsewhere a message names the command to type. Downloads and data lie in target/.

Environment:
  BABELQUEUE_BROKERS      host:port of the broker to use instead of starting one
  BABELQUEUE_CONFORMANCE  folder of the conformance suite to use instead of fetching it
  JSON_SCHEMA_TEST_SUITE  folder of the JSON Schema test suite to use instead of fetching it
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
        ["test", steps @ ..] => test::run(steps),
        ["conformance"] => conformance::run().map(|()| ExitCode::SUCCESS),
        ["schema-suite", words @ ..] => schema_suite::run(words),
        ["bench", arguments @ ..] => bench::run(arguments).map(|()| ExitCode::SUCCESS),
        ["fuzz", words @ ..] => fuzz::run(words).map(|()| ExitCode::SUCCESS),
        ["chaos", words @ ..] => chaos::run(words).map(|()| ExitCode::SUCCESS),
        ["soak", words @ ..] => soak::run(words).map(|()| ExitCode::SUCCESS),
        ["ci"] => ci::run().map(|()| ExitCode::SUCCESS),
        ["kafka", "start"] => kafka::start(),
        ["kafka", "stop"] => kafka::stop(),
        ["kafka", "status"] => kafka::status(),
        other => bail!("unknown command `{}`\n\n{USAGE}", other.join(" ")),
    }
}
