//! `cargo xtask test`: every test there is, step by step.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::cargo::cargo;
use crate::kafka::{self, Running};
use crate::process::{check_interrupted, run_ok};
use crate::stores::Stores;
use crate::{conformance, python, readme, schema_suite, tools};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Unit,
    Numbers,
    Readme,
    Conformance,
    Schemas,
    Stores,
    Live,
    Orders,
}

impl Step {
    const ALL: [Self; 8] = [
        Self::Unit,
        Self::Numbers,
        Self::Readme,
        Self::Conformance,
        Self::Schemas,
        Self::Stores,
        Self::Live,
        Self::Orders,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Numbers => "numbers",
            Self::Readme => "readme",
            Self::Conformance => "conformance",
            Self::Schemas => "schemas",
            Self::Stores => "stores",
            Self::Live => "live",
            Self::Orders => "orders",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Unit => "unit, embedded broker, compile-fail, generated code and doc tests",
            Self::Numbers => "the same with serde_json's arbitrary precision, which any other dependency may turn on",
            Self::Readme => "the packages in the README, as a newcomer runs them",
            Self::Conformance => "the contract's conformance suite",
            Self::Schemas => "the generator on the official JSON Schema test suite",
            Self::Stores => "the idempotency guard's stores on real servers",
            Self::Live => "a real broker, and the SDK for Python",
            Self::Orders => "the examples on a real broker",
        }
    }

    fn needs_broker(self) -> bool {
        matches!(self, Self::Live | Self::Orders)
    }
}

// The whole workspace is named although one package has the target: cargo unites the features of
// the packages that a command names, and another set would compile librdkafka again.
const UNIT: &str = "test --workspace";
const NUMBERS: &str = "test --quiet -p babelqueue --features serde_json/arbitrary_precision --lib --test embedded \
                       --test properties --test traces";
const STORES: &str = "test --workspace --test stores";
/// With TLS; all features, so that clippy needs the same librdkafka. What the tests measured is shown too.
const LIVE: &str = "test --workspace --all-features --test live -- --show-output";

struct Outcome {
    step: Step,
    passed: bool,
    took: Duration,
}

/// Runs the named steps, or all; a failed one does not keep the others from running.
///
/// # Errors
/// If a word names no step, or on Ctrl-C.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let steps = choose(words)?;
    // One broker for all steps; it ends with this function.
    let mut broker = None;
    let mut outcomes = Vec::new();
    for step in steps {
        println!("\n=== {}: {}", step.name(), step.what());
        let started = Instant::now();
        let result = carry_out(step, &mut broker);
        check_interrupted()?;
        let took = started.elapsed();
        let passed = result.is_ok();
        if let Err(error) = result {
            println!("{error:#}");
        }
        println!("=== {}: {}", step.name(), verdict(passed, took));
        outcomes.push(Outcome { step, passed, took });
    }
    drop(broker);
    print!("{}", summary(&outcomes));
    let all_passed = outcomes.iter().all(|outcome| outcome.passed);
    Ok(if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn choose(words: &[&str]) -> Result<Vec<Step>> {
    if let Some(word) = words.iter().find(|word| Step::ALL.iter().all(|step| step.name() != **word)) {
        let names = Step::ALL.map(Step::name).join(", ");
        bail!("no test step is called `{word}`; there are {names}");
    }
    // In their own order, whatever the order of the words.
    let named = |step: &Step| words.is_empty() || words.contains(&step.name());
    Ok(Step::ALL.into_iter().filter(named).collect())
}

fn carry_out(step: Step, broker: &mut Option<Running>) -> Result<()> {
    if step.needs_broker() && broker.is_none() {
        *broker = Some(kafka::start_or_use()?);
    }
    let on_broker = |mut command: Command| {
        if let Some(broker) = &*broker {
            broker.tell(&mut command);
        }
        command
    };
    match step {
        Step::Unit => run_ok(&mut cargo(UNIT)),
        Step::Numbers => run_ok(&mut cargo(NUMBERS)),
        Step::Readme => readme::run(),
        Step::Conformance => conformance::run(),
        Step::Schemas => {
            let code = schema_suite::run(&[])?;
            ensure!(code == ExitCode::SUCCESS, "the generator falls short");
            Ok(())
        }
        Step::Stores => {
            let stores = Stores::start()?;
            let mut command = cargo(STORES);
            stores.tell(&mut command);
            run_ok(&mut command)
        }
        Step::Live => {
            let python = python::environment()?;
            tools::c_libraries()?;
            let spare = kafka::start_spare()?;
            let secured = kafka::start_secured()?;
            let mut command = on_broker(cargo(LIVE));
            spare.tell(&mut command);
            secured.tell(&mut command);
            run_ok(command.env(python::PYTHON, python))
        }
        Step::Orders => {
            run_ok(&mut on_broker(cargo("run -p orders -- 100")))?;
            run_ok(&mut on_broker(cargo("run -p orders --bin failing")))
        }
    }
}

fn verdict(passed: bool, took: Duration) -> String {
    format!("{} in {:.1} s", if passed { "passed" } else { "FAILED" }, took.as_secs_f64())
}

/// A table, and a last line that counts.
fn summary(outcomes: &[Outcome]) -> String {
    let mut text = String::from("\n");
    for Outcome { step, passed, took } in outcomes {
        text.push_str(&format!("{:<12} {}\n", step.name(), verdict(*passed, *took)));
    }
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    text.push_str(&format!("\n{passed} passed, {} failed\n", outcomes.len() - passed));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_chooses_every_step() {
        assert_eq!(choose(&[]).unwrap(), Step::ALL);
    }

    #[test]
    fn words_choose_their_steps_in_the_order_of_the_steps() {
        assert_eq!(choose(&["orders", "unit"]).unwrap(), [Step::Unit, Step::Orders]);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = choose(&["unit", "life"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "no test step is called `life`; there are unit, numbers, readme, conformance, schemas, stores, live, orders"
        );
    }

    #[test]
    fn the_summary_ends_with_a_count_alone_on_its_line() {
        let outcome = |step, passed| Outcome { step, passed, took: Duration::from_millis(1_250) };
        let text = summary(&[outcome(Step::Unit, true), outcome(Step::Live, false)]);
        assert_eq!(text, "\nunit         passed in 1.2 s\nlive         FAILED in 1.2 s\n\n1 passed, 1 failed\n");
    }
}
