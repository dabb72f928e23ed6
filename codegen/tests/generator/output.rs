//! What is written, when, and that it does not depend on anything but the schemas.

use std::fs;
use std::process::Command;

use babelqueue_codegen::configure;

use crate::folder::{Folder, REGISTRY};

const PING: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;

// C16
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

// C06, C07
#[test]
fn every_golden_file_is_flat_and_begins_with_an_item() {
    for (path, code) in golden() {
        let file = syn::parse_file(&code).expect("Rust");
        assert!(file.attrs.is_empty(), "{path}: an inner attribute does not compile in an included file");
        let mut waiting = file.items;
        while let Some(item) = waiting.pop() {
            match item {
                syn::Item::Mod(module) => waiting.extend(module.content.expect("no module in a file of its own").1),
                syn::Item::Macro(call) => assert!(!call.mac.path.is_ident("include"), "{path}: a file of its own"),
                _ => {}
            }
        }
    }
}

/// The golden files, by path.
fn golden() -> Vec<(String, String)> {
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).expect("a folder").flatten();
    let files = files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "rs"));
    files.map(|path| (path.display().to_string(), fs::read_to_string(path).expect("a file"))).collect()
}

// B20
#[test]
fn every_golden_file_is_rust_in_every_edition() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lib.rs");
    let parses = |code: &str, edition: &str| {
        // What a `cfg` takes away is parsed, and nothing more, so the runtime is not needed.
        fs::write(&file, format!("#[cfg(any())] mod left_out {{ {code} }}")).expect("a file");
        let mut rustc = Command::new("rustc");
        rustc.args(["--crate-type=lib", "--emit=metadata", "--edition", edition, "--out-dir"]).arg(folder.path());
        rustc.arg(&file).output().expect("rustc runs")
    };
    let golden: String = golden().into_iter().map(|(_, code)| code).collect();
    for edition in ["2018", "2021", "2024"] {
        let output = parses(&golden, edition);
        assert!(output.status.success(), "{edition}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // It would be seen: `gen` is a keyword of the last edition.
    assert!(parses("struct S { gen: u8 }", "2021").status.success());
    assert!(!parses("struct S { gen: u8 }", "2024").status.success());
}

// C14
#[test]
fn no_path_of_the_machine_is_in_the_output_even_one_that_would_be_an_escape() {
    let folder = tempfile::tempdir().expect("a folder");
    let schemas = folder.path().join(r"C:\Users\p");
    let out = folder.path().join("out");
    [&schemas, &out].iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
    fs::write(schemas.join("registry.json"), REGISTRY).expect("a file");
    fs::write(schemas.join("x.json"), PING).expect("a file");
    let config = configure().registry(schemas.join("registry.json")).out_dir(&out).rerun_if_changed(false);
    config.clone().generate().expect("code");
    let code = fs::read_to_string(out.join("babelqueue_contracts.rs")).expect("the generated file");
    assert!(!code.contains("Users") && !code.contains(&folder.path().display().to_string()), "{code}");
    assert!(syn::parse_file(&code).is_ok());
    fs::write(schemas.join("x.json"), "7").expect("a file");
    let error = config.generate().expect_err("no schema").to_string();
    assert!(error.starts_with(&format!("{}:1:1: ", schemas.join("x.json").display())), "{error}");
}

// B31
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

// C12
#[test]
fn debug_prints_one_line_a_problem_as_a_build_script_shows_it() {
    let error =
        Folder::new(&[("registry.json", REGISTRY), ("x.json", "{\n]")]).config().generate().expect_err("broken");
    assert!(format!("{error:?}").ends_with(&format!("\n{error}")), "{error:?}");
    assert_eq!(error.to_string().lines().count(), 1);
}

// B07
#[test]
fn thousands_of_definitions_that_refer_to_each_other_are_no_deep_recursion() {
    const COUNT: usize = 5000;
    let definition = |index: usize| {
        let next = (index + 1) % COUNT;
        format!(
            r##""D{index}":{{"type":"object","required":["next"],"properties":{{"next":{{"$ref":"#/definitions/D{next}"}},"root":{{"$ref":"#"}}}}}}"##
        )
    };
    let definitions: Vec<_> = (0..COUNT).map(definition).collect();
    let schema = |root: &str| format!(r##"{{"type":"object",{root},"definitions":{{{}}}}}"##, definitions.join(","));
    let code = Folder::of_schema(&schema(r##""properties":{"d":{"$ref":"#/definitions/D0"}}"##)).code().expect("code");
    assert_eq!(code.matches("pub struct D").count(), COUNT);
    assert_eq!(code.matches("pub next: ::std::boxed::Box<").count(), COUNT);
    let branches: Vec<_> = (0..COUNT).map(|index| format!(r##"{{"$ref":"#/definitions/D{index}"}}"##)).collect();
    let code = Folder::of_schema(&schema(&format!("\"oneOf\":[{}]", branches.join(",")))).code().expect("code");
    assert!(code.contains("pub struct X {"), "nothing tells so many apart");
}

// C09, C10
#[test]
fn hostile_schema_text_makes_no_doctest() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lib.rs");
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/docs/registry.json");
    let config = configure().registry(schemas).out_dir(folder.path()).rerun_if_changed(false);
    config.generate().expect("code");
    let code = fs::read_to_string(folder.path().join("babelqueue_contracts.rs")).expect("the generated file");
    fs::write(&file, documented(&code)).expect("a file");
    let found = rustdoc_tests(&file);
    assert!(found.contains("running 0 tests"), "{found}");
    // The same text as it stands in the schema does run, so the test above would see it.
    for text in ["///     panic!(\"indented\");", "/// ```\n/// panic!(\"fenced\");\n/// ```"] {
        fs::write(&file, documented(&format!("/// Reads:\n///\n{text}\npub struct Hostile;\n"))).expect("a file");
        let found = rustdoc_tests(&file);
        assert!(found.contains("running 1 test") && found.contains("FAILED"), "{found}");
    }
}

/// The documentation of every item, field and variant of `code`, each on an item of its own: attributes and bodies need
/// the runtime, and doctests are found in documentation alone.
fn documented(code: &str) -> String {
    assert!(!code.contains("/**") && !code.contains("#[doc"), "documentation is written in `///` alone");
    let mut documented = String::new();
    let mut open = false;
    for line in code.lines() {
        if line.trim_start().starts_with("///") {
            documented.push_str(&format!("{line}\n"));
            open = true;
        } else if open {
            documented.push_str(&format!("pub mod m{} {{}}\n", documented.len()));
            open = false;
        }
    }
    documented
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
