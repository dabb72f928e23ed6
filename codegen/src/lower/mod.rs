//! From schemas to the model: what each schema is in Rust.
//!
//! Structs wait in a queue for their fields, so the depth of the stack does not grow with the number of definitions
//! that refer to each other.

mod boxes;
mod defaults;
mod key;
mod object;
mod scalar;
mod schema;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use crate::error::Problem;
use crate::json::Json;
use crate::load::{Document, Entry, Sources};
use crate::model::{Kind, Message, Origin, Struct, Topic, Type, TypeDef, TypeId};
use crate::pointer::Pointer;
use crate::resolve::Location;
use schema::Shape;

/// What all topics of a run share.
pub(crate) struct Run {
    pub(crate) sources: Sources,
    pub(crate) problems: Vec<Problem>,
    /// Definitions that were seen.
    definitions: Vec<Location>,
}

impl Run {
    pub(crate) fn new(sources: Sources) -> Self {
        Self { sources, problems: Vec::new(), definitions: Vec::new() }
    }

    /// Turns the entries of one topic into its module.
    pub(crate) fn topic(&mut self, name: &str, entries: &[Entry]) -> Topic {
        let before = self.problems.len();
        let mut lowering = Lowering::new(self);
        let payloads: Vec<_> = entries.iter().map(|entry| lowering.payload(entry)).collect();
        lowering.drain();
        let types = lowering.finish();
        // A key is judged on whole structs only; a member that failed itself would be called missing.
        let whole = self.problems.len() == before;
        let messages = entries.iter().zip(payloads).filter_map(|(entry, payload)| {
            let key = entry.key.as_ref().zip(payload).map(|(key, payload)| key::path(&types, payload, key));
            if let Some(Err(reason)) = &key
                && whole
            {
                self.problems.push(entry.problem("key", reason.as_str()));
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

    /// Checks the definitions of every file that was read, also those that nothing refers to and that give no type.
    pub(crate) fn check_definitions(&mut self) {
        let mut checked = HashSet::new();
        // The first document is the registry, which is no schema.
        let mut next = 1;
        let mut lowering = Lowering::new(self);
        loop {
            if let Some(location) = lowering.run.definitions.pop() {
                if checked.insert(location.id()) {
                    lowering.slot(&location, 0);
                    lowering.drain();
                }
            } else if let Some(opened) = lowering.run.sources.document(next) {
                next += 1;
                lowering.run.definitions.extend(opened.iter().flat_map(definitions));
            } else {
                break;
            }
        }
        lowering.finish();
    }
}

fn definitions(document: &std::rc::Rc<Document>) -> Vec<Location> {
    let places = ["definitions", "$defs"].map(|keyword| Location::root(document).join(keyword));
    let names = |place: &Location| {
        let members = place.json().and_then(Json::as_object).into_iter().flat_map(|members| members.keys());
        members.map(|name| place.join(name)).collect::<Vec<_>>()
    };
    places.iter().flat_map(names).collect()
}

/// Lowers the schemas of one topic.
struct Lowering<'a> {
    run: &'a mut Run,
    types: Vec<TypeDef>,
    /// The type of the schema at a place, and whether null stands beside it.
    index: HashMap<(String, Pointer), (TypeId, bool)>,
    /// Structs without fields yet, with the schema that describes them.
    queue: VecDeque<(TypeId, Location)>,
    /// Defaults, to be judged once all types are known.
    defaults: Vec<defaults::Pending>,
}

impl<'a> Lowering<'a> {
    fn new(run: &'a mut Run) -> Self {
        Self { run, types: Vec::new(), index: HashMap::new(), queue: VecDeque::new(), defaults: Vec::new() }
    }

    /// The struct of an entry's payload. A payload that is a reference gets a struct of its own all the same: a URN
    /// belongs to one type.
    fn payload(&mut self, entry: &Entry) -> Option<TypeId> {
        let root = Location::root(&entry.schema);
        if self.types.iter().any(|ty| ty.origin.file == root.document.path) {
            let reason = "the schema is the payload of another URN of this topic; give each URN a file of its own, which may be a `$ref`";
            self.run.problems.push(entry.problem("schema", reason));
            return None;
        }
        let body = self.follow(&root)?;
        let (shape, nullable) = self.shape(&body, true)?;
        if shape != Shape::Struct || nullable {
            return self.report(&root, "the root of a payload must be an object with `properties`, and not null");
        }
        let id = self.add(&root, Kind::Struct(Struct::default()));
        if body.id() == root.id() {
            self.index.insert(root.id(), (id, false));
        }
        self.pend_default(&root, &schema::plain(Type::Named(id), false), None);
        self.queue.push_back((id, body));
        Some(id)
    }

    /// Fills every struct that waits.
    fn drain(&mut self) {
        while let Some((id, location)) = self.queue.pop_front() {
            self.fill(id, &location);
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
        self.types.push(TypeDef {
            name: String::new(),
            asked: None,
            origin,
            docs: at.json().and_then(schema::docs),
            kind,
        });
        self.types.len() - 1
    }

    fn report<T>(&mut self, at: &Location, reason: impl Into<String>) -> Option<T> {
        self.run.problems.push(at.problem(reason));
        None
    }
}

/// The title of a file's root schema, else the file's stem (`order-created` of `order-created.schema.json`).
fn file_title(document: &Document) -> String {
    let title = document.root.get("title").and_then(Json::as_str).filter(|title| !title.trim().is_empty());
    let stem =
        Path::new(&document.path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    title.map_or_else(|| stem.strip_suffix(".schema").unwrap_or(&stem).to_owned(), str::to_owned)
}
