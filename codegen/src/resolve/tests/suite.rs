//! Every reference of the official suite.

#[path = "../../../tests/generator/collection.rs"]
mod collection;

use std::fs;

use super::{Dialect, Folder, references, shown};

/// The references that have another target on each way to them.
const DYNAMIC: &[&str] = &[
    "draft2020-12/dynamicRef.json: $dynamicRef avoids the root of each schema, but scopes are still registered: #length",
    // One way leads to each of the others, but an earlier part of it is left again: no look at single steps shows that.
    "draft2020-12/dynamicRef.json: after leaving a dynamic scope, it is not used by a $dynamicRef: inner_scope#thingy",
    "draft2020-12/dynamicRef.json: multiple dynamic paths to the $dynamicRef keyword: #itemType",
];

#[test]
fn every_reference_of_the_official_suite_leads_somewhere() {
    let Some(suite) = collection::collection("json-schema-test-suite") else { return };
    let mut folder = Folder::new(&[]);
    let mut remotes = Vec::new();
    collection::json_files(&suite.join("remotes"), &mut remotes);
    for remote in &remotes {
        let path = remote.strip_prefix(&suite).expect("below the suite").to_str().expect("a name");
        folder.write(path, &fs::read(remote).expect("a file"));
    }
    let (mut followed, mut dynamic, mut nowhere) = (0, Vec::new(), Vec::new());
    for (draft, dialect) in [("draft7", Dialect::Draft7), ("draft2020-12", Dialect::Draft2020)] {
        let mut files = Vec::new();
        collection::json_files(&suite.join(draft), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a file");
            let groups: Vec<serde_json::Value> = serde_json::from_str(&text).expect("a suite file");
            let file = file.strip_prefix(&suite).expect("below the suite").display().to_string();
            for group in groups {
                let name = format!("{file}: {}", group["description"].as_str().expect("a text"));
                folder.write("x.json", group["schema"].to_string().as_bytes());
                folder.start(dialect, &[("http://localhost:1234/", "remotes")]);
                for (text, outcome) in outcomes(&mut folder) {
                    followed += 1;
                    match outcome.as_str() {
                        "dynamic" => dynamic.push(format!("{name}: {text}")),
                        _ if outcome.starts_with("metaschema ") || outcome.contains(".json#") => {}
                        _ => nowhere.push(format!("{name}: {text}: {outcome}")),
                    }
                }
                nowhere.extend(folder.problems().into_iter().map(|problem| format!("{name}: {problem}")));
            }
        }
    }
    println!("{followed} references of the official suite were followed");
    assert!(followed > 200, "{followed}");
    assert_eq!(nowhere, Vec::<String>::new());
    dynamic.sort();
    assert_eq!(dynamic, DYNAMIC);
}

/// Where each reference in `x.json` leads.
fn outcomes(folder: &mut Folder) -> Vec<(String, String)> {
    let root = folder.at("x.json");
    folder.resolver.open_reachable(std::slice::from_ref(&root));
    let mut outcomes = Vec::new();
    for (at, text) in references(&root, "$ref") {
        let outcome = folder.resolver.reference(&at, &text);
        outcomes.push((text, shown(outcome)));
    }
    for (at, text) in references(&root, "$dynamicRef") {
        let outcome = folder.resolver.dynamic_reference(&at, &text);
        outcomes.push((text, shown(outcome)));
    }
    outcomes
}
