//! The outline of a node: the kinds and values that it leaves, as far as can be seen without following it all the way.

use super::Lowering;
use super::members::Members;
use super::node::Node;
use crate::model::{Kinds, Rule};
use crate::resolve::Location;
use crate::schema::{Limits, Literal, SchemaId};

/// How far the outline of a node looks into the nodes that it depends on.
const MAX_DEPTH: usize = 12;

impl Lowering<'_> {
    /// The kinds that a value may have. None: nothing satisfies the schemas.
    pub(super) fn kinds(&mut self, node: &Node) -> Kinds {
        self.kinds_within(node, 0)
    }

    pub(super) fn is_never(&mut self, node: &Node) -> bool {
        self.kinds(node).is_empty()
    }

    fn kinds_within(&mut self, node: &Node, depth: usize) -> Kinds {
        if depth > MAX_DEPTH {
            return node.key.kinds;
        }
        let kinds = match self.outlines.get(&node.key) {
            Some(kinds) => *kinds,
            None => {
                // While it is looked for: what leads back here is taken to be possible.
                self.outlines.insert(node.key.clone(), node.key.kinds);
                let kinds = self.find_kinds(node, depth);
                self.outlines.insert(node.key.clone(), kinds);
                kinds
            }
        };
        // The rules of a place are no part of the key.
        if node.rules.is_empty() { kinds } else { kinds.without(self.out_of_limits(node, &node.rules, kinds)) }
    }

    /// The kinds by what the key of `node` stands for.
    fn find_kinds(&mut self, node: &Node, depth: usize) -> Kinds {
        let mut kinds = node.key.kinds;
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            kinds = kinds.and(schema.kinds);
            if let Some(not) = schema.not {
                kinds = kinds.without(self.refused(not));
            }
        }
        if let Some(values) = self.values(node) {
            kinds = kinds.and(values.iter().fold(Kinds::NONE, |kinds, value| kinds.or(value.kind)));
        }
        kinds = kinds.without(self.out_of_limits(node, &[], kinds));
        if kinds.contains(Kinds::OBJECT) && self.lacks_a_member(node, depth) {
            kinds = kinds.without(Kinds::OBJECT);
        }
        for (id, index) in node.unions(self.arena) {
            let branches = self.arena.get(id).unions.get(index).map(|union| union.branches.clone()).unwrap_or_default();
            let possible = branches.into_iter().fold(Kinds::NONE, |possible, branch| {
                let branch = self.node(&[branch]).map_or(Kinds::ALL, |branch| self.kinds_within(&branch, depth + 1));
                possible.or(branch)
            });
            kinds = kinds.and(possible);
        }
        kinds
    }

    /// The values that `enum` and `const` leave; `None` without them.
    pub(super) fn values(&mut self, node: &Node) -> Option<Vec<Literal>> {
        let mut left: Option<Vec<Literal>> = None;
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            let Some(values) = &schema.values else { continue };
            left = Some(match left {
                None => values.clone(),
                Some(left) => left.into_iter().filter(|value| values.contains(value)).collect(),
            });
        }
        let mut left = left?;
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            let refused = schema.not.map_or(Kinds::NONE, |not| self.refused(not));
            left.retain(|value| schema.kinds.without(refused).meets(value.kind) && node.key.kinds.meets(value.kind));
            if let Some(refused) = schema.not.and_then(|not| self.refused_values(not)) {
                left.retain(|value| !refused.contains(value));
            }
        }
        Some(left)
    }

    /// The kinds that `not` takes away altogether.
    fn refused(&mut self, not: SchemaId) -> Kinds {
        let Some(node) = self.node(&[not]) else { return Kinds::NONE };
        match node.schemas.as_slice() {
            [] => Kinds::ALL,
            [one] => {
                let schema = self.arena.get(*one);
                let only_kinds = node.rules.is_empty() && schema.says_only_kinds();
                if only_kinds { schema.kinds } else { Kinds::NONE }
            }
            _ => Kinds::NONE,
        }
    }

    /// The values that `not` takes away.
    fn refused_values(&mut self, not: SchemaId) -> Option<Vec<Literal>> {
        let node = self.node(&[not])?;
        let [one] = node.schemas.as_slice() else { return None };
        let schema = self.arena.get(*one);
        schema.says_only_values().then(|| schema.values.clone()).flatten()
    }

    /// Rules of the node's schemas, what is refused by `not`, and what items and names must keep to.
    pub(super) fn all_rules(&mut self, node: &Node) -> Vec<Rule> {
        let mut rules = self.rules(node);
        rules.extend(self.inner_rules(node));
        rules
    }

    fn rules(&mut self, node: &Node) -> Vec<Rule> {
        let mut rules = Vec::new();
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            rules.extend(schema.rules.iter().cloned());
            if let Some(refused) = schema.not.and_then(|not| self.refused_values(not)) {
                rules.push(Rule::NoneOf(refused.into_iter().map(|value| value.json).collect()));
            }
        }
        rules.extend(node.rules.iter().cloned());
        rules.dedup();
        rules
    }

    /// Rules that judge items and names one by one, where such rules say all that the schemas of those say.
    fn inner_rules(&mut self, node: &Node) -> Vec<Rule> {
        let mut rules = Vec::new();
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            if let Some((item, least, most)) = schema.array.contains
                && let Some(item) = self.exact_rules(item)
            {
                rules.push(Rule::Contains(least, most, item));
            }
            if let Some(name) = schema.object.names
                && let Some(name) = self.exact_rules(name)
            {
                rules.push(Rule::Names(name));
            }
        }
        rules
    }

    /// The rules of JSON values that say all that a schema says, if there are such.
    fn exact_rules(&mut self, id: SchemaId) -> Option<Vec<Rule>> {
        let node = self.node(&[id])?;
        if !node.schemas.iter().all(|id| self.arena.get(*id).says_only_rules()) {
            return None;
        }
        let kinds = self.kinds(&node);
        let values = self.values(&node).map(|values| values.into_iter().map(|value| value.json).collect());
        let kinds = (kinds != Kinds::ALL).then_some(Rule::Kinds(kinds));
        Some(kinds.into_iter().chain(values.map(Rule::OneOf)).chain(self.rules(&node)).collect())
    }

    /// The kinds of which no value is within the limits that the schemas of `node` and `rules` set.
    fn out_of_limits(&mut self, node: &Node, rules: &[Rule], kinds: Kinds) -> Kinds {
        let mut limits = Limits::default();
        node.schemas.iter().for_each(|id| limits.add(&self.arena.get(*id).rules));
        limits.add(rules);
        limits.excluded(kinds)
    }

    /// Reports `reason` at `place`, where nothing satisfies `node`; or the cause of it, where that is a member which must
    /// be there and cannot be: of a large schema, the place of the one impossible type in it.
    pub(super) fn report_impossible(&mut self, node: &Node, place: &Location, reason: &str, depth: usize) {
        let objects = node.schemas.iter().all(|id| self.arena.get(*id).kinds.meets(Kinds::OBJECT));
        let members = if objects && depth < MAX_DEPTH { self.members(node) } else { Members::default() };
        let mut is_the_cause = true;
        for name in &members.required {
            let Some(member) = self.node(&members.of(name)).filter(|member| self.is_never(member)) else { continue };
            is_the_cause = false;
            let reason =
                format!("no value satisfies this schema, and the member `{}` is required", name.escape_debug());
            self.report_impossible(&member, &member.place, &reason, depth + 1);
        }
        if is_the_cause {
            self.arena.report(place, reason);
        }
    }

    /// Whether a member must be there and cannot be.
    fn lacks_a_member(&mut self, node: &Node, depth: usize) -> bool {
        let members = self.members(node);
        members.required.iter().any(|name| {
            self.node(&members.of(name)).is_some_and(|member| self.kinds_within(&member, depth + 1).is_empty())
        })
    }
}
