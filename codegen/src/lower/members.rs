//! The members of an object, over all the schemas that hold for it.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::Lowering;
use super::node::Node;
use crate::schema::{Schema, SchemaId};

/// What an object may hold.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Members that `properties` name, and the schemas that hold for each.
    pub(super) named: IndexMap<String, Vec<SchemaId>>,
    pub(super) required: Vec<String>,
    /// Schemas that hold for every member that is not named.
    pub(super) rest: Vec<SchemaId>,
    /// Whether some members go by the pattern of their name, so that `rest` does not tell all.
    pub(super) patterned: bool,
}

impl Members {
    /// The schemas of the member `name`; without any it may be any value.
    pub(super) fn of(&self, name: &str) -> Vec<SchemaId> {
        match self.named.get(name) {
            Some(roots) => roots.clone(),
            // Nothing is known of a member that goes by a pattern.
            None if self.patterned => Vec::new(),
            None => self.rest.clone(),
        }
    }
}

/// Names of members that a schema has looked at, for `unevaluatedProperties`.
#[derive(Default)]
struct Evaluated {
    names: HashSet<String>,
    patterns: Vec<String>,
    /// It may have looked at any.
    all: bool,
}

impl Lowering<'_> {
    pub(super) fn members(&mut self, node: &Node) -> Members {
        let mut members = Members::default();
        let mut names: Vec<String> = Vec::new();
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            names.extend(schema.object.properties.keys().cloned());
            for name in &schema.object.required {
                if !members.required.contains(name) {
                    members.required.push(name.clone());
                }
            }
        }
        members.named = names.into_iter().map(|name| (name, Vec::new())).collect();
        for id in &node.schemas {
            let schema = self.arena.get(*id);
            let unevaluated = match schema.object.unevaluated {
                None => None,
                Some(unevaluated) => {
                    let mut evaluated = Evaluated::default();
                    self.evaluated(node, *id, &mut evaluated, 0);
                    (!evaluated.all).then_some((unevaluated, evaluated))
                }
            };
            for (name, roots) in &mut members.named {
                roots.extend(self.member(&schema, name));
                if let Some((root, evaluated)) = &unevaluated
                    && !evaluated.names.contains(name)
                    && !evaluated.patterns.iter().any(|pattern| self.patterns.matches(pattern, name))
                {
                    roots.push(*root);
                }
            }
            members.patterned |= !schema.object.patterns.is_empty();
            members.rest.extend(schema.object.additional);
            if let Some((root, evaluated)) = unevaluated {
                // Of names that were looked at where they have no schema here nothing is known either.
                members.patterned |= !evaluated.patterns.is_empty()
                    || evaluated.names.iter().any(|name| !members.named.contains_key(name));
                members.rest.push(root);
            }
        }
        members
    }

    /// The schemas that `schema` itself has for the member `name`.
    fn member(&mut self, schema: &Schema, name: &str) -> Vec<SchemaId> {
        let mut roots: Vec<SchemaId> = schema.object.properties.get(name).copied().into_iter().collect();
        for (pattern, root) in &schema.object.patterns {
            if self.patterns.matches(pattern, name) {
                roots.push(*root);
            }
        }
        if roots.is_empty() {
            roots.extend(schema.object.additional);
        }
        roots
    }

    /// What the schema `id` and those that hold with it have looked at; those that may or may not hold count in full.
    fn evaluated(&mut self, node: &Node, id: SchemaId, found: &mut Evaluated, depth: usize) {
        if depth > 32 {
            found.all = true;
            return;
        }
        let schema = self.arena.get(id);
        found.names.extend(schema.object.properties.keys().cloned());
        found.patterns.extend(schema.object.patterns.iter().map(|(pattern, _)| pattern.clone()));
        found.all |= schema.conditional || schema.object.additional.is_some();
        found.all |= depth > 0 && schema.object.unevaluated.is_some();
        for also in &schema.also {
            self.evaluated(node, *also, found, depth + 1);
        }
        for union in &schema.unions {
            let chosen = |branch: &SchemaId| node.roots.contains(branch) || node.schemas.contains(branch);
            let only = union.exclusive.then(|| union.branches.iter().find(|branch| chosen(branch)));
            match only.flatten() {
                Some(branch) => self.evaluated(node, *branch, found, depth + 1),
                None => union.branches.iter().for_each(|branch| self.evaluated(node, *branch, found, depth + 1)),
            }
        }
    }
}
