//! The generated code of a handful of registries, word for word. `BABELQUEUE_UPDATE_GOLDEN=1` writes it anew;
//! `tests/compiled` compiles it.

use std::fs;
use std::path::{Path, PathBuf};

use babelqueue_codegen::{Config, configure};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn generate(config: Config) -> String {
    let out = tempfile::tempdir().expect("a folder");
    if let Err(error) = config.out_dir(out.path()).rerun_if_changed(false).generate() {
        panic!("{error}");
    }
    fs::read_to_string(out.path().join("babelqueue_contracts.rs")).expect("the generated file")
}

fn is_golden(name: &str, config: Config) {
    let path = here(&format!("tests/golden/{name}.rs"));
    let code = generate(config);
    if std::env::var_os("BABELQUEUE_UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, &code).expect("the golden file is written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(code == golden, "{} differs; look at it after BABELQUEUE_UPDATE_GOLDEN=1 cargo test", path.display());
}

fn registry(name: &str) -> Config {
    configure().registry(here(&format!("tests/golden/{name}/registry.json")))
}

#[test]
fn the_shared_order_schemas() {
    is_golden("orders", configure().registry(here("../schemas/registry.json")));
}

#[test]
fn every_presence_and_every_default() {
    is_golden("presence", registry("presence"));
}

// B17, B22
#[test]
fn names_that_are_keywords_collide_or_are_not_ascii() {
    is_golden("names", registry("names"));
}

#[test]
fn unions_told_apart_by_a_constant_recursion_and_values_of_many_kinds() {
    is_golden("unions", registry("unions"));
}

#[test]
fn references_across_files_and_topics() {
    is_golden("references", registry("references"));
}

#[test]
fn hostile_descriptions() {
    is_golden("docs", registry("docs"));
}

// C18
#[test]
fn a_re_exported_crate_and_json_schema() {
    is_golden("facade_json", registry("presence").crate_path("crate::facade").json_schema(true));
}

// C24
#[test]
fn strings_of_a_format_are_of_the_type_that_the_user_chose() {
    let formats = || registry("formats").format("uuid", "::uuid::Uuid");
    let chrono = formats().format("date-time", "::chrono::DateTime<::chrono::FixedOffset>");
    is_golden("formats_chrono", chrono.format("date", "::chrono::NaiveDate"));
    is_golden("formats_time", formats().format("date-time", "crate::Timestamp"));
}

#[test]
fn a_registry_without_schemas() {
    is_golden("empty", registry("empty"));
}
