//! Nodes: the schemas that hold together for one value, after every `$ref` and `allOf` is followed.

use std::collections::HashMap;

use crate::error::Problem;
use crate::model::{Kinds, Rule};
use crate::resolve::Location;
use crate::schema::{Arena, Schema, SchemaId};

/// How many schemas may hold together for one value.
const MAX_SCHEMAS: usize = 1000;

/// Schemas that all hold for one value.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The schemas that say something, in the order in which a reader meets them.
    pub(super) schemas: Vec<SchemaId>,
    pub(super) key: Key,
    /// Rules that come on top of what the key stands for.
    pub(super) rules: Vec<Rule>,
    /// Where the value is described: the schema itself, or what it is a mere reference to.
    pub(super) place: Location,
    /// The schemas that the others were reached from: those that stand at the place of use.
    pub(super) roots: Vec<SchemaId>,
}

/// What makes two nodes the same type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    schemas: Vec<SchemaId>,
    /// The kinds that are left to the value by where it stands.
    pub(super) kinds: Kinds,
    /// The unions of these schemas whose choice is made: schema and index.
    pub(super) decided: Vec<(SchemaId, usize)>,
}

impl Node {
    /// The node of the schemas `roots`, which all hold.
    pub(super) fn of(arena: &mut Arena, roots: &[SchemaId]) -> Result<Self, Problem> {
        let all = flatten(arena, roots)?;
        let place = place(arena, roots);
        let (mut schemas, mut light) = (Vec::new(), Vec::new());
        let mut kinds = Kinds::ALL;
        for id in all {
            let schema = arena.get(id);
            if schema.is_structural() {
                kinds = kinds.and(schema.kinds);
                schemas.push(id);
            } else if !schema.says_nothing() {
                light.push(id);
            }
        }
        // A bound beside a reference is a rule of its place, and no reason for a type of its own.
        let mut rules = Vec::new();
        let apart = !schemas.is_empty();
        for id in light {
            let schema = arena.get(id);
            if apart && schema.kinds.contains(kinds) && schema.not.is_none() {
                rules.extend(schema.rules.iter().cloned());
            } else {
                schemas.push(id);
            }
        }
        let mut sorted = schemas.clone();
        sorted.sort_unstable();
        let key = Key { schemas: sorted, kinds: Kinds::ALL, decided: Vec::new() };
        Ok(Self { schemas, key, rules, place, roots: roots.to_vec() })
    }

    /// The same value, of which only some kinds are left.
    pub(super) fn of_kinds(&self, kinds: Kinds) -> Self {
        let mut node = self.clone();
        node.key.kinds = node.key.kinds.and(kinds);
        node
    }

    /// The same value, with the choice of every union made.
    pub(super) fn decided(&self, arena: &mut Arena) -> Self {
        let mut node = self.clone();
        for id in &self.schemas {
            for index in 0..arena.get(*id).unions.len() {
                node.key.decide((*id, index));
            }
        }
        node
    }

    /// This value when the branch `branch` of one of its unions holds; the choice of all its unions is made then.
    pub(super) fn with(&self, arena: &mut Arena, branch: SchemaId) -> Result<Self, Problem> {
        let decided = self.decided(arena);
        let mut roots = self.schemas.clone();
        roots.push(branch);
        let alone = Self::of(arena, &[branch])?;
        let mut node = Self::of(arena, &roots)?;
        // Where only the branch says something, it is a type of its own, wherever it stands.
        let extra = self.schemas.iter().any(|id| says_more(&arena.get(*id), self.key.kinds));
        if !extra {
            node = alone.clone();
        }
        node.place = alone.place;
        node.rules.extend(self.rules.iter().cloned());
        node.key.kinds = self.key.kinds;
        decided.key.decided.into_iter().filter(|_| extra).for_each(|union| node.key.decide(union));
        Ok(node)
    }

    /// The unions whose choice is not made yet.
    pub(super) fn unions(&self, arena: &mut Arena) -> Vec<(SchemaId, usize)> {
        let mut open = Vec::new();
        for id in &self.schemas {
            for index in 0..arena.get(*id).unions.len() {
                if !self.key.decided.contains(&(*id, index)) {
                    open.push((*id, index));
                }
            }
        }
        open
    }
}

impl Key {
    fn decide(&mut self, union: (SchemaId, usize)) {
        if let Err(at) = self.decided.binary_search(&union) {
            self.decided.insert(at, union);
        }
    }
}

impl Schema {
    /// Whether it says nothing about values.
    fn says_nothing(&self) -> bool {
        !self.is_structural() && self.kinds == Kinds::ALL && self.rules.is_empty() && self.not.is_none()
    }

    /// Whether it shapes a type: more than kinds and rules.
    fn is_structural(&self) -> bool {
        self.has_shape() || !self.unions.is_empty() || self.conditional
    }

    /// Whether it shapes a type by itself, whatever its unions and conditions do.
    fn has_shape(&self) -> bool {
        let (object, array) = (&self.object, &self.array);
        self.values.is_some()
            || self.format.is_some()
            || self.rust_type.is_some()
            || !object.properties.is_empty()
            || !object.required.is_empty()
            || !object.patterns.is_empty()
            || object.additional.is_some()
            || object.unevaluated.is_some()
            || object.names.is_some()
            || !array.prefix.is_empty()
            || array.items.is_some()
            || array.contains.is_some()
            || array.unevaluated.is_some()
    }

    pub(super) fn says_only_kinds(&self) -> bool {
        !self.is_structural() && self.rules.is_empty() && self.not.is_none() && !self.unchecked
    }

    /// Whether rules of JSON values say all that it says.
    pub(super) fn says_only_rules(&self) -> bool {
        let rest = Self { values: None, ..self.clone() };
        !rest.is_structural() && self.not.is_none() && !self.unchecked
    }

    pub(super) fn says_only_values(&self) -> bool {
        let shape = Self { values: None, kinds: Kinds::ALL, ..self.clone() };
        shape.says_nothing() && !self.unchecked
    }
}

/// Whether a schema says something beside its unions that its branches do not.
fn says_more(schema: &Schema, kinds: Kinds) -> bool {
    let only_objects = schema.kinds == Kinds::OBJECT;
    schema.has_shape()
        || !(schema.kinds.contains(kinds) || only_objects)
        || schema.not.is_some()
        || schema.unions.len() > 1
        || !schema.rules.is_empty()
}

/// Every schema that holds where all `roots` hold, each once and in the order of reading: what is built upon first.
fn flatten(arena: &mut Arena, roots: &[SchemaId]) -> Result<Vec<SchemaId>, Problem> {
    #[derive(PartialEq)]
    enum State {
        Open,
        Done,
    }
    let mut states: HashMap<SchemaId, State> = HashMap::new();
    let mut order = Vec::new();
    let mut path: Vec<(SchemaId, usize)> = Vec::new();
    for &root in roots {
        if states.contains_key(&root) {
            continue;
        }
        states.insert(root, State::Open);
        path.push((root, 0));
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            let schema = arena.get(id);
            let Some(&also) = schema.also.get(*next) else {
                states.insert(id, State::Done);
                order.push(id);
                path.pop();
                continue;
            };
            *next += 1;
            match states.get(&also) {
                None => {
                    states.insert(also, State::Open);
                    path.push((also, 0));
                }
                Some(State::Done) => {}
                Some(State::Open) => {
                    let reason = "the reference leads back to itself: nothing says what a value must be";
                    return Err(schema.place.problem(reason));
                }
            }
            if states.len() > MAX_SCHEMAS {
                return Err(schema
                    .place
                    .problem(format!("more than {MAX_SCHEMAS} schemas hold together for one value")));
            }
        }
    }
    Ok(order)
}

/// Where a value is described: mere references are followed.
fn place(arena: &mut Arena, roots: &[SchemaId]) -> Location {
    let mut id = roots.first().copied().unwrap_or_default();
    if let [_] = roots {
        // `flatten` has found that no references go round in circles.
        loop {
            let schema = arena.get(id);
            match schema.also.as_slice() {
                [target] if schema.says_nothing() && schema.title.is_none() => id = *target,
                _ => break,
            }
        }
    }
    arena.place(id).clone()
}
