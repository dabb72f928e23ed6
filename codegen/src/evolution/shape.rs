//! The schemas of both states in one place, with every keyword that says which values are valid.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::json::Json;
use crate::model::{Kinds, Rule};
use crate::resolve::{Dialect, Location, Target};
use crate::schema::{Arena, Literal, Patterns, SchemaId};

/// How many times schemas may be looked at for one message: so often…
const LOOKS: usize = 50_000;
/// … and so often for each schema of both states.
const LOOKS_EACH: usize = 200;

/// Index of a schema of either state in [`Schemas`].
pub(super) type Node = usize;

/// Which state a schema belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Era {
    Earlier,
    Now,
}

/// What one schema says about values, without what the schemas in it say. Annotations, `format` and `default` among
/// them, are no part of it.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) era: Era,
    pub(super) place: Location,
    pub(super) kinds: Kinds,
    /// Whether `type` is written down.
    pub(super) typed: bool,
    pub(super) values: Option<Vec<Literal>>,
    pub(super) rules: Vec<Rule>,
    pub(super) pattern: Option<String>,
    pub(super) also: Vec<Node>,
    pub(super) unions: Vec<Union>,
    pub(super) not: Option<Node>,
    pub(super) condition: Option<Condition>,
    pub(super) properties: IndexMap<String, Node>,
    pub(super) required: Vec<String>,
    pub(super) patterns: Vec<(String, Node)>,
    pub(super) additional: Option<Node>,
    pub(super) unevaluated: Option<Node>,
    pub(super) names: Option<Node>,
    /// Schemas that hold for objects with a member.
    pub(super) dependents: Vec<(String, Node)>,
    pub(super) prefix: Vec<Node>,
    pub(super) items: Option<Node>,
    pub(super) unevaluated_items: Option<Node>,
    pub(super) contains: Option<Contains>,
    /// A metaschema that it refers to; those are no files of the folder.
    pub(super) metaschema: Option<String>,
    /// A reference that nobody can follow beforehand.
    pub(super) dynamic: Option<String>,
}

#[derive(Debug)]
pub(super) struct Union {
    pub(super) branches: Vec<Node>,
    /// Exactly one of them holds: `oneOf`.
    pub(super) exclusive: bool,
}

/// `if`, with at least one of `then` and `else`.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) when: Node,
    pub(super) then: Option<Node>,
    pub(super) otherwise: Option<Node>,
}

#[derive(Debug)]
pub(super) struct Contains {
    pub(super) schema: Node,
    pub(super) least: u64,
    pub(super) most: Option<u64>,
}

impl Shape {
    pub(super) fn has(&self, keyword: &str) -> bool {
        self.place.json().is_some_and(|json| json.get(keyword).is_some())
    }

    /// The members that `dependentRequired` asks for beside `name`.
    pub(super) fn required_with<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a String> {
        self.dependencies().filter(move |(with, _)| *with == name).flat_map(|(_, names)| names)
    }

    pub(super) fn dependencies(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.rules.iter().filter_map(|rule| match rule {
            Rule::DependentRequired(with, names) => Some((with, names)),
            _ => None,
        })
    }

    /// Whether every value is valid.
    fn says_nothing(&self) -> bool {
        self.also.is_empty() && self.says_nothing_itself()
    }

    /// Whether every value is valid that the schemas in `also` take.
    fn says_nothing_itself(&self) -> bool {
        self.kinds == Kinds::ALL
            && self.values.is_none()
            && self.rules.is_empty()
            && self.pattern.is_none()
            && self.unions.is_empty()
            && self.not.is_none()
            && self.condition.is_none()
            && self.properties.is_empty()
            && self.required.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.unevaluated.is_none()
            && self.names.is_none()
            && self.dependents.is_empty()
            && self.prefix.is_empty()
            && self.items.is_none()
            && self.unevaluated_items.is_none()
            && self.contains.is_none()
            && self.metaschema.is_none()
            && self.dynamic.is_none()
    }

    /// Every schema in it or that it refers to.
    pub(super) fn inner(&self) -> Vec<Node> {
        let mut inner = self.same_value();
        inner.extend(self.not);
        inner.extend(self.properties.values());
        inner.extend(self.patterns.iter().map(|(_, node)| node));
        inner.extend(
            [self.additional, self.unevaluated, self.names, self.items, self.unevaluated_items].iter().flatten(),
        );
        inner.extend(&self.prefix);
        inner.extend(self.contains.iter().map(|contains| contains.schema));
        inner
    }

    /// The schemas that may hold for the same value, and add to what is known of its members.
    pub(super) fn same_value(&self) -> Vec<Node> {
        let mut nodes = self.also.clone();
        nodes.extend(self.unions.iter().flat_map(|union| &union.branches));
        if let Some(condition) = &self.condition {
            nodes.extend([Some(condition.when), condition.then, condition.otherwise].into_iter().flatten());
        }
        nodes.extend(self.dependents.iter().map(|(_, node)| node));
        nodes
    }
}

/// All schemas of both states, each read once.
pub(super) struct Schemas {
    earlier: Arena,
    now: Arena,
    nodes: Vec<(Era, SchemaId)>,
    index: HashMap<(Era, SchemaId), Node>,
    shapes: HashMap<Node, Rc<Shape>>,
    patterns: Patterns,
    /// How many times schemas were looked at for this message.
    looks: usize,
}

impl Schemas {
    pub(super) fn new(earlier: Arena, now: Arena) -> Self {
        Self {
            earlier,
            now,
            nodes: Vec::new(),
            index: HashMap::new(),
            shapes: HashMap::new(),
            patterns: Patterns::default(),
            looks: 0,
        }
    }

    /// Begins another message.
    pub(super) fn begin(&mut self) {
        self.looks = 0;
    }

    /// Whether the message takes too long. Unions in unions multiply, so that neither the size of the schemas nor the
    /// number of their pairs says how long that is.
    pub(super) fn exhausted(&self) -> bool {
        self.looks >= LOOKS + LOOKS_EACH * self.nodes.len()
    }

    /// The schema at a place of a state.
    pub(super) fn at(&mut self, era: Era, place: &Location) -> Node {
        let id = self.arena(era).at(place);
        self.node(era, id)
    }

    fn node(&mut self, era: Era, id: SchemaId) -> Node {
        *self.index.entry((era, id)).or_insert_with(|| {
            self.nodes.push((era, id));
            self.nodes.len() - 1
        })
    }

    fn arena(&mut self, era: Era) -> &mut Arena {
        match era {
            Era::Earlier => &mut self.earlier,
            Era::Now => &mut self.now,
        }
    }

    pub(super) fn get(&mut self, node: Node) -> Rc<Shape> {
        self.looks += 1;
        if let Some(shape) = self.shapes.get(&node) {
            return Rc::clone(shape);
        }
        let (era, id) = self.nodes[node];
        let shape = Rc::new(self.read(era, id));
        self.shapes.insert(node, Rc::clone(&shape));
        shape
    }

    /// The schema that `node` stands for: where it only refers to another one, that one.
    pub(super) fn target(&mut self, mut node: Node) -> Node {
        let mut seen = HashSet::new();
        while seen.insert(node) {
            let shape = self.get(node);
            match shape.also.as_slice() {
                [only] if shape.says_nothing_itself() => node = *only,
                _ => break,
            }
        }
        node
    }

    /// Whether nothing is valid.
    pub(super) fn is_never(&mut self, node: Node) -> bool {
        let target = self.target(node);
        self.get(target).kinds.is_empty()
    }

    /// Whether every value is valid.
    pub(super) fn is_anything(&mut self, node: Node) -> bool {
        let target = self.target(node);
        self.get(target).says_nothing()
    }

    /// Whether the regular expression `pattern` is found in `name`.
    pub(super) fn matches(&mut self, pattern: &str, name: &str) -> bool {
        self.patterns.matches(pattern, name)
    }

    /// Every schema that one can come to from `roots` without passing one of `known`.
    pub(super) fn reachable(&mut self, roots: [Node; 2], known: &HashSet<Node>) -> Vec<Node> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut waiting = roots.to_vec();
        while let Some(node) = waiting.pop() {
            if !known.contains(&node) && seen.insert(node) {
                found.push(node);
                waiting.extend(self.get(node).inner());
            }
        }
        found
    }

    fn read(&mut self, era: Era, id: SchemaId) -> Shape {
        let schema = self.arena(era).get(id);
        let place = schema.place.clone();
        let json = place.json();
        let has = |keyword: &str| json.is_some_and(|json| json.get(keyword).is_some());
        // What stands beside `$ref` in old editions is not read, so it is not among the schemas inside either.
        let mut inside = |place: Location| {
            let id = self.arena(era).at(&place);
            schema.inside.contains(&id).then(|| self.node(era, id))
        };
        let [when, then, otherwise] =
            ["if", "then", "else"].map(|keyword| if has(keyword) { inside(place.join(keyword)) } else { None });
        let mut dependents = Vec::new();
        for keyword in ["dependencies", "dependentSchemas"] {
            let members = json.and_then(|json| json.get(keyword)).and_then(Json::as_object);
            for name in members.into_iter().flat_map(IndexMap::keys) {
                dependents.extend(inside(place.join(keyword).join(name)).map(|node| (name.clone(), node)));
            }
        }
        let mut nodes = |ids: &[SchemaId]| ids.iter().map(|id| self.node(era, *id)).collect::<Vec<_>>();
        let also = nodes(&schema.also);
        let unions = schema
            .unions
            .iter()
            .map(|union| Union { branches: nodes(&union.branches), exclusive: union.exclusive })
            .collect();
        let prefix = nodes(&schema.array.prefix);
        let mut node = |id: SchemaId| self.node(era, id);
        let object = &schema.object;
        let mut shape = Shape {
            era,
            kinds: schema.kinds,
            typed: schema.typed,
            values: schema.values.clone(),
            rules: schema.rules.clone(),
            pattern: json
                .and_then(|json| json.get("pattern"))
                .and_then(Json::as_str)
                .filter(|pattern| schema.unchecked && !pattern.is_empty())
                .map(str::to_owned),
            also,
            unions,
            not: schema.not.map(&mut node),
            condition: when.filter(|_| then.is_some() || otherwise.is_some()).map(|when| Condition {
                when,
                then,
                otherwise,
            }),
            properties: object.properties.iter().map(|(name, id)| (name.clone(), node(*id))).collect(),
            required: object.required.clone(),
            patterns: object.patterns.iter().map(|(pattern, id)| (pattern.clone(), node(*id))).collect(),
            additional: object.additional.map(&mut node),
            unevaluated: object.unevaluated.map(&mut node),
            names: object.names.map(&mut node),
            dependents,
            prefix,
            items: schema.array.items.map(&mut node),
            unevaluated_items: schema.array.unevaluated.map(&mut node),
            contains: schema.array.contains.map(|(item, least, most)| Contains {
                schema: node(item),
                least,
                most: (most != u64::MAX).then_some(most),
            }),
            metaschema: None,
            dynamic: None,
            place: place.clone(),
        };
        if schema.conditional {
            self.dynamic(&mut shape);
        }
        shape
    }

    /// References that lead to no schema of the folder, or to more than one.
    fn dynamic(&mut self, shape: &mut Shape) {
        let place = shape.place.clone();
        let resolver = &mut self.arena(shape.era).resolver;
        let dialect = resolver.dialect(&place);
        for (keyword, known) in [
            ("$ref", true),
            ("$recursiveRef", dialect == Dialect::Draft2019),
            ("$dynamicRef", dialect == Dialect::Draft2020),
        ] {
            let text = place.json().and_then(|json| json.get(keyword)).and_then(Json::as_str);
            let Some(text) = text.filter(|_| known) else { continue };
            let target = match keyword {
                "$ref" => resolver.reference(&place, text),
                _ => resolver.dynamic_reference(&place, text),
            };
            match target {
                Ok(Target::Schema(_)) | Err(_) => {}
                Ok(Target::Metaschema(name)) => shape.metaschema = Some(name),
                Ok(Target::Dynamic) => shape.dynamic = Some(format!("{keyword}: {text}")),
            }
        }
    }
}
