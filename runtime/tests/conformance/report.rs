//! What is printed: a line a section, each failure, and the totals.

use std::fmt;

use crate::check::Outcome;

/// How a section went.
pub(crate) enum Run {
    /// An outcome a case.
    Done(Vec<(String, Outcome)>),
    /// A section in our scope that the runner does not know.
    Unknown,
}

#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Totals {
    pub(crate) fn add(&mut self, section: &str, run: Run) {
        match run {
            Run::Done(outcomes) if outcomes.is_empty() => self.fail(section, "has no case"),
            Run::Done(outcomes) => {
                let passed = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
                println!("{section:<24} {passed}/{}", outcomes.len());
                for (id, outcome) in &outcomes {
                    if let Err(found) = outcome {
                        println!("    FAILED {id}: {found}");
                    }
                }
                self.passed += passed;
                self.failed += outcomes.len() - passed;
            }
            Run::Unknown => self.fail(section, "is in our scope, and the runner does not know it"),
        }
    }

    /// A section that the runner knows and the suite does not hold.
    pub(crate) fn missing(&mut self, section: &str) {
        self.fail(section, "is missing from the suite");
    }

    fn fail(&mut self, section: &str, why: &str) {
        println!("{section:<24} FAILED: {why}");
        self.failed += 1;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed } = self;
        write!(f, "\n{passed} passed, {failed} failed")
    }
}
