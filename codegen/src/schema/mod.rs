//! Schemas as their keywords say, each place read once. Nothing here knows of Rust types.

mod decimal;
mod limits;
mod literal;
mod parse;
mod pattern;
mod read;
mod rule;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::error::Problem;
use crate::load::Entry;
use crate::model::{Kinds, Rule};
use crate::pointer::Pointer;
use crate::resolve::{Location, Resolver};

pub(crate) use decimal::Decimal;
pub(crate) use limits::Limits;
pub(crate) use literal::Literal;
pub(crate) use pattern::Patterns;

/// Index of a schema in its [`Arena`].
pub(crate) type SchemaId = usize;

/// The keywords of one schema, without those of the schemas inside it.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) place: Location,
    /// `title` and `description`.
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// The kinds that `type` leaves, less those that `enum` and `const` rule out.
    pub(crate) kinds: Kinds,
    /// Whether `type` is written down.
    pub(crate) typed: bool,
    /// The values that `enum` and `const` leave.
    pub(crate) values: Option<Vec<Literal>>,
    pub(crate) format: Option<String>,
    pub(crate) rules: Vec<Rule>,
    /// `pattern`, which the types leave to the validation of payloads.
    pub(crate) unchecked: bool,
    /// Schemas that hold for the same value: `$ref`, `$dynamicRef`, `allOf`.
    pub(crate) also: Vec<SchemaId>,
    /// `anyOf` and `oneOf`.
    pub(crate) unions: Vec<Union>,
    pub(crate) not: Option<SchemaId>,
    /// Keywords that decide by the value which others hold (`if`, `dependentSchemas`), or a reference that nobody can
    /// follow beforehand: they may also evaluate members and items.
    pub(crate) conditional: bool,
    pub(crate) object: Object,
    pub(crate) array: Array,
    /// `x-rust-type`.
    pub(crate) rust_type: Option<String>,
    /// `x-rust-name`.
    pub(crate) rust_name: Option<String>,
    /// `x-gdpr-sensitive`.
    pub(crate) sensitive: bool,
    /// Every schema that stands inside this one.
    pub(crate) inside: Vec<SchemaId>,
}

/// The schemas of an `anyOf` or `oneOf`.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub(crate) branches: Vec<SchemaId>,
    /// Exactly one of them holds.
    pub(crate) exclusive: bool,
}

/// The keywords about members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) properties: IndexMap<String, SchemaId>,
    pub(crate) required: Vec<String>,
    pub(crate) patterns: Vec<(String, SchemaId)>,
    pub(crate) additional: Option<SchemaId>,
    /// `propertyNames`.
    pub(crate) names: Option<SchemaId>,
    pub(crate) unevaluated: Option<SchemaId>,
}

/// The keywords about elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Array {
    pub(crate) prefix: Vec<SchemaId>,
    pub(crate) items: Option<SchemaId>,
    /// `contains`, with `minContains` and `maxContains`.
    pub(crate) contains: Option<(SchemaId, u64, u64)>,
    pub(crate) unevaluated: Option<SchemaId>,
}

/// All schemas of a run.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) resolver: Resolver,
    pub(crate) problems: Vec<Problem>,
    /// What is odd, and no reason to stop.
    pub(crate) warnings: Vec<Problem>,
    ids: HashMap<(String, Pointer), SchemaId>,
    schemas: Vec<(Location, Option<Rc<Schema>>)>,
}

impl Arena {
    pub(crate) fn new(resolver: Resolver) -> Self {
        Self { resolver, problems: Vec::new(), warnings: Vec::new(), ids: HashMap::new(), schemas: Vec::new() }
    }

    /// The schema at a place.
    pub(crate) fn at(&mut self, place: &Location) -> SchemaId {
        let next = self.schemas.len();
        let id = *self.ids.entry(place.id()).or_insert(next);
        if id == next {
            self.schemas.push((place.clone(), None));
        }
        id
    }

    pub(crate) fn place(&self, id: SchemaId) -> &Location {
        &self.schemas[id].0
    }

    /// The keywords of a schema; what is wrong with them is reported when they are read first.
    pub(crate) fn get(&mut self, id: SchemaId) -> Rc<Schema> {
        if let (_, Some(schema)) = &self.schemas[id] {
            return Rc::clone(schema);
        }
        let place = self.schemas[id].0.clone();
        let schema = Rc::new(parse::schema(self, &place));
        self.schemas[id].1 = Some(Rc::clone(&schema));
        schema
    }

    /// Reads the payloads of `entries` and every schema that they hold or refer to, so that all that is wrong is
    /// reported.
    pub(crate) fn read_payloads(&mut self, entries: &[Entry]) {
        let roots: Vec<Location> = entries.iter().map(|entry| Location::root(&entry.schema)).collect();
        self.resolver.open_reachable(&roots);
        let mut waiting: Vec<SchemaId> = roots.iter().map(|root| self.at(root)).collect();
        let mut seen: HashSet<SchemaId> = waiting.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            let schema = self.get(id);
            waiting.extend(schema.inside.iter().chain(&schema.also).copied().filter(|id| seen.insert(*id)));
        }
    }

    pub(crate) fn report(&mut self, at: &Location, reason: impl Into<String>) {
        self.problems.push(at.problem(reason));
    }
}
