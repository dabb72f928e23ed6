//! `cargo xtask schema-suite`: the generator measured by the official JSON Schema test suite, and by schemas that a team
//! wrote.
//!
//! For each group of the suite a contract is generated and compiled; the group's values are decoded into its type and
//! encoded again, and compared with what the suite says of them. What the types let through is put to the validation
//! that the runtime offers.

mod ask;
mod compile;
mod crates;
mod diagnostics;
mod files;
mod gcn;
mod generate;
mod group;
mod json;
mod measure;
mod options;
mod report;
mod rules;
mod suite;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use self::ask::{Answer, Question};
use self::generate::{Code, Outcome};
use self::group::{Group, Source};
use self::measure::Measure;
use self::options::Options;
use self::suite::Suite;
use crate::paths;
use crate::process::check_interrupted;

/// Measures, and prints a table and lists. The exit code says whether the generator is as good as it must be.
///
/// # Errors
/// If a word has no meaning, the suite cannot be had, or on Ctrl-C.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let options = Options::parse(words)?;
    let folder = paths::target("schema-suite");
    let started = Instant::now();
    let groups = groups(&options, &folder.join("schemas"))?;
    ensure!(!groups.is_empty(), "no group is wanted");
    let measure = measure(&groups, &options, &folder)?;
    print!("{}\n{}", report::lists(&measure.lists, options.list_by_type), report::table(&measure));
    let shortcomings = report::shortcomings(&measure);
    println!("\n{} groups in {:.0} s", groups.len(), started.elapsed().as_secs_f64());
    shortcomings.iter().for_each(|shortcoming| println!("FALLS SHORT: {shortcoming}"));
    Ok(if shortcomings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The wanted groups, their schema folders written anew.
fn groups(options: &Options, schemas: &Path) -> Result<Vec<Group>> {
    if schemas.exists() {
        fs::remove_dir_all(schemas).context("cannot remove old schemas")?;
    }
    let mut groups = Vec::new();
    let drafts: Vec<_> =
        [Source::Draft7, Source::Draft2020].into_iter().filter(|source| options.wants(*source)).collect();
    if !drafts.is_empty() {
        let suite = Suite::find()?;
        for draft in drafts {
            groups.extend(suite.groups(draft, options, schemas)?);
        }
    }
    if options.wants(Source::Gcn) {
        groups.extend(gcn::groups(options, schemas)?);
    }
    Ok(groups)
}

fn measure(groups: &[Group], options: &Options, folder: &Path) -> Result<Measure> {
    eprintln!("Generating {} groups", groups.len());
    let mut measure = Measure::default();
    let mut codes: Vec<Option<Code>> = Vec::new();
    for group in groups {
        check_interrupted()?;
        codes.push(match generate::generate(group, &folder.join("code"))? {
            Outcome::Code(code) => Some(code),
            Outcome::Refused(reason) => {
                measure.refused(group, &reason);
                None
            }
            Outcome::Panicked(text) => {
                measure.panicked(group, &text);
                None
            }
        });
    }
    // What a part of the groups needs leaves the libraries of all alone.
    let name = if options.is_all() { "groups" } else { "some" };
    let compiled = compile::compile(compile::libraries(name, &codes), folder)?;
    let mut usable = Vec::new();
    for (group, _) in groups.iter().zip(&codes).filter(|(_, code)| code.is_some()) {
        match compiled.broken.get(&group.id) {
            Some(error) => measure.broken(group, error),
            None => usable.push(group),
        }
    }
    let mut questions = Vec::new();
    for group in &usable {
        let question = |value| Question { id: &group.id, message: group.message(value) };
        questions.extend(group.values.iter().map(question));
    }
    let mut answers: &[Answer] = &ask::ask(&compiled.program, folder, &questions)?;
    for group in usable {
        let (own, rest) = answers.split_at_checked(group.values.len()).context("an answer is missing")?;
        measure.usable(group, compiled.warned.get(&group.id).map(String::as_str), own)?;
        answers = rest;
    }
    Ok(measure)
}
