//! How long the generator takes, and whether that grows with the schemas and no faster: `cargo xtask bench codegen`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Members of each schema.
const PROPERTIES: usize = 20;
/// Runs of each size; the fastest counts, as others may use the machine.
const RUNS: usize = 5;

fn main() {
    println!("schemas of {PROPERTIES} members that refer to each other, the fastest of {RUNS} runs");
    println!("{:>8} {:>10} {:>14} {:>10}", "schemas", "time", "per schema", "code");
    for schemas in [100, 300, 1000] {
        report(schemas, &linked_files(schemas));
    }
    println!("definitions of one file that refer to each other and to the root");
    println!("{:>8} {:>10} {:>14} {:>10}", "number", "time", "per definition", "code");
    for definitions in [500, 5000] {
        report(definitions, &linked_definitions(definitions));
    }
}

fn report(number: usize, folder: &tempfile::TempDir) {
    let (time, bytes) = (0..RUNS).map(|_| generate(folder.path())).min().unwrap_or_default();
    let each = time.as_secs_f64() * 1e6 / f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    println!("{number:>8} {:>8.0}ms {each:>12.0}µs {:>8}kB", time.as_secs_f64() * 1e3, bytes / 1024);
}

fn generate(folder: &Path) -> (Duration, u64) {
    let start = Instant::now();
    babelqueue_codegen::configure()
        .registry(folder.join("registry.json"))
        .out_dir(folder)
        .rerun_if_changed(false)
        .generate()
        .expect("schemas without faults");
    let time = start.elapsed();
    let output = folder.join("babelqueue_contracts.rs");
    let bytes = std::fs::metadata(&output).expect("the output").len();
    // An output that is there already would be left alone.
    std::fs::remove_file(output).expect("the output");
    (time, bytes)
}

/// One message a file; each refers to the next two files and to a definition of its own.
fn linked_files(number: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut entries = Vec::new();
    for index in 0..number {
        let mut properties = String::new();
        for member in 0..PROPERTIES - 4 {
            let ty = ["string", "integer", "number", "boolean"][member % 4];
            let _ = write!(properties, r#""member_{member}":{{"type":"{ty}","description":"Member {member}."}},"#);
        }
        for (name, other) in [("next", index + 1), ("after_next", index + 2)] {
            let _ = write!(properties, r#""{name}":{{"$ref":"message-{}.json"}},"#, other % number);
        }
        let _ = write!(
            properties,
            r##""lines":{{"type":"array","items":{{"$ref":"#/definitions/Line{index}"}}}},"kind":{{"enum":["a","b","c"]}}"##
        );
        let schema = format!(
            r#"{{"title":"Message{index}","type":"object","properties":{{{properties}}},"required":["member_0","member_1"],
            "definitions":{{"Line{index}":{{"type":"object","properties":{{"sku":{{"type":"string"}},"price":{{"type":"number","minimum":0}}}}}}}}}}"#
        );
        std::fs::write(folder.path().join(format!("message-{index}.json")), schema).expect("a file");
        entries.push(format!(r#"{{"urn":"urn:babel:bench:message.{index}","schema":"message-{index}.json"}}"#));
    }
    registry(folder.path(), &entries);
    folder
}

fn linked_definitions(number: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let definitions: Vec<String> = (0..number)
        .map(|index| {
            let next = (index + 1) % number;
            format!(
                r##""D{index}":{{"type":"object","properties":{{"next":{{"$ref":"#/definitions/D{next}"}},"root":{{"$ref":"#"}}}}}}"##
            )
        })
        .collect();
    let schema = format!(
        r##"{{"type":"object","properties":{{"first":{{"$ref":"#/definitions/D0"}}}},"definitions":{{{}}}}}"##,
        definitions.join(",")
    );
    std::fs::write(folder.path().join("root.json"), schema).expect("a file");
    registry(folder.path(), &[r#"{"urn":"urn:babel:bench:root","schema":"root.json"}"#.to_owned()]);
    folder
}

fn registry(folder: &Path, entries: &[String]) {
    std::fs::write(folder.join("registry.json"), format!(r#"{{"schemas":[{}]}}"#, entries.join(","))).expect("a file");
}
