//! Whether two schemas say the same in the same way, whatever their names and their documentation.

use std::collections::{HashMap, HashSet};

use super::shape::{Node, Schemas, Shape};

/// Pairs of schemas that were compared.
#[derive(Default)]
pub(super) struct Same {
    same: HashSet<(Node, Node)>,
    other: HashSet<(Node, Node)>,
}

impl Same {
    /// Whether `a` and `b` are the same; `false` also where only their meaning is.
    pub(super) fn check(&mut self, schemas: &mut Schemas, a: Node, b: Node) -> bool {
        // The pairs on the way, each with the one that led to it.
        let mut steps: Vec<((Node, Node), usize)> = Vec::new();
        let mut assumed = HashSet::new();
        let mut waiting = vec![((schemas.target(a), schemas.target(b)), 0)];
        while let Some((pair, from)) = waiting.pop() {
            if pair.0 == pair.1 || self.same.contains(&pair) || !assumed.insert(pair) {
                continue;
            }
            let here = steps.len();
            steps.push((pair, from));
            let inner = if self.other.contains(&pair) {
                None
            } else {
                let (left, right) = (schemas.get(pair.0), schemas.get(pair.1));
                itself(&left, &right)
            };
            let Some(inner) = inner else {
                self.differ(&steps);
                return false;
            };
            waiting.extend(inner.into_iter().map(|(a, b)| ((schemas.target(a), schemas.target(b)), here)));
        }
        self.same.extend(assumed);
        true
    }

    /// Notes that the last of `steps` differs, and so do all that led to it.
    fn differ(&mut self, steps: &[((Node, Node), usize)]) {
        let mut at = steps.len().saturating_sub(1);
        while let Some((pair, from)) = steps.get(at) {
            self.other.insert(*pair);
            if at == *from {
                break;
            }
            at = *from;
        }
    }
}

/// The pairs of schemas inside `a` and `b` that must be the same, too; `None` if the two differ without them.
fn itself(a: &Shape, b: &Shape) -> Option<Vec<(Node, Node)>> {
    let set = |names: &[String]| names.iter().cloned().collect::<HashSet<_>>();
    let listed = match (&a.values, &b.values) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().all(|value| b.contains(value)),
        (None, None) => true,
        _ => false,
    };
    let rules = a.rules.len() == b.rules.len() && a.rules.iter().all(|rule| b.rules.contains(rule));
    let alike = a.kinds == b.kinds
        && listed
        && rules
        && a.pattern == b.pattern
        && set(&a.required) == set(&b.required)
        && a.metaschema == b.metaschema
        && a.dynamic == b.dynamic;
    if !alike {
        return None;
    }
    let mut pairs = Pairs(Vec::new());
    pairs.lists(&a.also, &b.also)?;
    pairs.lists(&a.prefix, &b.prefix)?;
    if a.unions.len() != b.unions.len() {
        return None;
    }
    for (a, b) in a.unions.iter().zip(&b.unions) {
        if a.exclusive != b.exclusive {
            return None;
        }
        pairs.lists(&a.branches, &b.branches)?;
    }
    let condition = |shape: &Shape| shape.condition.as_ref().map(|it| [Some(it.when), it.then, it.otherwise]);
    let (one, other) = (condition(a).unwrap_or_default(), condition(b).unwrap_or_default());
    for (a, b) in one.into_iter().zip(other) {
        pairs.one(a, b)?;
    }
    let contained = |shape: &Shape| shape.contains.as_ref().map(|it| (it.least, it.most));
    if contained(a) != contained(b) {
        return None;
    }
    pairs.one(a.contains.as_ref().map(|it| it.schema), b.contains.as_ref().map(|it| it.schema))?;
    for (a, b) in [
        (a.not, b.not),
        (a.additional, b.additional),
        (a.unevaluated, b.unevaluated),
        (a.names, b.names),
        (a.items, b.items),
        (a.unevaluated_items, b.unevaluated_items),
    ] {
        pairs.one(a, b)?;
    }
    let members = |shape: &Shape| shape.properties.iter().map(|(name, node)| (name.clone(), *node)).collect::<Vec<_>>();
    pairs.named(&members(a), &members(b))?;
    pairs.named(&a.patterns, &b.patterns)?;
    pairs.named(&a.dependents, &b.dependents)?;
    Some(pairs.0)
}

struct Pairs(Vec<(Node, Node)>);

impl Pairs {
    fn one(&mut self, a: Option<Node>, b: Option<Node>) -> Option<()> {
        match (a, b) {
            (Some(a), Some(b)) => self.0.push((a, b)),
            (None, None) => {}
            _ => return None,
        }
        Some(())
    }

    fn lists(&mut self, a: &[Node], b: &[Node]) -> Option<()> {
        let alike = a.len() == b.len();
        alike.then(|| self.0.extend(a.iter().copied().zip(b.iter().copied())))
    }

    fn named(&mut self, a: &[(String, Node)], b: &[(String, Node)]) -> Option<()> {
        if a.len() != b.len() {
            return None;
        }
        let b: HashMap<&str, Node> = b.iter().map(|(name, node)| (name.as_str(), *node)).collect();
        for (name, node) in a {
            self.0.push((*node, *b.get(name.as_str())?));
        }
        Some(())
    }
}
