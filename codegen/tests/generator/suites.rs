//! Schemas that others wrote: whatever they hold, the outcome is code or a list of problems.

use std::fs;

use serde_json::{Value, json};

use crate::collection::{collection, json_files};
use crate::folder::{Folder, REGISTRY};

/// Whether the schemas of a folder give code; if not, every problem must name a file and a reason.
fn gives_code(folder: &Folder) -> bool {
    match folder.code() {
        Ok(_) => true,
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems.lines() {
                assert!(problem.contains(": "), "{problem}");
            }
            false
        }
    }
}

#[test]
fn every_schema_of_the_official_suite_gives_code_or_problems() {
    let Some(suite) = collection("json-schema-test-suite") else { return };
    let mut files = Vec::new();
    ["draft7", "draft2020-12"].iter().for_each(|draft| json_files(&suite.join(draft), &mut files));
    let folder = Folder::of_schema("");
    let (mut groups, mut code) = (0, 0);
    for file in files {
        let text = fs::read_to_string(&file).expect("a file");
        let cases: Vec<Value> = serde_json::from_str(&text).expect("a suite file");
        for case in cases {
            let schema = case.get("schema").expect("a schema");
            // As it is, and as the one member of a payload.
            for schema in [schema.clone(), json!({"type": "object", "properties": {"value": schema}})] {
                let _ = fs::remove_file(folder.output());
                folder.write("x.json", &schema.to_string());
                groups += 1;
                code += usize::from(gives_code(&folder));
            }
        }
    }
    println!("{code} of {groups} schemas of the official suite give code");
    assert!(groups > 1000 && code > 20, "{code} of {groups}");
}

#[test]
fn every_schema_of_the_astronomy_collection_gives_code_or_problems() {
    let Some(gcn) = collection("gcn-schema") else { return };
    let mut files = Vec::new();
    json_files(&gcn, &mut files);
    let folder = Folder::new(&[]);
    let mut names = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&gcn).expect("below the folder").display().to_string();
        folder.write(&name, &fs::read_to_string(file).expect("a file"));
        names.push(name);
    }
    let mut code = 0;
    for name in &names {
        let _ = fs::remove_file(folder.output());
        folder.write("registry.json", &json!({"schemas": [{"urn": "urn:babel:gcn:x", "schema": name}]}).to_string());
        code += usize::from(gives_code(&folder));
    }
    println!("{code} of {} files of the astronomy collection give code", names.len());
    assert!(names.len() > 50 && code > 0);
}

// C11
#[test]
fn a_broken_collection_file_is_no_panic() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/order-created.schema.json"))
        .expect("a file");
    let folder =
        Folder::new(&[("registry.json", REGISTRY), ("party.schema.json", r#"{"type":"object","properties":{}}"#)]);
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        folder.write("x.json", &text[..end]);
        let _ = fs::remove_file(folder.output());
        assert_eq!(gives_code(&folder), text[end..].trim().is_empty(), "cut at {end}");
    }
}
