//! The generator as a build script, below a real Cargo: when it runs again, what it touches, and what it says.
//!
//! A package that builds the generator would compile all that it depends on. The build script of the packages here is a
//! small program instead that starts this test's own executable, which then generates as any build script does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Termination};
use std::time::SystemTime;

use babelqueue_codegen::configure;
use tempfile::TempDir;

use crate::folder::REGISTRY;

/// Set for the executable of this test when it is to generate: whether it tells Cargo what it has read.
const WATCHING: &str = "BABELQUEUE_TEST_BUILD_SCRIPT";
/// Set with it: the registry.
const AT: &str = "BABELQUEUE_TEST_REGISTRY";

#[test]
fn what_the_build_scripts_below_start() {
    let Ok(watching) = std::env::var(WATCHING) else { return };
    // The test runner may have begun a line.
    println!();
    let registry = std::env::var(AT).expect("a registry");
    let result = configure().registry(registry).rerun_if_changed(watching == "true").generate();
    // As `main` does with what a build script returns.
    let code = result.report();
    std::process::exit(i32::from(code != ExitCode::SUCCESS));
}

/// What the packages' build scripts start.
fn generator(watching: bool, registry: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this executable"));
    command.args(["build_script::what_the_build_scripts_below_start", "--exact", "--nocapture"]);
    command.env(WATCHING, watching.to_string()).env(AT, registry);
    command
}

/// A package with a build script, and what Cargo makes of it beside it.
struct Package(TempDir);

const X: &str = r#"{"type":"object","properties":{"y":{"$ref":"y.json"}}}"#;
const Y: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;

impl Package {
    /// A package whose payload refers to a second file.
    fn new() -> Self {
        let package = Self::with_build_script("true", "schemas/registry.json", "");
        package.write("schemas/registry.json", REGISTRY);
        package.write("schemas/x.json", X);
        package.write("schemas/y.json", Y);
        package
    }

    /// A package without schemas, whose build script does `more` too.
    fn with_build_script(watching: &str, registry: &str, more: &str) -> Self {
        let package = Self(tempfile::tempdir().expect("a folder"));
        let manifest = "[package]\nname = \"watched\"\nedition = \"2024\"\n[workspace]\n";
        package.write("Cargo.toml", manifest);
        package.write("README.md", "");
        package.write("version.txt", "1");
        package.write("src/lib.rs", "");
        package.write("build.rs", &build_script(&package.0.path().join("runs"), watching, registry, more));
        package
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join("package").join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    fn cargo_build(&self, options: &[&str]) -> Output {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--offline"]).args(options).arg("--target-dir").arg(self.0.path().join("target"));
        cargo.env_remove("CARGO_BUILD_TARGET").current_dir(self.path("")).output().expect("cargo runs")
    }

    /// Builds the package; how often the build script has run by then.
    fn runs_after_build(&self) -> usize {
        let output = self.cargo_build(&[]);
        assert!(output.status.success(), "{}", errors(&output));
        self.runs()
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.0.path().join("runs")).expect("the build script has run").len()
    }
}

fn build_script(runs: &Path, watching: &str, registry: &str, more: &str) -> String {
    let generator = std::env::current_exe().expect("this executable");
    format!(
        r#"use std::io::Write as _;
fn main() {{
    let runs = std::fs::OpenOptions::new().create(true).append(true).open({runs:?});
    runs.and_then(|mut runs| runs.write_all(b"x")).expect("the run is counted");
    {more}
    let mut generator = std::process::Command::new({generator:?});
    generator.args(["build_script::what_the_build_scripts_below_start", "--exact", "--nocapture"]);
    let status = generator.env({WATCHING:?}, {watching:?}).env({AT:?}, {registry:?}).status();
    std::process::exit(status.expect("the generator runs").code().unwrap_or(1));
}}
"#
    )
}

/// What a build script told Cargo to watch, as Cargo shows it with `-vv`.
fn watched(output: &Output) -> Vec<String> {
    let output = String::from_utf8_lossy(&output.stdout);
    output.lines().filter_map(|line| Some(line.split_once("cargo:rerun-if-changed=")?.1.to_owned())).collect()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// C01
#[test]
fn a_second_build_runs_no_build_script_as_each_watched_path_is_there() {
    let package = Package::new();
    let output = package.cargo_build(&["-vv"]);
    assert_eq!(package.runs(), 1, "{}", errors(&output));
    let watched = watched(&output);
    assert_eq!(watched, ["schemas", "schemas/registry.json", "schemas/x.json", "schemas/y.json"]);
    assert!(watched.iter().all(|path| package.path(path).exists()));
    assert_eq!(package.runs_after_build(), 1);
}

// C02
#[test]
fn a_schema_folder_that_is_missing_fails_the_build_and_is_not_watched() {
    let package = Package::with_build_script("true", "schemas/typo/registry.json", "");
    let output = package.cargo_build(&[]);
    let text = errors(&output);
    assert!(!output.status.success());
    assert!(text.contains("schemas/typo/registry.json: cannot read `registry.json`: "), "{text}");
    assert!(!text.contains("rerun-if-changed"), "{text}");
    package.write("schemas/typo/registry.json", REGISTRY);
    package.write("schemas/typo/x.json", Y);
    assert_eq!((package.runs_after_build(), package.runs_after_build()), (2, 2));
}

// C03
#[test]
fn a_build_script_runs_again_for_a_schema_that_is_referred_to_or_new() {
    let package = Package::new();
    assert_eq!(package.runs_after_build(), 1);
    package.write("schemas/y.json", X);
    assert_eq!(package.runs_after_build(), 2);
    package.write("schemas/new/z.json", Y);
    assert_eq!((package.runs_after_build(), package.runs_after_build()), (3, 3));
}

// C03
#[test]
fn other_files_of_a_build_script_are_watched_by_a_line_of_its_own_or_without_any_line() {
    for (watching, more, runs) in
        [("true", "", 1), ("true", r#"println!("cargo:rerun-if-changed=version.txt");"#, 2), ("false", "", 2)]
    {
        let package = Package::with_build_script(watching, "schemas/registry.json", more);
        package.write("schemas/registry.json", REGISTRY);
        package.write("schemas/x.json", Y);
        assert_eq!(package.runs_after_build(), 1);
        package.write("version.txt", "2");
        assert_eq!(package.runs_after_build(), runs, "{watching} {more}");
    }
}

// C04
#[test]
fn a_change_beside_the_schemas_runs_no_build_script() {
    let package = Package::new();
    assert_eq!(package.runs_after_build(), 1);
    package.write("README.md", "changed");
    package.write("src/lib.rs", "pub fn changed() {}");
    assert_eq!(package.runs_after_build(), 1);
}

// C12
#[test]
fn a_broken_file_among_ten_is_one_readable_line_of_a_failed_build() {
    let package = Package::new();
    let names: Vec<_> = (0..10).map(|index| format!("m{index}")).collect();
    let entries: Vec<_> =
        names.iter().map(|name| format!(r#"{{"urn":"urn:babel:t:{name}","schema":"{name}.json"}}"#)).collect();
    package.write("schemas/registry.json", &format!("{{\"schemas\":[{}]}}", entries.join(",")));
    names.iter().for_each(|name| package.write(&format!("schemas/{name}.json"), Y));
    package.write("schemas/m7.json", "{\n  \"type\": }\n");
    let output = package.cargo_build(&[]);
    let text = errors(&output);
    assert!(text.contains("(exit status: 1)"), "{text}");
    let said = text.split("--- stderr").nth(1).unwrap_or_default();
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(said, ["Error: 1 problem in the contracts", "schemas/m7.json:2:11: not JSON: expected value"], "{text}");
}

// C05
#[test]
fn nothing_but_the_output_folder_is_touched() {
    let package = Package::new();
    let folders = ["out", "home", "temporary"].map(|name| package.0.path().join(name));
    folders.iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
    let [out, home, temporary] = &folders;
    let before = [state(&package.path("")), state(home), state(temporary)];
    let mut generator = generator(true, "schemas/registry.json");
    generator.env("CARGO_MANIFEST_DIR", package.path("")).env("OUT_DIR", out).env("HOME", home);
    let output = generator.env("TMPDIR", temporary).current_dir(package.path("")).output().expect("the generator runs");
    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!([state(&package.path("")), state(home), state(temporary)], before);
    let written: Vec<_> = state(out).into_keys().filter(|path| path != out).collect();
    assert_eq!(written, [out.join("babelqueue_contracts.rs")]);
}

/// When each file and folder below `folder`, and itself, was changed last.
fn state(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let mut state = BTreeMap::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
        }
        let changed = path.metadata().expect("a file").modified().expect("a time");
        state.insert(path, changed);
    }
    state
}

// C23
#[test]
fn the_registry_may_be_named_by_a_whole_path_wherever_the_package_is_said_to_be() {
    let package = Package::new();
    let sandbox = tempfile::tempdir().expect("a folder");
    let registry = package.path("schemas/registry.json").display().to_string();
    for manifest in [Some(sandbox.path()), None] {
        let mut generator = generator(true, &registry);
        match manifest {
            Some(manifest) => generator.env("CARGO_MANIFEST_DIR", manifest),
            None => generator.env_remove("CARGO_MANIFEST_DIR"),
        };
        let output = generator.env("OUT_DIR", sandbox.path()).current_dir(sandbox.path()).output();
        let output = output.expect("the generator runs");
        assert!(output.status.success(), "{}", errors(&output));
        assert!(watched(&output).contains(&package.path("schemas/y.json").display().to_string()));
        fs::remove_file(sandbox.path().join("babelqueue_contracts.rs")).expect("the generated file");
    }
}
