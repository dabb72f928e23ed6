//! From schemas to the model: what each value is in Rust.
//!
//! A type is never wrong about a value that its schemas allow: where it cannot say all that they say it says less, and
//! the value is kept as JSON at the worst. Structs and unions wait in a queue for their parts, so the depth of the stack
//! does not grow with the number of schemas that refer to each other.

mod boxes;
mod defaults;
mod elements;
mod fill;
mod form;
mod key;
mod members;
mod node;
mod outline;
mod scalar;
#[cfg(test)]
mod tests;
mod union;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;

use crate::error::Problem;
use crate::json::Json;
use crate::load::{Document, Entry};
use crate::model::{Kind, Kinds, Message, Origin, Rule, Slot, Struct, Topic, Type, TypeDef, TypeId, Variant};
use crate::resolve::Location;
use crate::schema::{Arena, Literal, Patterns, SchemaId};
use form::{Form, Formed};
use node::{Key, Node};
use union::Branch;

/// How many lists, maps and tuples may stand inside each other without a type of its own in between; what is deeper
/// is kept as JSON.
const MAX_NESTING: usize = 16;

/// How schemas become types.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The Rust type of strings of a format.
    pub(crate) formats: BTreeMap<String, String>,
    /// Whether open objects keep members that their schema does not name.
    pub(crate) keep_unknown: bool,
    /// Whether a missing member gets its default.
    pub(crate) fill_defaults: bool,
    /// Whether numbers that may be of any size keep their spelling.
    pub(crate) exact_numbers: bool,
    /// The Rust name of a schema, by file and JSON Pointer (`party.json#/definitions/Name`).
    pub(crate) names: BTreeMap<String, String>,
}

/// Turns the entries of one topic into its module; what is wrong goes to the problems of `arena`.
pub(crate) fn topic(arena: &mut Arena, options: &Options, name: &str, entries: &[Entry]) -> Topic {
    let before = arena.problems.len();
    let mut lowering = Lowering::new(arena, options);
    let payloads: Vec<_> = entries.iter().map(|entry| lowering.payload(entry)).collect();
    lowering.drain();
    let types = lowering.finish();
    // A key is judged on whole structs only; a member that failed itself would be called missing.
    let whole = arena.problems.len() == before;
    let messages = entries.iter().zip(payloads).filter_map(|(entry, payload)| {
        let key = entry.key.as_ref().zip(payload).map(|(key, payload)| key::path(&types, payload, key));
        if let Some(Err(reason)) = &key
            && whole
        {
            arena.problems.push(entry.problem("key", reason.as_str()));
        }
        Some(Message {
            urn: entry.urn.clone(),
            payload: payload?,
            method: String::new(),
            key: key.and_then(Result::ok),
            owner: entry.owner.clone(),
            deprecated: entry.deprecated,
        })
    });
    Topic { name: name.to_owned(), module: String::new(), messages: messages.collect(), types }
}

/// Lowers the schemas of one topic.
struct Lowering<'a> {
    arena: &'a mut Arena,
    options: &'a Options,
    types: Vec<TypeDef>,
    /// The type of each node that has one of its own, and whether null stands beside it.
    index: HashMap<Key, (TypeId, bool)>,
    /// The kinds of each node, as far as they are known.
    outlines: HashMap<Key, Kinds>,
    patterns: Patterns,
    /// Lists, maps and tuples whose parts are being looked at.
    open: HashSet<Key>,
    /// Types without parts yet.
    queue: VecDeque<(TypeId, Parts)>,
    /// Defaults, to be judged once all types are known.
    defaults: Vec<defaults::Pending>,
}

/// What a type is to be filled from.
#[derive(Debug)]
enum Parts {
    Members(Node),
    Branches(Vec<Branch>),
}

impl<'a> Lowering<'a> {
    fn new(arena: &'a mut Arena, options: &'a Options) -> Self {
        Self {
            arena,
            options,
            types: Vec::new(),
            index: HashMap::new(),
            outlines: HashMap::new(),
            patterns: Patterns::default(),
            open: HashSet::new(),
            queue: VecDeque::new(),
            defaults: Vec::new(),
        }
    }

    /// The type of an entry's payload. A payload that is a reference gets a type of its own all the same: a URN belongs
    /// to one type.
    fn payload(&mut self, entry: &Entry) -> Option<TypeId> {
        let root = Location::root(&entry.schema);
        if self.types.iter().any(|ty| ty.origin.file == root.document.path) {
            let reason = "the schema is the payload of another URN of this topic; give each URN a file of its own, which may be a `$ref`";
            self.arena.problems.push(entry.problem("schema", reason));
            return None;
        }
        let id = self.arena.at(&root);
        // The payload of a message is always an object, so its schema need not say so.
        let node = self.node(&[id])?.of_kinds(Kinds::OBJECT);
        let kinds = self.kinds(&node);
        if kinds.is_empty() {
            let reason = "no object satisfies this schema, and a payload is an object";
            self.report_impossible(&node, &root, reason, 0);
            return None;
        }
        let whole = self.normal(&node);
        let (formed, form) = self.payload_form(&node, kinds);
        let (kind, parts) = match form {
            Form::Union(branches) => (Kind::Union(Vec::new()), Parts::Branches(branches)),
            _ => (Kind::Struct(Struct::default()), Parts::Members(formed)),
        };
        let ty = self.add(&root, kind);
        // With rules of its own on top it is not the type of those who refer to what it refers to.
        if node.place.id() == root.id() && node.rules.is_empty() {
            self.index.insert(whole.key, (ty, false));
        }
        self.queue.push_back((ty, parts));
        Some(ty)
    }

    /// The form of a payload, and the node that has it: the payload itself, or the only branch of its unions.
    fn payload_form(&mut self, payload: &Node, kinds: Kinds) -> (Node, Form) {
        let mut node = payload.clone();
        let mut seen = HashSet::new();
        loop {
            match self.form(&node, kinds).form {
                Form::Same(only) if seen.insert(only.key.clone()) => node = only,
                form => return (node, form),
            }
        }
    }

    /// The node of schemas that all hold.
    fn node(&mut self, roots: &[SchemaId]) -> Option<Node> {
        Node::of(self.arena, roots).map_err(|problem: Problem| self.arena.problems.push(problem)).ok()
    }

    /// The node without a restriction of kinds that restricts nothing, so that equal types have equal keys.
    fn normal(&mut self, node: &Node) -> Node {
        let mut free = node.clone();
        free.key.kinds = Kinds::ALL;
        if node.key.kinds.contains(self.kinds(&free)) { free } else { node.clone() }
    }

    /// The type of a value; `None` once what is wrong with it is reported.
    fn slot(&mut self, node: &Node, nesting: usize) -> Option<Slot> {
        let kinds = self.kinds(node);
        if kinds.is_empty() {
            self.arena.report(&node.place, "no value satisfies this schema: its keywords contradict each other");
            return None;
        }
        let node = self.normal(node);
        if let Some(&(id, nullable)) = self.index.get(&node.key) {
            return Some(Slot { ty: Type::Named(id), nullable, rules: node.rules });
        }
        if nesting > MAX_NESTING || self.open.contains(&node.key) {
            return Some(Slot { ty: Type::Json, nullable: false, rules: vec![Rule::Kinds(kinds)] });
        }
        let formed = self.form(&node, kinds);
        self.open.insert(node.key.clone());
        let slot = self.make(&node, formed, nesting);
        self.open.remove(&node.key);
        slot
    }

    fn make(&mut self, node: &Node, formed: Formed, nesting: usize) -> Option<Slot> {
        let Formed { form, nullable, rules } = formed;
        let of = |ty| Some(Slot { ty, nullable, rules });
        let (kind, parts) = match form {
            Form::Plain(ty) => return of(ty),
            Form::List(item) => return of(Type::List(Box::new(self.slot(&item, nesting + 1)?))),
            Form::Map(value) => return of(Type::Map(Box::new(self.slot(&value, nesting + 1)?))),
            Form::Tuple(items) => {
                let items: Option<_> = items.iter().map(|item| self.slot(item, nesting + 1)).collect();
                return of(Type::Tuple(items?));
            }
            Form::Same(only) => {
                let slot = self.slot(&only, nesting + 1)?;
                return Some(Slot { nullable: slot.nullable || nullable, ..slot });
            }
            Form::Enum(values) => {
                let variant = |value: Literal| Variant { json: value.json, name: String::new() };
                (Kind::Enum(values.into_iter().map(variant).collect()), None)
            }
            Form::Struct => {
                // The rules of this place are no part of a type that others may share.
                let shared = Node { rules: Vec::new(), ..node.clone() };
                (Kind::Struct(Struct::default()), Some(Parts::Members(shared)))
            }
            Form::Union(branches) => (Kind::Union(Vec::new()), Some(Parts::Branches(branches))),
        };
        let id = self.add(&node.place, kind);
        self.index.insert(node.key.clone(), (id, nullable));
        self.queue.extend(parts.map(|parts| (id, parts)));
        Some(Slot { ty: Type::Named(id), nullable, rules: node.rules.clone() })
    }

    /// Gives every type that waits its parts.
    fn drain(&mut self) {
        while let Some((id, parts)) = self.queue.pop_front() {
            match parts {
                Parts::Members(node) => self.fill_struct(id, &node),
                Parts::Branches(branches) => self.fill_union(id, &branches),
            }
        }
    }

    /// Boxes what would be infinitely large, judges the defaults and gives the types.
    fn finish(mut self) -> Vec<TypeDef> {
        boxes::insert(&mut self.types);
        self.settle_defaults();
        self.types
    }

    fn add(&mut self, at: &Location, kind: Kind) -> TypeId {
        let origin = Origin {
            file: at.document.path.clone(),
            pointer: at.pointer.clone(),
            file_title: file_title(&at.document),
        };
        let id = self.arena.at(at);
        let (asked, docs) = (self.asked(id), self.docs(&[id]));
        self.types.push(TypeDef { name: String::new(), asked, origin, docs, kind });
        self.types.len() - 1
    }

    /// The name that the schema or the build script asks for.
    fn asked(&mut self, id: SchemaId) -> Option<String> {
        let schema = self.arena.get(id);
        let place = format!("{}#{}", schema.place.document.path, schema.place.pointer.as_str());
        let place = place.strip_suffix('#').unwrap_or(&place);
        let asked = self.options.names.get(place).cloned().or_else(|| schema.rust_name.clone())?;
        if syn::parse_str::<syn::Ident>(&asked).is_err() {
            let reason = format!("`{}` is asked for as a Rust name, and is none", asked.escape_debug());
            self.arena.report(&schema.place, reason);
            return None;
        }
        Some(asked)
    }

    /// The text that describes a value to a reader of the generated code: that of the first schema that has one.
    fn docs(&mut self, ids: &[SchemaId]) -> Option<String> {
        ids.iter().find_map(|id| {
            let schema = self.arena.get(*id);
            schema.description.clone().or_else(|| schema.title.clone())
        })
    }
}

/// The title of a file's root schema, else the file's stem (`order-created` of `order-created.schema.json`).
fn file_title(document: &Document) -> String {
    let title = document.root.get("title").and_then(Json::as_str).filter(|title| !title.trim().is_empty());
    let stem =
        Path::new(&document.path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    title.map_or_else(|| stem.strip_suffix(".schema").unwrap_or(&stem).to_owned(), str::to_owned)
}
