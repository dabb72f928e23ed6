//! Whether one known value is valid: values of `enum` and `const` are compared with schemas by trying them.

use super::shape::{Node, Schemas, Shape};
use crate::json::{Json, Value};
use crate::model::Kinds;
use crate::schema::Literal;

/// How many schemas are tried for one value before it is given up.
const STEPS: usize = 10_000;
/// How deep schemas refer to each other for one value.
const DEPTH: usize = 200;

/// Whether `node` takes `value`; `None` if that is not known.
pub(super) fn holds(schemas: &mut Schemas, value: &Literal, node: Node) -> Option<bool> {
    let json = crate::json::parse(&value.json).ok()?;
    Trial { schemas, steps: STEPS, depth: 0 }.holds(&json, node)
}

/// Whether `node` takes the string `text`.
pub(super) fn holds_text(schemas: &mut Schemas, text: &str, node: Node) -> Option<bool> {
    let json = Json { at: 0, value: Value::String(text.to_owned()) };
    Trial { schemas, steps: STEPS, depth: 0 }.holds(&json, node)
}

struct Trial<'a> {
    schemas: &'a mut Schemas,
    steps: usize,
    depth: usize,
}

/// Whether all hold: one that does not decides, whatever is not known of others.
fn all(results: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(true);
    for result in results {
        match result {
            Some(true) => {}
            Some(false) => return Some(false),
            None => known = None,
        }
    }
    known
}

fn not(result: Option<bool>) -> Option<bool> {
    result.map(|holds| !holds)
}

impl Trial<'_> {
    fn holds(&mut self, json: &Json, node: Node) -> Option<bool> {
        if self.steps == 0 || self.depth > DEPTH {
            return None;
        }
        self.steps -= 1;
        self.depth += 1;
        let shape = self.schemas.get(node);
        let result = self.shape(json, &shape);
        self.depth -= 1;
        result
    }

    fn shape(&mut self, json: &Json, shape: &Shape) -> Option<bool> {
        let listed = |values: &Vec<Literal>| values.contains(&Literal::of(json));
        if !shape.kinds.meets(Literal::kind_of(json)) || !shape.values.as_ref().is_none_or(listed) {
            return Some(false);
        }
        let itself = self.by_kind(json, shape);
        let others = self.same_value(json, shape);
        all([itself, others])
    }

    fn by_kind(&mut self, json: &Json, shape: &Shape) -> Option<bool> {
        let rules = all(shape.rules.iter().map(|rule| rule.is_kept_by(json)));
        let parts = match &json.value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Some(true),
            Value::String(text) => {
                Some(shape.pattern.as_ref().is_none_or(|pattern| self.schemas.matches(pattern, text)))
            }
            Value::Array(items) => self.array(items, shape),
            Value::Object(members) => {
                let members: Vec<(&str, &Json)> =
                    members.iter().map(|(name, member)| (name.as_str(), &member.json)).collect();
                self.object(&members, shape)
            }
        };
        all([rules, parts])
    }

    fn same_value(&mut self, json: &Json, shape: &Shape) -> Option<bool> {
        let mut results = Vec::new();
        for node in &shape.also {
            results.push(self.holds(json, *node));
        }
        for union in &shape.unions {
            let branches: Vec<_> = union.branches.iter().map(|node| self.holds(json, *node)).collect();
            results.push(if union.exclusive {
                exactly_one(&branches)
            } else {
                not(all(branches.into_iter().map(not)))
            });
        }
        results.extend(shape.not.map(|node| not(self.holds(json, node))));
        if let Some(condition) = &shape.condition {
            let mut branch = |node: Option<Node>| node.map_or(Some(true), |node| self.holds(json, node));
            results.push(match branch(Some(condition.when)) {
                Some(true) => branch(condition.then),
                Some(false) => branch(condition.otherwise),
                None => None,
            });
        }
        for (name, node) in &shape.dependents {
            if json.get(name).is_some() {
                results.push(self.holds(json, *node));
            }
        }
        if shape.metaschema.is_some() || shape.dynamic.is_some() {
            results.push(None);
        }
        all(results)
    }

    fn array(&mut self, items: &[Json], shape: &Shape) -> Option<bool> {
        let mut results = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let node = shape.prefix.get(at).copied().or(shape.items);
            results.extend(node.map(|node| self.holds(item, node)));
        }
        if let Some(contains) = &shape.contains {
            let found: Vec<_> = items.iter().map(|item| self.holds(item, contains.schema)).collect();
            let count = |wanted: Option<bool>| {
                u64::try_from(found.iter().filter(|found| **found == wanted).count()).unwrap_or(u64::MAX)
            };
            let fits = |count: u64| count >= contains.least && contains.most.is_none_or(|most| count <= most);
            let (sure, unsure) = (count(Some(true)), count(None));
            results.push(if unsure == 0 { Some(fits(sure)) } else { None });
        }
        if shape.unevaluated_items.is_some() && !items.is_empty() {
            results.push(None);
        }
        all(results)
    }

    fn object(&mut self, members: &[(&str, &Json)], shape: &Shape) -> Option<bool> {
        let has = |name: &String| members.iter().any(|(own, _)| own == name);
        let mut results = vec![Some(shape.required.iter().all(has))];
        for (name, json) in members {
            let mut nodes: Vec<Node> = shape.properties.get(*name).copied().into_iter().collect();
            for (pattern, node) in &shape.patterns {
                if self.schemas.matches(pattern, name) {
                    nodes.push(*node);
                }
            }
            if nodes.is_empty() {
                nodes.extend(shape.additional);
            }
            for node in nodes {
                results.push(self.holds(json, node));
            }
            if let Some(names) = shape.names {
                let json = Json { at: 0, value: Value::String((*name).to_owned()) };
                results.push(self.holds(&json, names));
            }
        }
        if shape.unevaluated.is_some() && !members.is_empty() {
            results.push(None);
        }
        all(results)
    }
}

fn exactly_one(branches: &[Option<bool>]) -> Option<bool> {
    let sure = branches.iter().filter(|branch| **branch == Some(true)).count();
    let unsure = branches.iter().any(Option::is_none);
    match sure {
        0 if !unsure => Some(false),
        1 if !unsure => Some(true),
        0 | 1 => None,
        _ => Some(false),
    }
}

/// The values of kinds that have only a few.
pub(super) fn all_values(kinds: Kinds) -> Option<Vec<Literal>> {
    if !Kinds::NULL.or(Kinds::BOOLEAN).contains(kinds) {
        return None;
    }
    let values = [(Kinds::NULL, "null"), (Kinds::BOOLEAN, "true"), (Kinds::BOOLEAN, "false")];
    let of_kind = values.into_iter().filter(|(kind, _)| kinds.meets(*kind));
    of_kind.map(|(_, text)| crate::json::parse(text).ok().map(|json| Literal::of(&json))).collect()
}
