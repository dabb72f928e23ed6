//! What is written, when, and that it does not depend on anything but the schemas.

use std::fs;
use std::process::Command;

use babelqueue_codegen::configure;

use crate::folder::{Folder, REGISTRY};

const PING: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;

#[test]
fn the_order_of_the_registry_and_of_files_does_not_matter() {
    let entries = [
        r#"{"urn":"urn:babel:a:x","schema":"x.json"}"#,
        r#"{"urn":"urn:babel:a:y","schema":"y.json"}"#,
        r#"{"urn":"urn:babel:b:x","schema":"x.json"}"#,
    ];
    let x = r##"{"type":"object","properties":{"y":{"$ref":"y.json"},"z":{"$ref":"z.json#/definitions/z"}}}"##;
    let y = r##"{"type":"object","properties":{"x":{"$ref":"x.json"},"z":{"$ref":"z.json#/definitions/z"}}}"##;
    let z = r#"{"definitions":{"z":{"type":"object","properties":{"n":{"enum":["a","b"]}}}}}"#;
    let codes: Vec<_> = [[0, 1, 2], [2, 1, 0], [1, 2, 0]]
        .iter()
        .map(|order| {
            let listed: Vec<_> = order.iter().map(|&index: &usize| entries[index]).collect();
            let registry = format!("{{\"schemas\":[{}]}}", listed.join(","));
            let files = [("registry.json", registry.as_str()), ("x.json", x), ("y.json", y), ("z.json", z)];
            let files: Vec<_> = order.iter().map(|&index| files[index]).chain(files.into_iter().skip(3)).collect();
            Folder::new(&files).code().expect("code")
        })
        .collect();
    assert_eq!(codes[0], codes[1]);
    assert_eq!(codes[0], codes[2]);
}

#[test]
fn a_second_run_leaves_the_file_untouched_and_a_change_rewrites_it() {
    let folder = Folder::of_schema(PING);
    folder.code().expect("code");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(folder.output()).expect("the file").set_modified(old).expect("a time");
    folder.code().expect("code");
    let modified = || fs::metadata(folder.output()).expect("the file").modified().expect("a time");
    assert_eq!(modified(), old);
    folder.write("x.json", r#"{"type":"object","properties":{"b":{"type":"string"}}}"#);
    assert!(folder.code().expect("code").contains("pub b: "));
    assert_ne!(modified(), old);
}

#[test]
fn only_the_output_folder_is_written() {
    let folder = Folder::of_schema(PING);
    folder.code().expect("code");
    let names = |name: &str| {
        let mut names: Vec<_> =
            fs::read_dir(folder.path(name)).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("schemas"), ["registry.json", "x.json"]);
    assert_eq!(names("out"), ["babelqueue_contracts.rs"]);
}

#[test]
fn the_output_holds_no_path_of_the_machine_and_no_inner_attribute() {
    let folder = Folder::of_schema(PING);
    let code = folder.code().expect("code");
    assert!(!code.contains(&folder.path("").display().to_string()));
    assert!(!code.contains("#![") && !code.contains("//!") && !code.contains("mod x;"), "{code}");
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_named() {
    assert!(Folder::of_schema(&format!("\u{feff}{PING}")).code().is_ok());
    for (bytes, reason) in [(&b"\xff\xfe{\0}\0"[..], "UTF-16"), (b"{\"title\":\"\xfc\"}", "not UTF-8 (byte 10)")] {
        let folder = Folder::of_schema("");
        fs::write(folder.path("schemas/x.json"), bytes).expect("a file");
        let problems = folder.problems();
        assert!(
            problems.len() == 1 && problems[0].starts_with("x.json: ") && problems[0].contains(reason),
            "{problems:?}"
        );
    }
}

#[test]
fn an_output_folder_that_is_missing_is_an_error() {
    let folder = Folder::of_schema(PING);
    let error = folder.config().out_dir(folder.path("none")).generate().expect_err("no folder");
    assert!(error.to_string().starts_with("babelqueue_contracts.rs: cannot write it: "), "{error}");
}

#[test]
fn a_crate_path_that_is_none_is_an_error() {
    let error = Folder::of_schema(PING).config().crate_path("not a path").generate().expect_err("no path");
    assert!(error.to_string().contains("crate_path `not a path` is no path"), "{error}");
}

#[test]
fn every_type_has_the_derives_that_the_build_script_asks_for() {
    let folder = Folder::of_schema(r#"{"type":"object","properties":{"a":{"enum":["x"]}}}"#);
    folder.config().derive("::core::cmp::Eq").derive("Debug").generate().expect("code");
    let code = fs::read_to_string(folder.output()).expect("the generated file");
    assert!(code.contains("#[derive(Clone, Debug, PartialEq, ::core::cmp::Eq)]\n    pub struct X "), "{code}");
    assert!(code.contains("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n    pub enum XA "), "{code}");
    let error = folder.config().derive("Eq, Hash").generate().expect_err("no path");
    assert!(error.to_string().contains("derive `Eq, Hash` is no path"), "{error}");
}

#[test]
fn types_are_non_exhaustive_only_when_the_build_script_says_so() {
    let folder = Folder::of_schema(r#"{"type":"object","properties":{"a":{"enum":["x"]}}}"#);
    assert!(!folder.code().expect("code").contains("non_exhaustive"));
    folder.config().non_exhaustive(true).generate().expect("code");
    let code = fs::read_to_string(folder.output()).expect("the generated file");
    assert_eq!(code.matches("#[non_exhaustive]\n    pub ").count(), 2, "{code}");
}

#[test]
fn debug_prints_one_line_a_problem_as_a_build_script_shows_it() {
    let error =
        Folder::new(&[("registry.json", REGISTRY), ("x.json", "{\n]")]).config().generate().expect_err("broken");
    assert!(format!("{error:?}").ends_with(&format!("\n{error}")), "{error:?}");
    assert_eq!(error.to_string().lines().count(), 1);
}

#[test]
fn thousands_of_definitions_that_refer_to_each_other_are_no_deep_recursion() {
    let definitions: Vec<_> = (0..2000)
        .map(|n| format!(r##""D{n}":{{"type":"object","required":["next"],"properties":{{"next":{{"$ref":"#/definitions/D{}"}},"root":{{"$ref":"#"}}}}}}"##, (n + 1) % 2000))
        .collect();
    let schema = format!(
        r##"{{"type":"object","properties":{{"d":{{"$ref":"#/definitions/D0"}}}},"definitions":{{{}}}}}"##,
        definitions.join(",")
    );
    let code = Folder::of_schema(&schema).code().expect("code");
    assert_eq!(code.matches("pub struct D").count(), 2000);
    assert_eq!(code.matches("pub next: ::std::boxed::Box<").count(), 2000);
}

#[test]
fn hostile_schema_text_makes_no_doctest() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lib.rs");
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/docs/registry.json");
    let config = configure().registry(schemas).out_dir(folder.path()).rerun_if_changed(false);
    config.generate().expect("code");
    let code = fs::read_to_string(folder.path().join("babelqueue_contracts.rs")).expect("the generated file");
    // Attributes and bodies need the runtime; doctests are found in the docs alone.
    let docs: String =
        code.lines().filter(|line| line.trim_start().starts_with("///")).map(|line| format!("{line}\n")).collect();
    fs::write(&file, format!("{docs}pub struct Hostile;\n")).expect("a file");
    let found = rustdoc_tests(&file);
    assert!(found.contains("running 0 tests"), "{found}");
    // The same text as it stands in the schema does run, so the test above would see it.
    fs::write(&file, "/// Reads:\n///\n///     panic!(\"indented\");\npub struct Hostile;\n").expect("a file");
    assert!(rustdoc_tests(&file).contains("running 1 test"));
}

fn rustdoc_tests(file: &std::path::Path) -> String {
    let output = Command::new("rustdoc").arg("--test").arg("--edition=2024").arg(file).output().expect("rustdoc runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_registry_is_relative_to_the_package() {
    let folder = tempfile::tempdir().expect("a folder");
    configure()
        .registry("tests/golden/presence/registry.json")
        .out_dir(folder.path())
        .rerun_if_changed(false)
        .generate()
        .expect("code");
}
