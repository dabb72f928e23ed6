//! Schemas of astronomy alerts that are sent over Kafka, as a team wrote them, with their example messages.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::files;
use super::group::{Group, Part, Source, Value, identifier};
use super::options::Options;
use super::rules::{Documents, Rules};
use crate::paths;

const SCHEMA: &str = ".schema.json";
const EXAMPLE: &str = ".example.json";
/// How the schemas' `$id`s begin; what follows is the path of the file.
const PREFIX: &str = "https://gcn.nasa.gov/schema/main/";

/// The wanted schemas, each a contract of its own; and all of them as one, without values. None if the collection is
/// missing, which is said aloud.
///
/// # Errors
/// If the collection is missing where `CI=true`, cannot be read, or has an example that belongs to no schema.
pub(super) fn groups(options: &Options, schemas: &Path) -> Result<Vec<Group>> {
    let Some(collection) = paths::beside("gcn-schema") else {
        eprintln!("NOT MEASURED: the folder ../shared/gcn-schema beside the project is missing");
        ensure!(env::var("CI").as_deref() != Ok("true"), "with CI=true a measure that cannot be taken is a failed one");
        return Ok(Vec::new());
    };
    println!("Astronomy alerts: {}", collection.display());
    let names = files::below(&collection, SCHEMA)?;
    let examples = files::below(&collection, EXAMPLE)?;
    let owners = examples.iter().map(|example| owner(example, &names)).collect::<Result<Vec<_>>>()?;
    let mut groups = Vec::new();
    for name in names.iter().filter(|name| options.wants_file(name)) {
        let text = fs::read_to_string(collection.join(name))?;
        let schema: serde_json::Value = serde_json::from_str(&text).with_context(|| format!("{name} is not JSON"))?;
        let wrapped = schema.get("type").and_then(serde_json::Value::as_str) != Some("object");
        let id = identifier(&format!("{} {}", Source::Gcn.name(), name.trim_end_matches(SCHEMA)));
        let folder = schemas.join(&id);
        let payload = if wrapped { files::WRAPPER } else { name };
        write_folder(&folder, &collection, &[payload])?;
        if wrapped {
            fs::write(folder.join(files::WRAPPER), files::wrapper(name, Source::Gcn))?;
        }
        let mut group = group(id, name, &folder, schema);
        group.wrapped = wrapped;
        for (example, _) in examples.iter().zip(&owners).filter(|(_, owner)| **owner == name) {
            let text = fs::read_to_string(collection.join(example))?;
            group.values.push(Value { title: example.clone(), text, valid: true });
        }
        groups.push(group);
    }
    if options.file.is_none() {
        let folder = schemas.join("gcn_all");
        let payloads: Vec<_> = groups.iter().filter(|group| !group.wrapped).map(|group| group.title.as_str()).collect();
        write_folder(&folder, &collection, &payloads)?;
        groups.push(group("gcn_all".to_owned(), "all schemas in one registry", &folder, true.into()));
    }
    Ok(groups)
}

fn write_folder(folder: &Path, collection: &Path, payloads: &[&str]) -> Result<()> {
    files::copy(collection, folder)?;
    files::write(&folder.join(files::REGISTRY), &files::registry(payloads))
}

fn group(id: String, title: &str, folder: &Path, schema: serde_json::Value) -> Group {
    Group {
        id,
        title: title.to_owned(),
        source: Source::Gcn,
        part: Part::Required,
        registry: folder.join(files::REGISTRY),
        wrapped: false,
        rules: Rules {
            schema,
            source: Source::Gcn,
            formats: None,
            documents: Documents { prefix: PREFIX, folder: folder.to_path_buf() },
        },
        values: Vec::new(),
    }
}

/// The schema that an example belongs to: the one beside it whose name it begins with, the longest of them.
fn owner<'a>(example: &str, schemas: &'a [String]) -> Result<&'a String> {
    let begins = |schema: &&String| {
        let rest = schema.strip_suffix(SCHEMA).and_then(|stem| example.strip_prefix(stem));
        rest.is_some_and(|rest| rest.starts_with('.') && !rest.contains('/'))
    };
    let owner = schemas.iter().filter(begins).max_by_key(|schema| schema.len());
    owner.with_context(|| format!("{example} belongs to no schema"))
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn an_example_belongs_to_the_schema_with_the_longest_name_that_it_begins_with() {
        let schemas = ["maxi/gsc", "maxi/gsc.known", "maxi/gsc.unknown"].map(|name| format!("{name}.schema.json"));
        for (example, schema) in [
            ("maxi/gsc.example.json", Some(0)),
            ("maxi/gsc.known.example.json", Some(1)),
            ("maxi/gsc.unknown.circle.example.json", Some(2)),
            ("maxi/gsc.other.example.json", Some(0)),
            ("maxi/gscx.example.json", None),
            ("gsc.example.json", None),
        ] {
            assert_eq!(owner(example, &schemas).ok(), schema.map(|index: usize| &schemas[index]), "{example}");
        }
    }
}
