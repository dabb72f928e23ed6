//! Schema folders, through the generator and the evolution gate.

mod code;
mod input;
mod make;

use std::fs;
use std::io;
use std::path::Path;

use babelqueue_codegen::{Config, Dialect, Error, configure, evolution};

use self::input::Files;
use crate::input::Input;
use crate::random::Random;
use crate::run::{Broken, Target, promise};

pub(crate) struct Schemas {
    corpus: Vec<Files>,
}

impl Schemas {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { corpus: input::corpus()? })
    }
}

impl Target for Schemas {
    const NAME: &'static str = "schemas";

    fn input(&self, random: &mut Random) -> Input {
        input::input(random, &self.corpus)
    }

    fn check(&self, input: &Input, folder: &Path) -> Result<bool, Broken> {
        let options = String::from_utf8_lossy(input.file("options")).into_owned();
        let accepted = generated(folder, &options)?;
        let gate = |earlier: &str| {
            let path = |state: &str| folder.join(state).join("registry.json");
            evolution(path("now")).rerun_if_changed(false).against_folder(path(earlier)).full().check()
        };
        // The options of the generator are none of the gate's.
        if accepted && !options.contains("2020-12") && !options.contains("draft-04") {
            let same = gate("now");
            promise(same.is_ok(), "a state is compatible with itself", || format!("{same:?}"))?;
        }
        if !input.file("earlier/registry.json").is_empty() {
            gate("earlier").map_or_else(|error| readable(&error, folder), Ok)?;
        }
        Ok(accepted)
    }
}

/// Whether the folder gives code.
fn generated(folder: &Path, options: &str) -> Result<bool, Broken> {
    let out = folder.join("out");
    let generate = || {
        let _ = fs::remove_dir_all(&out);
        let _ = fs::create_dir_all(&out);
        let config = configured(options).registry(folder.join("now/registry.json")).out_dir(&out);
        config.rerun_if_changed(false).generate()?;
        Ok(fs::read_to_string(out.join("babelqueue_contracts.rs")).unwrap_or_default())
    };
    let first: Result<String, Error> = generate();
    match &first {
        Ok(code) => code::check(code)?,
        Err(error) => readable(error, folder)?,
    }
    let second = generate();
    promise(first == second, "the outcome is the same in every run", || format!("{first:?}\n{second:?}"))?;
    Ok(first.is_ok())
}

fn configured(options: &str) -> Config {
    options.split_whitespace().fold(configure(), |config, option| match option {
        "json_schema" => config.json_schema(true),
        "non_exhaustive" => config.non_exhaustive(true),
        "lose_unknown" => config.keep_unknown(false),
        "leave_defaults" => config.fill_defaults(false),
        "exact_numbers" => config.exact_numbers(true),
        "2020-12" => config.default_dialect(Dialect::Draft2020),
        "draft-04" => config.default_dialect(Dialect::Draft4),
        _ => config.format("uuid", "::babelqueue::Uuid"),
    })
}

/// Every problem is one line, with its file, and the line where the file is JSON.
fn readable(error: &Error, folder: &Path) -> Result<(), Broken> {
    let text = error.to_string();
    promise(!text.contains("a defect of the generator"), "the generated code is Rust", || text.clone())?;
    promise(!text.is_empty(), "an error says something", String::new)?;
    for line in text.lines() {
        let named = line.strip_prefix(&format!("{}/", folder.display()));
        let file = named.and_then(|named| named.split_once(".json:"));
        promise(file.is_some(), "a problem names its file", || line.to_owned())?;
        let placed = file.is_some_and(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()));
        // The file as a whole.
        let whole = ["cannot read", "the file is "].iter().any(|reason| line.contains(reason));
        promise(placed || whole, "a problem names its line", || line.to_owned())?;
        promise(!line.contains(char::is_control), "a problem is plain text", || line.to_owned())?;
    }
    Ok(())
}
