//! The registry (contract section 7): which URN has which payload schema, and on which topic it travels.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Document, Failure, Sources};
use crate::error::Problem;
use crate::json::{Json, Value};
use crate::pointer::Pointer;
use crate::{topic, urn};

/// One entry of the registry, checked as far as it can be without its schema's content.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) urn: String,
    pub(crate) topic: String,
    pub(crate) schema: Rc<Document>,
    /// The record key: a pointer into the payload.
    pub(crate) key: Option<Pointer>,
    pub(crate) owner: Option<String>,
    pub(crate) deprecated: bool,
    registry: Rc<Document>,
    at: Pointer,
}

impl Entry {
    /// A problem with the member `name` of this entry.
    pub(crate) fn problem(&self, name: &str, reason: impl Into<String>) -> Problem {
        self.registry.problem(&self.at.join(name), reason)
    }
}

/// Reads the registry `file` of the schema folder; what is wrong with an entry goes to `problems`.
pub(crate) fn read_registry(
    sources: &mut Sources,
    file: &str,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Entry>, Failure> {
    let registry = sources.open("", file)?;
    let at = Pointer::default().join("schemas");
    let Some(list) = registry.root.get("schemas").and_then(Json::as_array) else {
        problems.push(registry.problem(&at, "the registry has no list `schemas`"));
        return Ok(Vec::new());
    };
    let mut first_at: HashMap<&str, usize> = HashMap::new();
    let mut entries = Vec::new();
    for (index, json) in list.iter().enumerate() {
        let mut reader = EntryReader { registry: &registry, at: at.join(&index.to_string()), json, problems };
        entries.extend(reader.read(sources));
        if let Some(urn) = json.get("urn").and_then(Json::as_str) {
            if let Some(first) = first_at.get(urn) {
                let line = registry.place(&at.join(&first.to_string())).0;
                reader.report::<()>(
                    "urn",
                    format!("the URN `{}` has a schema already, in line {line}", urn.escape_debug()),
                );
            } else {
                first_at.insert(urn, index);
            }
        }
    }
    // The output must not depend on the order of the registry.
    entries.sort_by(|a, b| a.urn.cmp(&b.urn));
    Ok(entries)
}

struct EntryReader<'a> {
    registry: &'a Rc<Document>,
    at: Pointer,
    json: &'a Json,
    problems: &'a mut Vec<Problem>,
}

impl EntryReader<'_> {
    /// The entry, or `None` once its problems are reported; every member is looked at, so that all are.
    fn read(&mut self, sources: &mut Sources) -> Option<Entry> {
        if self.json.as_object().is_none() {
            self.problems.push(self.registry.problem(&self.at, "an entry must be an object"));
            return None;
        }
        let urn = self.urn();
        let topic = self.topic(urn.as_deref());
        let schema = self.schema(sources);
        let key = self.key();
        let owner = self.text("owner");
        let deprecated = self.deprecated();
        Some(Entry {
            urn: urn?,
            topic: topic?,
            schema: schema?,
            key: key?,
            owner: owner?,
            deprecated: deprecated?,
            registry: Rc::clone(self.registry),
            at: self.at.clone(),
        })
    }

    fn urn(&mut self) -> Option<String> {
        let urn = self.required_text("urn")?;
        match urn::check(&urn) {
            Ok(()) => Some(urn),
            Err(error) => self.report("urn", error.to_string()),
        }
    }

    fn topic(&mut self, urn: Option<&str>) -> Option<String> {
        let (topic, named_by) = match self.text("topic")? {
            Some(topic) => (topic, "topic"),
            None => match urn::convention(urn?) {
                Some((context, _)) => (context.to_owned(), "urn"),
                None => {
                    return self.report(
                        "urn",
                        "the URN is not `urn:babel:<context>:<name>`, so the entry must name its `topic`".to_owned(),
                    );
                }
            },
        };
        match topic::check(&topic) {
            Ok(()) => Some(topic),
            Err(error) => self.report(named_by, error.to_string()),
        }
    }

    fn schema(&mut self, sources: &mut Sources) -> Option<Rc<Document>> {
        let path = self.required_text("schema")?;
        match sources.open(&self.registry.path, &path) {
            Ok(schema) => Some(schema),
            Err(Failure::Unreadable(reason)) => self.report("schema", reason),
            Err(Failure::Reported) => None,
        }
    }

    fn key(&mut self) -> Option<Option<Pointer>> {
        let Some(text) = self.text("key")? else { return Some(None) };
        match Pointer::parse(&text) {
            Some(pointer) if !text.is_empty() => Some(Some(pointer)),
            _ => self.report(
                "key",
                "the key must be a JSON Pointer to a member of the payload, such as `/order_id`".to_owned(),
            ),
        }
    }

    fn deprecated(&mut self) -> Option<bool> {
        match self.text("status")?.as_deref() {
            None | Some("active") => Some(false),
            Some("deprecated") => Some(true),
            Some(_) => self.report("status", "the status must be `active` or `deprecated`".to_owned()),
        }
    }

    fn required_text(&mut self, name: &str) -> Option<String> {
        match self.text(name)? {
            Some(text) => Some(text),
            None => self.report(name, format!("the entry has no `{name}`")),
        }
    }

    fn text(&mut self, name: &str) -> Option<Option<String>> {
        match self.json.get(name).map(|json| &json.value) {
            None => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => self.report(name, format!("`{name}` must be a string")),
        }
    }

    fn report<T>(&mut self, name: &str, reason: String) -> Option<T> {
        self.problems.push(self.registry.problem(&self.at.join(name), reason));
        None
    }
}
