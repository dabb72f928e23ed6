//! The resolver on schema folders.

mod dynamic;
mod files;
mod names;
mod suite;

use std::fs;

use tempfile::TempDir;

use super::{Dialect, Location, Resolver, Target};
use crate::json::{Json, Value};
use crate::load::{Failure, Sources};
use crate::pointer::Pointer;

/// A schema folder of its own, and the resolver of a run that begins there.
struct Folder {
    folder: TempDir,
    resolver: Resolver,
}

impl Folder {
    /// A folder with `files`, each a path and its content.
    fn new(files: &[(&str, &str)]) -> Self {
        Self::of(Dialect::Draft7, &[], files)
    }

    /// A folder with the one schema `content`, `x.json`, of the edition 2020-12.
    fn modern(content: &str) -> Self {
        Self::of(Dialect::Draft2020, &[], &[("x.json", content)])
    }

    fn of(default: Dialect, map: &[(&str, &str)], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let resolver = Resolver::new(Sources::new("".into(), "".into()), default, Vec::new());
        let mut folder = Self { folder, resolver };
        files.iter().for_each(|(path, content)| folder.write(path, content.as_bytes()));
        folder.start(default, map);
        folder
    }

    /// Begins a new run.
    fn start(&mut self, default: Dialect, map: &[(&str, &str)]) {
        let sources = Sources::new(self.folder.path().join("schemas"), "schemas".into());
        let map = map.iter().map(|(prefix, folder)| ((*prefix).to_owned(), (*folder).to_owned())).collect();
        self.resolver = Resolver::new(sources, default, map);
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.folder.path().join("schemas").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// The schema at `place`: a file, and a pointer behind `#` if it is not the whole of it.
    fn at(&mut self, place: &str) -> Location {
        let (file, pointer) = place.split_once('#').unwrap_or((place, ""));
        let document = self.resolver.sources.open("", file).expect("a file");
        Location { document, pointer: Pointer::parse(pointer).expect("a pointer") }
    }

    /// Where the `$ref` `text` at `place` leads.
    fn leads(&mut self, place: &str, text: &str) -> String {
        let at = self.at(place);
        shown(self.resolver.reference(&at, text))
    }

    /// Where each `$ref` in the file leads, in order.
    fn all(&mut self, file: &str) -> Vec<String> {
        let found = references(&self.at(file), "$ref");
        found.iter().map(|(at, text)| shown(self.resolver.reference(at, text))).collect()
    }

    /// The problems so far, one a line.
    fn problems(&mut self) -> Vec<String> {
        self.resolver.sources.take_problems().iter().map(ToString::to_string).collect()
    }
}

fn shown(outcome: Result<Target, Failure>) -> String {
    match outcome {
        Ok(Target::Schema(location)) => format!("{}#{}", location.document.path, location.pointer.as_str()),
        Ok(Target::Metaschema(_)) => "metaschema".to_owned(),
        Ok(Target::Dynamic) => "dynamic".to_owned(),
        Err(Failure::Unreadable(reason)) => reason,
        Err(Failure::Reported) => "reported".to_owned(),
    }
}

/// Every object below `from` that has a string in `keyword`, with that string.
fn references(from: &Location, keyword: &str) -> Vec<(Location, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![from.clone()];
    while let Some(at) = waiting.pop() {
        let json = at.json().expect("a value");
        if let Some(text) = json.get(keyword).and_then(Json::as_str) {
            found.push((at.clone(), text.to_owned()));
        }
        let names: Vec<String> = match &json.value {
            Value::Object(members) => members.keys().cloned().collect(),
            Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
            _ => Vec::new(),
        };
        waiting.extend(names.iter().rev().map(|name| at.join(name)));
    }
    found
}

/// A schema of `count` definitions, each of which refers to the next one and to the root.
fn chain(count: usize) -> String {
    let definition = |index: usize| {
        let next = (index + 1) % count;
        format!(r##""d{index}":{{"properties":{{"next":{{"$ref":"#/definitions/d{next}"}},"root":{{"$ref":"#"}}}}}}"##)
    };
    let definitions: Vec<_> = (0..count).map(definition).collect();
    format!(r##"{{"oneOf":[{{"$ref":"#/definitions/d0"}}],"definitions":{{{}}}}}"##, definitions.join(",\n"))
}

// B07
#[test]
fn five_thousand_definitions_that_refer_to_each_other_are_followed() {
    let mut folder = Folder::new(&[("x.json", &chain(5000))]);
    let root = folder.at("x.json");
    folder.resolver.open_reachable(&[root]);
    let all = folder.all("x.json");
    assert_eq!(all.len(), 10_001);
    assert_eq!(all.last().map(String::as_str), Some("x.json#"));
    assert!(all.contains(&"x.json#/definitions/d4999".to_owned()));
    let last = folder.at("x.json#/definitions/d4999");
    assert!(last.problem("").to_string().starts_with("schemas/x.json:5000:1: /definitions/d4999: "));
}

// C11
#[test]
fn whatever_a_reference_says_the_outcome_is_a_place_or_a_reason() {
    let mut folder =
        Folder::new(&[("a/x.json", r#"{"$id":"https://e.test/x.json","definitions":{"y":{"$id":"urn:y"}}}"#)]);
    let long = "../".repeat(10_000) + &"a%41/".repeat(10_000);
    let pointer = "#".to_owned() + &"/~1".repeat(100_000);
    for place in ["a/x.json", "a/x.json#/definitions/y"] {
        for text in [
            "",
            "#",
            "##",
            "#/",
            "#%",
            "#%ff",
            "#/%7e2",
            "%",
            "%zz",
            "?",
            "?a",
            "/",
            "//",
            "///",
            ":",
            "::",
            "a:",
            "http:",
            "http://",
            "http://[",
            "http://[::1]:x",
            "http://a b/",
            "C:\\x.json",
            "c:/x.json",
            "\\\\host\\x",
            "..\\x.json",
            "\0",
            "a\0b.json",
            "\u{202e}.json",
            "größe.json",
            "../../x",
            "%2e%2e/%2e%2e/x",
            "..%2f..%2fx",
            "schema-folder:///x",
            "schema-folder:x",
            "schema-folder://h/x",
            "schema-folder:////etc/passwd",
            "urn:",
            "urn:x?+y",
            "data:,{}",
            "a/",
            &long,
            &pointer,
        ] {
            let outcome = folder.leads(place, text);
            let schema = outcome.starts_with("a/x.json#");
            assert_eq!(schema, ["", "#", "##"].contains(&text) && !outcome.contains(' '), "{text}: {outcome}");
        }
    }
}
