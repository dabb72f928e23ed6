//! Folders with a registry and schemas: made from nothing, or real ones that were changed.

use std::io;

use super::make::{FILES, Maker};
use crate::corpus::{beside, json_files, root};
use crate::damage;
use crate::input::Input;
use crate::json::Json;
use crate::random::Random;

/// Files of a schema folder.
pub(super) type Files = Vec<(String, Vec<u8>)>;

const OPTIONS: [&str; 8] = [
    "json_schema",
    "non_exhaustive",
    "lose_unknown",
    "leave_defaults",
    "exact_numbers",
    "2020-12",
    "draft-04",
    "format",
];

/// The schema folders to start from.
pub(super) fn corpus() -> io::Result<Vec<Files>> {
    let mut folders = Vec::new();
    let golden = root().join("codegen/tests/golden");
    for name in ["docs", "names", "presence", "references"] {
        folders.push(json_files(&golden.join(name))?);
    }
    for name in ["schemas", "examples/alerts/schemas", "fuzz/schemas"] {
        folders.push(json_files(&root().join(name))?);
    }
    if let Some(gcn) = beside("gcn-schema") {
        let mut files = json_files(&gcn.join("gcn"))?;
        files.retain(|(name, _)| name.ends_with(".schema.json"));
        let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            let mut folder = files.clone();
            folder.push(("registry.json".to_owned(), registry(&[&name]).to_string().into_bytes()));
            folders.push(with_those_named(&folder, &name));
        }
    }
    if let Some(suite) = beside("json-schema-test-suite") {
        for draft in ["draft7", "draft2020-12"] {
            for (_, text) in json_files(&suite.join(draft))? {
                let text = String::from_utf8_lossy(&text);
                let Some(Json::List(groups)) = Json::read(&text) else { continue };
                for group in &groups {
                    let Json::Object(members) = group else { continue };
                    let schema = members.iter().find(|(name, _)| name == r#""schema""#);
                    let schema = schema.map_or_else(|| Json::leaf("true"), |(_, schema)| schema.clone());
                    let payload = Json::object([(
                        "properties",
                        Json::object([("value", Json::object([("$ref", Json::string("group.json"))]))]),
                    )]);
                    folders.push(vec![
                        ("registry.json".to_owned(), registry(&["x.json"]).to_string().into_bytes()),
                        ("x.json".to_owned(), payload.to_string().into_bytes()),
                        ("group.json".to_owned(), schema.to_string().into_bytes()),
                    ]);
                }
            }
        }
    }
    Ok(folders)
}

/// The files of a large folder that a file names, and those that they name; the registry, too.
fn with_those_named(files: &[(String, Vec<u8>)], name: &str) -> Files {
    let stem = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut kept: Vec<&str> = vec!["registry.json", name];
    let mut next = 0;
    while let Some(name) = kept.get(next) {
        let text = files.iter().find(|(path, _)| path == name).map(|(_, text)| String::from_utf8_lossy(text));
        let text = text.unwrap_or_default();
        for (path, _) in files {
            if !kept.contains(&path.as_str()) && text.contains(&stem(path)) {
                kept.push(path);
            }
        }
        next += 1;
    }
    files.iter().filter(|(path, _)| kept.contains(&path.as_str())).cloned().collect()
}

fn registry(schemas: &[&str]) -> Json {
    let entry = |(index, schema): (usize, &&str)| {
        let urn = format!("urn:babel:{}:m{index}", ["t", "t", "other"][index % 3]);
        Json::object([("urn", Json::string(&urn)), ("schema", Json::string(schema))])
    };
    Json::object([("schemas", Json::List(schemas.iter().enumerate().map(entry).collect()))])
}

/// A folder of now, perhaps one of earlier, and options of the generator.
pub(super) fn input(random: &mut Random, corpus: &[Files]) -> Input {
    let now = match random.below(5) {
        0 | 1 => made(random),
        2 => corpus[random.below(corpus.len())].clone(),
        _ => {
            let files = corpus[random.below(corpus.len())].clone();
            changed(random, files)
        }
    };
    let mut input = Input::default();
    if random.one_in(2) {
        let earlier = if random.one_in(4) { made(random) } else { changed(random, now.clone()) };
        input = put(input, "earlier", earlier);
    }
    input = put(input, "now", now);
    let options: Vec<&str> = OPTIONS.into_iter().filter(|_| random.one_in(6)).collect();
    input.with("options", options.join(" "))
}

fn put(input: Input, folder: &str, files: Files) -> Input {
    files.into_iter().fold(input, |input, (path, text)| input.with(format!("{folder}/{path}"), text))
}

fn made(random: &mut Random) -> Files {
    let faulty = random.one_in(4);
    let count = 1 + random.few(2);
    let mut maker = Maker { random, faulty, files: count };
    let mut files: Files = FILES[..count]
        .iter()
        .map(|name| {
            let file = if maker.random.one_in(12) { maker.chain() } else { maker.file() };
            ((*name).to_owned(), file.to_string().into_bytes())
        })
        .collect();
    files.push(("registry.json".to_owned(), registry(&FILES[..count]).to_string().into_bytes()));
    files
}

/// Some of the files changed, as JSON or as bytes.
fn changed(random: &mut Random, mut files: Files) -> Files {
    for _ in 0..=random.few(2) {
        let index = random.below(files.len());
        let Some((_, text)) = files.get_mut(index) else { continue };
        let spelled = std::str::from_utf8(text).ok().and_then(Json::read);
        match spelled {
            Some(mut json) if !random.one_in(5) => {
                let faulty = random.one_in(2);
                let mut fresh = |random: &mut Random| {
                    let mut maker = Maker { random, faulty, files: 1 };
                    if maker.random.one_in(3) { maker.anything(2) } else { maker.schema(2) }
                };
                damage::values(random, &mut json, &mut fresh);
                *text = json.to_string().into_bytes();
            }
            _ => *text = damage::bytes(random, std::mem::take(text)),
        }
    }
    files
}
