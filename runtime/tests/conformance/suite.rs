//! The suite's data: the manifest, its sections and cases, its fixtures.

use std::{fs, path::Path, path::PathBuf};

use serde_json::{Map, Value};

pub(crate) struct Suite {
    folder: PathBuf,
    manifest: Map<String, Value>,
}

/// One case; its id is as `schema/results.schema.json` of the suite says.
pub(crate) struct Case<'a> {
    pub(crate) id: String,
    pub(crate) value: &'a Value,
}

impl Suite {
    pub(crate) fn load(folder: &Path) -> Result<Self, String> {
        let path = folder.join("manifest.json");
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let manifest = serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    pub(crate) fn version(&self) -> &str {
        self.manifest.get("conformance_version").and_then(Value::as_str).unwrap_or("of no version")
    }

    /// The names of all sections, with their scopes.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        let sections = self.manifest.get("sections").and_then(Value::as_object).into_iter().flatten();
        sections.map(|(name, section)| (name.as_str(), section["scope"].as_str().unwrap_or_default()))
    }

    pub(crate) fn section(&self, name: &str) -> Option<&Value> {
        self.manifest.get(name)
    }

    /// Every case of a section.
    pub(crate) fn cases<'a>(&'a self, section: &str) -> Vec<Case<'a>> {
        match self.section(section) {
            Some(Value::Array(elements)) => elements_of(elements, |index| format!("{section}#{index}")).collect(),
            Some(Value::Object(members)) => {
                members.iter().flat_map(|(key, value)| cases_of(section, key, value)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The bytes of the fixture that a case names by `member`.
    pub(crate) fn fixture(&self, case: &Value, member: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(text(case, member)?);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The cases of one member of a section: its `cases`, the `cases` of a part of it, or the part as one case.
fn cases_of<'a>(section: &str, key: &str, value: &'a Value) -> Vec<Case<'a>> {
    match (key, value) {
        ("schema", _) => Vec::new(),
        ("cases", Value::Array(elements)) => elements_of(elements, |index| format!("{section}#{index}")).collect(),
        (_, Value::Object(part)) => match part.get("cases") {
            Some(Value::Array(elements)) => elements_of(elements, |index| index.to_string())
                .map(|case| Case { id: format!("{key}/{}", case.id), ..case })
                .collect(),
            _ => vec![Case { id: key.to_owned(), value }],
        },
        _ => Vec::new(),
    }
}

fn elements_of<'a>(elements: &'a [Value], unnamed: impl Fn(usize) -> String) -> impl Iterator<Item = Case<'a>> {
    elements.iter().enumerate().map(move |(index, value)| Case {
        id: value["name"].as_str().map_or_else(|| unnamed(index), str::to_owned),
        value,
    })
}

/// A member that a case has to have; a case that lacks it fails.
pub(crate) fn member<'a>(case: &'a Value, name: &str) -> Result<&'a Value, String> {
    case.get(name).ok_or_else(|| format!("the case has no `{name}`"))
}

pub(crate) fn text<'a>(case: &'a Value, name: &str) -> Result<&'a str, String> {
    member(case, name)?.as_str().ok_or_else(|| format!("`{name}` of the case is no string"))
}

pub(crate) fn flag(case: &Value, name: &str) -> Result<bool, String> {
    member(case, name)?.as_bool().ok_or_else(|| format!("`{name}` of the case is no boolean"))
}

/// The members of an object of a case; none when the case does not have it.
pub(crate) fn entries<'a>(case: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    case[name].as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}
