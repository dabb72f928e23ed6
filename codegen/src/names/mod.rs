//! Identifiers for modules, types, fields, variants and methods: ASCII, distinct, and the same in every build.

mod case;
mod distinct;
mod keyword;
mod types;

use std::collections::BTreeMap;

use crate::model::{Kind, Message, Rest, Struct, Topic, TypeDef};

pub(crate) use types::Clash;

/// Names of the module that no payload type may take; `H` is the type parameter of `routes`.
const RESERVED_TYPES: [&str; 3] = ["Publisher", "Handlers", "H"];

/// The field of the members that have none of their own.
const EXTRA: &str = "extra";

/// Names that no method of a publisher may take.
const RESERVED_METHODS: [&str; 3] = ["new", "clone", "retry_topics"];

/// Names everything in `topic`; types whose names cannot be told apart are given back.
pub(crate) fn assign(topic: &mut Topic) -> Vec<Clash> {
    let clashes = types::assign(&mut topic.types);
    for ty in &mut topic.types {
        match &mut ty.kind {
            Kind::Struct(object) => name_fields(object),
            Kind::Enum(variants) => {
                let wires: Vec<_> = variants.iter().map(|variant| wire(&variant.json)).collect();
                let names = distinct::names(wires.iter().map(|wire| (wire.as_str(), pascal(wire))), "");
                variants.iter_mut().zip(names).for_each(|(variant, name)| variant.name = name);
            }
            Kind::Union(alternatives) => {
                let naturals = alternatives.iter().map(|form| (form.natural.as_str(), pascal(&form.natural)));
                let names = distinct::names(naturals, "");
                alternatives.iter_mut().zip(names).for_each(|(form, name)| form.name = name);
            }
        }
    }
    let methods: Vec<_> = topic.messages.iter().map(|message| method(message, &topic.types)).collect();
    let names = distinct::names(methods.iter().map(|(wire, name)| (wire.as_str(), name.clone())), "_");
    topic.messages.iter_mut().zip(names).for_each(|(message, name)| message.method = name);
    clashes
}

/// Fields, and the map of other members, which gives way to them.
fn name_fields(object: &mut Struct) {
    let mut siblings: Vec<(String, String)> = object
        .fields
        .iter()
        .map(|field| match &field.asked {
            // Like a member of that name, so that another sibling gives way.
            Some(asked) => (asked.clone(), keyword::escape(asked.clone())),
            None => (field.wire.clone(), snake(&field.wire)),
        })
        .collect();
    siblings.push((String::new(), EXTRA.to_owned()));
    let mut names = distinct::names(siblings.iter().map(|(wire, name)| (wire.as_str(), name.clone())), "_");
    let extra = names.pop().unwrap_or_default();
    object.fields.iter_mut().zip(names).for_each(|(field, name)| field.name = name);
    if let Rest::Kept { name, .. } = &mut object.rest {
        *name = extra;
    }
}

/// The module of each topic, or the topics that would share one.
pub(crate) fn modules(topics: &mut [Topic]) -> Vec<(String, String)> {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut clashes = Vec::new();
    for topic in topics {
        topic.module = snake(&topic.name);
        if let Some(other) = taken.insert(topic.module.clone(), topic.name.clone()) {
            clashes.push((other, topic.name.clone()));
        }
    }
    clashes
}

fn method(message: &Message, types: &[TypeDef]) -> (String, String) {
    let ty = types.get(message.payload).map_or("", |ty| ty.name.as_str());
    let name = snake(ty);
    let name = if RESERVED_METHODS.contains(&name.as_str()) { name + "_" } else { name };
    (ty.to_owned(), name)
}

/// What the name of a value of an `enum` is made from: a string's text, and any other value as it is spelled.
fn wire(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// `text` as the identifier of a field, method or module.
fn snake(text: &str) -> String {
    keyword::escape(case::snake(text))
}

/// `text` as the identifier of a type or variant.
fn pascal(text: &str) -> String {
    keyword::escape(case::pascal(text))
}
