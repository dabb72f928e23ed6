//! `registry.json` (contract section 7): entries of the exported jobs are put into its text, and every other byte stays.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::difference;
use crate::envelope::splice::{Edit, apply};

/// A registry that does not exist yet.
const NEW: &str = "{\n  \"schemas\": []\n}\n";

/// What an entry has to say; what it says beside that is its own affair.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) urn: &'a str,
    pub(super) schema: &'a str,
    /// `None` when it is the context of the URN.
    pub(super) topic: Option<&'a str>,
    pub(super) key: Option<&'a str>,
    /// `None` when the registry may say what it likes.
    pub(super) owner: Option<&'a str>,
    pub(super) deprecated: bool,
}

/// The registry as it is to be.
#[derive(Debug)]
pub(super) struct Updated {
    pub(super) text: String,
    /// What was changed, in words.
    pub(super) differences: Vec<String>,
    /// The schemas of the entries that are not wanted, each with its URN.
    pub(super) others: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Registry<'a> {
    #[serde(borrow)]
    schemas: &'a RawValue,
}

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

struct Present<'a> {
    place: Range<usize>,
    members: Members<'a>,
    urn: String,
}

/// Puts the entries into the text of a registry, `None` where there is none.
pub(super) fn update(text: Option<&str>, wanted: &[Wanted<'_>]) -> Result<Updated, String> {
    let text = text.unwrap_or(NEW);
    let registry: Registry<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let list = place(text, registry.schemas);
    let raw: Vec<&RawValue> =
        serde_json::from_str(registry.schemas.get()).map_err(|error| format!("/schemas: {error}"))?;
    let present: Vec<_> = raw.into_iter().map(|entry| read(text, entry)).collect();

    let mut differences = Vec::new();
    let mut edits = Vec::new();
    let mut added = Vec::new();
    for wanted in wanted {
        let Some((index, entry)) = present.iter().enumerate().find(|(_, entry)| entry.urn == wanted.urn) else {
            differences.push(format!("/schemas: has no entry for {}", json(wanted.urn)));
            added.push(write(wanted, &Members::new()));
            continue;
        };
        if let Some(difference) = wanted.difference(&entry.members, &format!("/schemas/{index}")) {
            differences.push(difference);
            edits.push(Edit { range: entry.place.clone(), text: write(wanted, &entry.members).into() });
        }
    }
    let exported = |urn: &str| wanted.iter().any(|wanted| wanted.urn == urn);
    let others = present.iter().filter(|entry| !exported(&entry.urn));
    let others = others.filter_map(|entry| Some((text_of(&entry.members, "schema")?, entry.urn.clone()))).collect();
    if !added.is_empty() {
        let added = added.join(",\n    ");
        edits.push(match present.last() {
            Some(last) => Edit { range: last.place.end..last.place.end, text: format!(",\n    {added}").into() },
            None => Edit { range: list, text: format!("[\n    {added}\n  ]").into() },
        });
    }
    Ok(Updated { text: apply(text, edits), differences, others })
}

/// Where a part of the text is.
fn place(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    start..start + part.get().len()
}

/// An entry; one that is no object, or whose URN is no string, is nobody's that is exported here.
fn read<'a>(text: &str, entry: &'a RawValue) -> Present<'a> {
    let members: Members<'_> = serde_json::from_str(entry.get()).unwrap_or_default();
    let urn = text_of(&members, "urn").unwrap_or_default();
    Present { place: place(text, entry), members, urn }
}

fn text_of(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

impl Wanted<'_> {
    /// The members that this export answers for, in the order in which an entry has them; `None` is not to be there.
    fn members(&self) -> Vec<(&'static str, Option<&str>)> {
        let mut members =
            vec![("urn", Some(self.urn)), ("schema", Some(self.schema)), ("topic", self.topic), ("key", self.key)];
        members.extend(self.owner.map(|owner| ("owner", Some(owner))));
        members.extend(self.deprecated.then_some(("status", Some("deprecated"))));
        members
    }

    /// The first member that is not as it has to be, in words.
    fn difference(&self, present: &Members<'_>, pointer: &str) -> Option<String> {
        self.members().into_iter().find_map(|(name, wanted)| {
            let found: Option<Value> = present.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok());
            let wanted = wanted.map(Value::from);
            let differs = found != wanted;
            differs.then(|| difference::at(&format!("{pointer}/{name}"), found.as_ref(), wanted.as_ref()))
        })
    }
}

/// The text of an entry: what is wanted first, then what else it had, as it was spelt.
fn write(wanted: &Wanted<'_>, present: &Members<'_>) -> String {
    let mut members: Vec<_> =
        wanted.members().into_iter().filter_map(|(name, value)| Some((name, json(value?)))).collect();
    let answered_for: Vec<_> = wanted.members().into_iter().map(|(name, _)| name).collect();
    if !present.contains_key("status") && !wanted.deprecated {
        members.push(("status", json("active")));
    }
    for (name, value) in present {
        if !answered_for.contains(&name.as_ref()) {
            members.push((name, value.get().to_owned()));
        }
    }
    let lines: Vec<_> = members.iter().map(|(name, value)| format!("      {}: {value}", json(name))).collect();
    format!("{{\n{}\n    }}", lines.join(",\n"))
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: Wanted<'_> = Wanted {
        urn: "urn:babel:orders:created",
        schema: "orders.created.schema.json",
        topic: None,
        key: Some("/order_id"),
        owner: None,
        deprecated: false,
    };
    const MOVED: Wanted<'_> = Wanted {
        urn: "urn:acme:moved",
        schema: "moved.schema.json",
        topic: Some("moves"),
        key: None,
        owner: Some("team \"m\""),
        deprecated: true,
    };

    #[test]
    fn a_new_registry_has_an_entry_a_job() {
        let updated = update(None, &[CREATED, MOVED]).unwrap();
        let expected = r#"{
  "schemas": [
    {
      "urn": "urn:babel:orders:created",
      "schema": "orders.created.schema.json",
      "key": "/order_id",
      "status": "active"
    },
    {
      "urn": "urn:acme:moved",
      "schema": "moved.schema.json",
      "topic": "moves",
      "owner": "team \"m\"",
      "status": "deprecated"
    }
  ]
}
"#;
        assert_eq!(updated.text, expected);
        assert_eq!(updated.differences.len(), 2);
        let again = update(Some(expected), &[CREATED, MOVED]).unwrap();
        assert_eq!((again.text.as_str(), again.differences.as_slice()), (expected, [].as_slice()));
    }

    /// Spelt as nobody would, to see that it is kept.
    const FOREIGN: &str = "{ \"version\":1.50,\n\t\"schemas\" :[\n {\"schema\":\"a.json\",\"urn\":\"urn:other\",  \"x\":[1e2]},\r\n\
                           {\"urn\":\"urn:babel:orders:created\",\"owner\":\"o\",\"rank\":1e2,\"key\":\"/id\",\"topic\":\"t\",\"schema\":\"s\",\"status\":\"deprecated\"} , 7 ],\n \"end\":{ }}";

    #[test]
    fn what_is_not_exported_keeps_every_byte() {
        let updated = update(Some(FOREIGN), &[CREATED]).unwrap();
        let (before, after) = FOREIGN.split_once("{\"urn\":\"urn:babel:orders:created\"").unwrap();
        let (_, after) = after.split_once('}').unwrap();
        let entry = "{\n      \"urn\": \"urn:babel:orders:created\",\n      \"schema\": \"orders.created.schema.json\",\n      \
                     \"key\": \"/order_id\",\n      \"owner\": \"o\",\n      \"rank\": 1e2,\n      \"status\": \"deprecated\"\n    }";
        assert_eq!(updated.text, format!("{before}{entry}{after}"));
        assert_eq!(
            updated.differences,
            [r#"/schemas/1/schema: the file has "s", the code has "orders.created.schema.json""#]
        );
        assert_eq!(updated.others, [("a.json".to_owned(), "urn:other".to_owned())]);
        assert!(update(Some(&updated.text), &[CREATED]).unwrap().differences.is_empty());
    }

    #[test]
    fn a_new_entry_comes_behind_the_last_one() {
        let updated = update(Some(FOREIGN), &[MOVED]).unwrap();
        assert!(updated.text.contains(" , 7,\n    {\n      \"urn\": \"urn:acme:moved\","), "{}", updated.text);
        assert!(updated.text.starts_with(FOREIGN.split_once(" ],").unwrap().0));
        assert!(serde_json::from_str::<Value>(&updated.text).is_ok());
    }

    #[test]
    fn a_text_that_is_no_registry_is_refused() {
        for text in ["", "[]", "{", "{}", r#"{"schemas":{}}"#, r#"{"schemas":[],"schemas":[]}"#] {
            assert!(update(Some(text), &[CREATED]).is_err(), "{text}");
        }
    }
}
