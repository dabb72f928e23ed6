//! Sets of values, as the schemas that take them and those that do not.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use super::shape::{Node, Schemas, Shape};
use crate::model::Kinds;
use crate::resolve::Location;
use crate::schema::Limits;

/// The values of some kinds that all of some schemas take, and none of some others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Case {
    pub(super) all: BTreeSet<Node>,
    pub(super) none: BTreeSet<Node>,
    pub(super) kinds: Kinds,
}

impl Case {
    pub(super) fn of(nodes: impl IntoIterator<Item = Node>) -> Self {
        Self { all: nodes.into_iter().collect(), none: BTreeSet::new(), kinds: Kinds::ALL }
    }

    pub(super) fn with(&self, nodes: impl IntoIterator<Item = Node>) -> Self {
        let mut case = self.clone();
        case.all.extend(nodes);
        case
    }

    pub(super) fn without(&self, node: Node) -> Self {
        let mut case = self.clone();
        case.none.insert(node);
        case
    }

    pub(super) fn only(&self, kinds: Kinds) -> Self {
        Self { kinds: self.kinds.and(kinds), ..self.clone() }
    }
}

/// Which of two schemas a set of values belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The schema of those who wrote the data. What may be known of a member counts as known.
    Writer,
    /// The schema of those who read it. Only what is certain counts.
    Reader,
}

/// A [`Case`] with every schema that holds for its values: what `$ref` and `allOf` lead to is in it, too.
pub(super) struct Flat {
    pub(super) side: Side,
    pub(super) case: Case,
    pub(super) parts: Vec<Rc<Shape>>,
    pub(super) limits: Limits,
    nodes: HashSet<Node>,
    /// What each part with `unevaluatedProperties` or `unevaluatedItems` does not apply to.
    evaluated: Vec<(usize, Evaluated)>,
    maybe: OnceCell<Evaluated>,
}

/// Members and elements that schemas of one value speak of.
#[derive(Default)]
pub(super) struct Evaluated {
    names: HashSet<String>,
    patterns: Vec<String>,
    /// Every member.
    members: bool,
    /// There is a schema for members without a name of their own.
    restricted: bool,
    /// The first elements.
    elements: usize,
    /// Every element.
    items: bool,
}

/// What schemas say of one member, or of one element.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) schemas: Vec<Node>,
    /// Whether it is named: it has a schema of its own or must be there.
    pub(super) named: bool,
    /// What forbids it.
    pub(super) closed: Option<Location>,
}

impl Flat {
    pub(super) fn new(schemas: &mut Schemas, side: Side, case: Case) -> Self {
        let mut flat = Self {
            side,
            case: Case::of([]),
            parts: Vec::new(),
            limits: Limits::default(),
            nodes: HashSet::new(),
            evaluated: Vec::new(),
            maybe: OnceCell::new(),
        };
        flat.case.kinds = case.kinds;
        flat.case.none = case.none;
        flat.add_all(schemas, case.all);
        flat.finish(schemas);
        flat
    }

    /// Adds a schema that holds as well, and tells whether it is new.
    pub(super) fn add(&mut self, schemas: &mut Schemas, node: Node) -> bool {
        let before = self.parts.len();
        self.add_all(schemas, [node]);
        self.parts.len() > before
    }

    fn add_all(&mut self, schemas: &mut Schemas, nodes: impl IntoIterator<Item = Node>) {
        let mut waiting: Vec<Node> = nodes.into_iter().collect();
        self.case.all.extend(&waiting);
        waiting.reverse();
        while let Some(node) = waiting.pop() {
            if self.nodes.insert(node) {
                let shape = schemas.get(node);
                self.case.kinds = self.case.kinds.and(shape.kinds);
                waiting.extend(shape.also.iter().rev());
                self.case.none.extend(shape.not);
                self.limits.add(&shape.rules);
                self.parts.push(shape);
            }
        }
    }

    /// Works out what depends on all parts; to be called when the last one is added.
    pub(super) fn finish(&mut self, schemas: &mut Schemas) {
        self.evaluated.clear();
        for (index, part) in self.parts.iter().enumerate() {
            if part.unevaluated.is_some() || part.unevaluated_items.is_some() {
                let sure = self.side == Side::Reader;
                let mut evaluated = self.evaluated_by(schemas, part.same_value(), sure);
                evaluated.note(schemas, part, true);
                // Elements that `contains` finds may count as evaluated.
                evaluated.items |= self.side == Side::Writer && part.contains.is_some();
                self.evaluated.push((index, evaluated));
            }
        }
        self.maybe = OnceCell::new();
        for part in &self.parts {
            if part.patterns.is_empty() && part.additional.is_some_and(|node| schemas.is_never(node)) {
                self.limits.properties.at_most(part.properties.len());
            }
        }
    }

    /// What schemas that may hold speak of, where that is not certain.
    fn maybe(&self, schemas: &mut Schemas) -> &Evaluated {
        self.maybe.get_or_init(|| {
            if self.parts.iter().all(|part| part.same_value().len() == part.also.len()) {
                return Evaluated::default();
            }
            self.evaluated_by(schemas, self.case.all.iter().copied().collect(), false)
        })
    }

    /// What the schemas from `roots` on speak of: those that hold for `sure`, or also those that may.
    fn evaluated_by(&self, schemas: &mut Schemas, roots: Vec<Node>, sure: bool) -> Evaluated {
        let mut evaluated = Evaluated::default();
        let mut waiting = roots;
        let mut seen = HashSet::new();
        while let Some(node) = waiting.pop() {
            let counts = if sure { self.nodes.contains(&node) } else { !self.case.none.contains(&node) };
            if counts && seen.insert(node) {
                let shape = schemas.get(node);
                evaluated.note(schemas, &shape, false);
                evaluated.items |= self.side == Side::Writer && shape.contains.is_some();
                waiting.extend(shape.same_value());
            }
        }
        evaluated
    }

    /// What is said of the member `name`.
    pub(super) fn member(&self, schemas: &mut Schemas, name: &str) -> Inner {
        let mut inner = Inner::default();
        for (index, part) in self.parts.iter().enumerate() {
            let before = inner.schemas.len();
            inner.schemas.extend(part.properties.get(name));
            for (pattern, node) in &part.patterns {
                if schemas.matches(pattern, name) {
                    inner.schemas.push(*node);
                }
            }
            let own = inner.schemas.len() > before;
            let asked = || part.dependencies().any(|(_, names)| names.iter().any(|other| other == name));
            inner.named |= own || part.required.iter().any(|other| other == name) || asked();
            if !own {
                inner.rest(schemas, part, part.additional, "additionalProperties");
            }
            if let Some(evaluated) = self.evaluated(index)
                && !evaluated.holds_member(schemas, name)
            {
                inner.rest(schemas, part, part.unevaluated, "unevaluatedProperties");
            }
        }
        inner.named |= self.maybe(schemas).restricted || self.maybe(schemas).holds_name(schemas, name);
        inner
    }

    /// Whether a schema that may hold has one for the member `name`.
    pub(super) fn speaks_of(&self, schemas: &mut Schemas, name: &str) -> bool {
        let own = |schemas: &mut Schemas, part: &Rc<Shape>| {
            part.properties.contains_key(name)
                || part.patterns.iter().any(|(pattern, _)| schemas.matches(pattern, name))
        };
        self.parts.iter().any(|part| own(schemas, part)) || self.maybe(schemas).holds_name(schemas, name)
    }

    /// What is said of members that no name and no pattern speaks of.
    pub(super) fn other_members(&self, schemas: &mut Schemas) -> Inner {
        let mut inner = Inner { named: self.maybe(schemas).restricted, ..Inner::default() };
        for (index, part) in self.parts.iter().enumerate() {
            inner.rest(schemas, part, part.additional, "additionalProperties");
            if self.evaluated(index).is_some_and(|evaluated| !evaluated.members) {
                inner.rest(schemas, part, part.unevaluated, "unevaluatedProperties");
            }
        }
        inner
    }

    /// What is said of members whose name `pattern` matches. For a writer only what is certain; for a reader all that
    /// may be, but for the patterns that `known` has.
    pub(super) fn members_like(&self, schemas: &mut Schemas, pattern: &str, known: &HashSet<&str>) -> Inner {
        let mut inner = Inner::default();
        for (index, part) in self.parts.iter().enumerate() {
            let own: Vec<Node> =
                part.patterns.iter().filter(|(other, _)| other == pattern).map(|(_, node)| *node).collect();
            let lacking = own.is_empty();
            inner.named |= !lacking;
            inner.schemas.extend(own);
            if self.side == Side::Writer {
                continue;
            }
            let others = part.patterns.iter().filter(|(other, _)| !known.contains(other.as_str()));
            inner.schemas.extend(others.map(|(_, node)| *node));
            if lacking {
                inner.rest(schemas, part, part.additional, "additionalProperties");
            }
            if self.evaluated(index).is_some_and(|evaluated| !evaluated.holds_pattern(pattern)) {
                inner.rest(schemas, part, part.unevaluated, "unevaluatedProperties");
            }
        }
        inner
    }

    /// What is said of the element `at`.
    pub(super) fn element(&self, schemas: &mut Schemas, at: usize) -> Inner {
        let mut inner = Inner::default();
        for (index, part) in self.parts.iter().enumerate() {
            match part.prefix.get(at) {
                Some(node) => inner.schemas.push(*node),
                None => inner.schemas.extend(part.items),
            }
            if self.evaluated(index).is_some_and(|evaluated| !evaluated.items && at >= evaluated.elements) {
                inner.rest(schemas, part, part.unevaluated_items, "unevaluatedItems");
            }
        }
        inner
    }

    /// How many of the first elements have a schema of their own.
    pub(super) fn elements(&self) -> usize {
        self.parts.iter().map(|part| part.prefix.len()).max().unwrap_or(0)
    }

    fn evaluated(&self, part: usize) -> Option<&Evaluated> {
        self.evaluated.iter().find(|(index, _)| *index == part).map(|(_, evaluated)| evaluated)
    }

    /// Whether the schema `node` is among those that hold.
    pub(super) fn holds(&self, node: Node) -> bool {
        self.nodes.contains(&node)
    }

    /// Whether an object must have the member `name`.
    pub(super) fn requires(&self, name: &str) -> bool {
        self.required().contains(name)
    }

    /// The members that must be there, also because others must.
    pub(super) fn required(&self) -> BTreeSet<&str> {
        let mut required = BTreeSet::new();
        let mut waiting: Vec<&str> = self.parts.iter().flat_map(|part| &part.required).map(String::as_str).collect();
        while let Some(name) = waiting.pop() {
            if required.insert(name) {
                let with = self.parts.iter().flat_map(|part| part.required_with(name));
                waiting.extend(with.map(String::as_str));
            }
        }
        required
    }

    /// The names of members that have a schema of their own.
    pub(super) fn properties(&self) -> BTreeSet<&str> {
        self.parts.iter().flat_map(|part| part.properties.keys()).map(String::as_str).collect()
    }

    pub(super) fn patterns(&self) -> BTreeSet<&str> {
        self.parts.iter().flat_map(|part| &part.patterns).map(|(pattern, _)| pattern.as_str()).collect()
    }
}

impl Inner {
    /// Adds what holds for members and elements that have no schema of their own.
    fn rest(&mut self, schemas: &mut Schemas, part: &Shape, node: Option<Node>, keyword: &str) {
        let Some(node) = node else { return };
        if schemas.is_never(node) {
            self.closed.get_or_insert_with(|| part.place.join(keyword));
        } else if !schemas.is_anything(node) {
            self.schemas.push(node);
        }
    }
}

impl Evaluated {
    /// Adds what `shape` speaks of; `own`: as the schema that has the `unevaluated…` keywords itself.
    fn note(&mut self, schemas: &mut Schemas, shape: &Shape, own: bool) {
        self.names.extend(shape.properties.keys().cloned());
        self.patterns.extend(shape.patterns.iter().map(|(pattern, _)| pattern.clone()));
        let unevaluated = shape.unevaluated.filter(|_| !own);
        let rest = [shape.additional, unevaluated];
        self.members |= rest.iter().any(Option::is_some);
        self.restricted |= rest.into_iter().flatten().any(|node| !schemas.is_anything(node) && !schemas.is_never(node));
        self.elements = self.elements.max(shape.prefix.len());
        self.items |= shape.items.is_some() || (!own && shape.unevaluated_items.is_some());
    }

    fn holds_name(&self, schemas: &mut Schemas, name: &str) -> bool {
        self.names.contains(name) || self.patterns.iter().any(|pattern| schemas.matches(pattern, name))
    }

    fn holds_member(&self, schemas: &mut Schemas, name: &str) -> bool {
        self.members || self.holds_name(schemas, name)
    }

    fn holds_pattern(&self, pattern: &str) -> bool {
        self.members || self.patterns.iter().any(|other| other == pattern)
    }
}
