//! The API for build scripts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::emit::{self, Style};
use crate::error::{Error, Problem};
use crate::load::{Entry, Failure, Sources, read_registry};
use crate::lower::{self, Options};
use crate::model::Topic;
use crate::names;
use crate::resolve::{Dialect, Resolver};
use crate::schema::Arena;

/// The name of the generated file in the output folder.
const FILE: &str = "babelqueue_contracts.rs";

/// Starts a generator run; see the crate's documentation.
pub fn configure() -> Config {
    Config {
        registry: PathBuf::from("schemas/registry.json"),
        crate_path: emit::DEFAULT_CRATE.to_owned(),
        json_schema: false,
        derives: Vec::new(),
        non_exhaustive: false,
        rerun_if_changed: true,
        out_dir: None,
        default_dialect: Dialect::Draft7,
        uris: Vec::new(),
        options: Options {
            formats: BTreeMap::new(),
            keep_unknown: true,
            fill_defaults: true,
            exact_numbers: false,
            names: BTreeMap::new(),
        },
    }
}

/// The settings of a generator run.
#[derive(Clone, Debug)]
#[must_use = "nothing is generated before `generate` is called"]
pub struct Config {
    registry: PathBuf,
    crate_path: String,
    json_schema: bool,
    derives: Vec<String>,
    non_exhaustive: bool,
    rerun_if_changed: bool,
    out_dir: Option<PathBuf>,
    default_dialect: Dialect,
    uris: Vec<(String, String)>,
    options: Options,
}

/// What a run gives.
struct Run {
    code: Result<String, Error>,
    /// The paths that Cargo must watch.
    watched: Vec<String>,
    warnings: Vec<Problem>,
}

impl Config {
    /// The registry file, relative to the folder of the package (`CARGO_MANIFEST_DIR`); `schemas/registry.json` unless
    /// this is called. Its folder is the schema folder: schemas outside it are refused.
    pub fn registry(mut self, path: impl Into<PathBuf>) -> Self {
        self.registry = path.into();
        self
    }

    /// The path of the runtime crate in the generated code, for users who renamed or re-export it; `::babelqueue`
    /// unless this is called.
    pub fn crate_path(mut self, path: impl Into<String>) -> Self {
        self.crate_path = path.into();
        self
    }

    /// Whether the generated types derive schemars' `JsonSchema` (feature of the runtime crate); they do not unless
    /// this is called.
    pub fn json_schema(mut self, on: bool) -> Self {
        self.json_schema = on;
        self
    }

    /// One more trait that every generated type derives, by the path of its macro, such as `::core::cmp::Eq`. `Clone`,
    /// `Debug` and `PartialEq` are always there, and for enums of known values `Copy`, `Eq` and `Hash`.
    pub fn derive(mut self, path: impl Into<String>) -> Self {
        self.derives.push(path.into());
        self
    }

    /// Whether the generated types are `#[non_exhaustive]`: crates that depend on theirs then go on compiling when a
    /// schema gets more members or values. They are not unless this is called.
    pub fn non_exhaustive(mut self, on: bool) -> Self {
        self.non_exhaustive = on;
        self
    }

    /// Whether Cargo is told which files the run has read; it is unless this is called.
    ///
    /// One line of that kind turns off Cargo's own rule, by which any change in the package runs the build script
    /// again: a script that also reads other files must print a line for each, or turn these lines off.
    pub fn rerun_if_changed(mut self, on: bool) -> Self {
        self.rerun_if_changed = on;
        self
    }

    /// The folder to write into instead of `OUT_DIR`.
    pub fn out_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(path.into());
        self
    }

    /// The edition of schemas without `$schema`; draft-07, as the contract says, unless this is called.
    pub fn default_dialect(mut self, dialect: Dialect) -> Self {
        self.default_dialect = dialect;
        self
    }

    /// Says that the URIs that begin with `prefix` are files of `folder`, a folder of the schema folder:
    /// `map_uri("https://schemas.example.com/", "vendored")` finds `https://schemas.example.com/a/b.json` as
    /// `vendored/a/b.json`. Nothing is ever fetched.
    pub fn map_uri(mut self, prefix: impl Into<String>, folder: impl Into<String>) -> Self {
        self.uris.push((prefix.into(), folder.into()));
        self
    }

    /// The Rust type of strings with this `format`, by an absolute path. The type must implement serde's traits, `Clone`,
    /// `Debug` and `PartialEq`, and read every string of that format. Strings are `String` unless this is called.
    ///
    /// With the crates `uuid` and `chrono` and their feature `serde`:
    ///
    /// ```no_run
    /// # fn main() -> Result<(), babelqueue_codegen::Error> {
    /// babelqueue_codegen::configure()
    ///     .registry("schemas/registry.json")
    ///     .format("uuid", "::uuid::Uuid")
    ///     .format("date-time", "::chrono::DateTime<::chrono::FixedOffset>")
    ///     .format("date", "::chrono::NaiveDate")
    ///     .generate()
    /// # }
    /// ```
    ///
    /// The types of the crate `time` do not read RFC 3339 by themselves. A type of your own around them does,
    /// `.format("date-time", "crate::Timestamp")`:
    ///
    /// ```
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    /// #[serde(transparent)]
    /// pub struct Timestamp(#[serde(with = "time::serde::rfc3339")] pub time::OffsetDateTime);
    /// ```
    pub fn format(mut self, format: impl Into<String>, path: impl Into<String>) -> Self {
        self.options.formats.insert(format.into(), path.into());
        self
    }

    /// Whether an object that may have members beside those of its schema keeps them, in a map called `extra`; it does
    /// unless this is called. Without it they are lost when a value is decoded and encoded again.
    pub fn keep_unknown(mut self, on: bool) -> Self {
        self.options.keep_unknown = on;
        self
    }

    /// Whether an optional member that is missing has its `default`, and is always written; it has unless this is
    /// called. Without it the member is an `Option`, and so it is where writing it could break `maxProperties` or
    /// `dependentRequired`.
    pub fn fill_defaults(mut self, on: bool) -> Self {
        self.options.fill_defaults = on;
        self
    }

    /// Whether numbers that may be of any size or precision are `Json`, which keeps their spelling, instead of `i64` and
    /// `f64`; they are not unless this is called. Bounds or a `format` give them a type again.
    pub fn exact_numbers(mut self, on: bool) -> Self {
        self.options.exact_numbers = on;
        self
    }

    /// The Rust name of the type, field or variant of a schema, by its file and JSON Pointer:
    /// `rename("order.json#/definitions/Line", "OrderLine")`. It comes before `x-rust-name`.
    pub fn rename(mut self, place: impl Into<String>, name: impl Into<String>) -> Self {
        self.options.names.insert(place.into(), name.into());
        self
    }

    /// Reads the registry and its schemas and writes `babelqueue_contracts.rs` into `OUT_DIR`, unless it is there
    /// with the same content.
    ///
    /// # Errors
    ///
    /// All problems of the registry and the schemas, each with file, line, JSON Pointer and reason; or the file that
    /// could not be written. Nothing is written then.
    pub fn generate(self) -> Result<(), Error> {
        // The environment is read at each call: a long-lived process may run several build scripts' worth of these.
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        let Run { code, watched, warnings } = self.run(&package);
        if self.rerun_if_changed {
            watched.iter().for_each(|path| println!("cargo:rerun-if-changed={path}"));
        }
        warnings.iter().for_each(|warning| println!("cargo:warning={warning}"));
        self.write(&code?)
    }

    fn run(&self, package: &Path) -> Run {
        let shown = self.registry.parent().unwrap_or(Path::new("")).to_path_buf();
        let folder = package.join(&shown);
        let sources = Sources::new(folder.clone(), shown.clone());
        let mut arena = Arena::new(Resolver::new(sources, self.default_dialect, self.uris.clone()));
        let code = self.code(&mut arena);
        let mut watched = arena.resolver.sources.files_read();
        // New files must be noticed too. The package's own folder also holds `target`, which every build changes.
        let canonical = |path: &Path| path.canonicalize().ok();
        if let Some(schemas) = canonical(&folder)
            && canonical(package).is_none_or(|package| !package.starts_with(&schemas))
        {
            watched.push(shown.display().to_string());
        }
        watched.sort();
        Run { code, watched, warnings: arena.warnings }
    }

    fn code(&self, arena: &mut Arena) -> Result<String, Error> {
        let crate_path = path("crate_path", &self.crate_path)?;
        let derives = self.derives.iter().map(|derive| path("derive", derive)).collect::<Result<_, _>>()?;
        self.options.formats.values().try_for_each(|given| path("format", given).map(drop))?;
        let style = Style { crate_path, json_schema: self.json_schema, derives, non_exhaustive: self.non_exhaustive };
        let mut entries = self.entries(arena)?;
        arena.read_payloads(&entries);
        let mut topics = Vec::new();
        entries.sort_by(|a, b| a.topic.cmp(&b.topic));
        for group in entries.chunk_by(|a, b| a.topic == b.topic) {
            let Some(first) = group.first() else { continue };
            let mut topic = lower::topic(arena, &self.options, &first.topic, group);
            name(&mut topic, arena);
            topics.push(topic);
        }
        for (first, second) in names::modules(&mut topics) {
            let reason = format!("the topics `{first}` and `{second}` would share a module; rename one");
            arena
                .problems
                .extend(entries.iter().find(|entry| entry.topic == second).map(|entry| entry.problem("topic", reason)));
        }
        arena.problems.extend(arena.resolver.sources.take_problems());
        if !arena.problems.is_empty() {
            return Err(Error::new(std::mem::take(&mut arena.problems)));
        }
        emit::file(&topics, &style).map_err(|error| {
            Problem::file(FILE, format!("the generated code is not Rust (a defect of the generator): {error}")).into()
        })
    }

    fn entries(&self, arena: &mut Arena) -> Result<Vec<Entry>, Error> {
        let shown = self.registry.display().to_string();
        let Some(file) = self.registry.file_name().and_then(|name| name.to_str()) else {
            return Err(Problem::file(shown, "the registry must be a file").into());
        };
        match read_registry(&mut arena.resolver.sources, file, &mut arena.problems) {
            Ok(entries) => Ok(entries),
            Err(Failure::Unreadable(reason)) => Err(Problem::file(shown, reason).into()),
            Err(Failure::Reported) => Err(Error::new(arena.resolver.sources.take_problems())),
        }
    }

    fn write(&self, code: &str) -> Result<(), Error> {
        let folder = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let Some(folder) = folder else {
            return Err(
                Problem::file(FILE, "OUT_DIR is not set: call this from a build script, or name an `out_dir`").into()
            );
        };
        let path = folder.join(FILE);
        // An untouched file keeps its time, so that nothing is compiled again.
        if std::fs::read_to_string(&path).is_ok_and(|present| present == code) {
            return Ok(());
        }
        std::fs::write(&path, code).map_err(|error| Problem::file(FILE, format!("cannot write it: {error}")).into())
    }
}

/// A path that the build script gives as text.
fn path(option: &str, text: &str) -> Result<syn::Path, Problem> {
    syn::parse_str(text).map_err(|error| {
        Problem::file("build script", format!("{option} `{}` is no path: {error}", text.escape_debug()))
    })
}

/// Names everything in `topic`; names that cannot be told apart are problems.
fn name(topic: &mut Topic, arena: &mut Arena) {
    for clash in names::assign(topic) {
        let (Some(first), Some(second)) = (topic.types.get(clash.first), topic.types.get(clash.second)) else {
            continue;
        };
        let reason = format!(
            "the type would be called `{}`, as that of `{}` at `{}`; change a title or the name of a definition",
            clash.name, first.origin.file, first.origin.pointer
        );
        if let Ok(document) = arena.resolver.sources.open("", &second.origin.file) {
            arena.problems.push(document.problem(&second.origin.pointer, reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(registry: &str) -> tempfile::TempDir {
        let package = tempfile::tempdir().expect("a folder");
        let schemas = package.path().join("schemas");
        std::fs::create_dir_all(&schemas).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(schemas.join(name), text).expect("a file");
        write("registry.json", registry);
        write("x.json", r#"{"type":"object","properties":{"y":{"$ref":"y.json"},"z":{"$ref":"none.json"}}}"#);
        write("y.json", "broken");
        write("unused.json", "{}");
        package
    }

    const ONE: &str = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"}]}"#;

    // B01, C02
    #[test]
    fn cargo_watches_each_file_that_was_read_and_the_folder_and_nothing_that_is_missing() {
        let package = package(ONE);
        let Run { watched, .. } = configure().run(package.path());
        // `unused.json` was looked into: it might have been what the reference to `none.json` means.
        let files = ["registry.json", "unused.json", "x.json", "y.json"].map(|file| format!("schemas/{file}"));
        assert_eq!(watched, [&["schemas".to_owned()], files.as_slice()].concat());
        let Run { watched, .. } = configure().registry("typo/registry.json").run(package.path());
        assert_eq!(watched, Vec::<String>::new());
        let Run { watched, .. } = configure().registry("schemas/typo.json").run(package.path());
        assert_eq!(watched, ["schemas"]);
    }

    // C14
    #[cfg(unix)]
    #[test]
    fn a_watched_path_is_one_that_the_system_takes() {
        let package = package(ONE);
        let odd = package.path().join(r"C:\Users\p");
        std::fs::create_dir(&odd).expect("a folder");
        std::fs::write(odd.join("registry.json"), r#"{"schemas":[]}"#).expect("a file");
        let Run { watched, .. } = configure().registry(r"C:\Users\p/registry.json").run(package.path());
        assert_eq!(watched, [r"C:\Users\p", r"C:\Users\p/registry.json"]);
    }

    #[test]
    fn a_folder_that_holds_the_package_itself_is_not_watched() {
        let package = package(ONE);
        std::fs::write(package.path().join("registry.json"), r#"{"schemas":[]}"#).expect("a file");
        let Run { code, watched, .. } = configure().registry("registry.json").run(package.path());
        assert_eq!(watched, ["registry.json"]);
        assert!(code.is_ok());
    }

    #[test]
    fn messages_name_files_as_the_build_script_does() {
        let package = package(ONE);
        let Run { code, .. } = configure().run(package.path());
        let error = code.expect_err("broken").to_string();
        assert!(error.starts_with("schemas/x.json:1:59: /properties/z/$ref: cannot read `none.json`: "), "{error}");
        assert!(error.ends_with("schemas/y.json:1:1: not JSON: expected value"), "{error}");
    }

    // C19
    #[test]
    fn two_packages_in_one_process_are_kept_apart() {
        let (first, second) = (package(ONE), package(r#"{"schemas":[]}"#));
        assert!(configure().run(first.path()).code.is_err());
        assert!(configure().run(second.path()).code.is_ok());
    }
}
