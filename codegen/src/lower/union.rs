//! `anyOf` and `oneOf`: a union where its branches are told apart by kind, by a tag or by their members; otherwise what
//! all branches have in common, so that no value is ever read as the wrong one.

use super::Lowering;
use super::form::{Form, groups};
use super::members::Members;
use super::node::Node;
use crate::model::Kinds;
use crate::schema::{Literal, SchemaId};

/// How many branches are compared with each other.
const MAX_COMPARED: usize = 64;

/// One form of a union.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) node: Node,
    pub(super) kinds: Kinds,
    pub(super) tag: Option<(String, Vec<Literal>)>,
    /// Whether the branch is a schema of its own, which may have a name, or a kind of values.
    pub(super) named: bool,
}

impl Branch {
    pub(super) fn of_kind(node: Node, kinds: Kinds) -> Self {
        Self { node, kinds, tag: None, named: false }
    }
}

impl Lowering<'_> {
    /// The forms of the first union of `node` that tells any apart; `None` if none does.
    pub(super) fn branches(&mut self, node: &Node, kinds: Kinds) -> Option<Vec<Branch>> {
        node.unions(self.arena).into_iter().find_map(|union| self.told_apart(node, kinds, union))
    }

    fn told_apart(&mut self, node: &Node, kinds: Kinds, (id, index): (SchemaId, usize)) -> Option<Vec<Branch>> {
        let roots = self.arena.get(id).unions.get(index)?.branches.clone();
        let mut branches = Vec::new();
        for root in roots {
            let branch = node.with(self.arena, root).map_err(|problem| self.arena.problems.push(problem)).ok()?;
            let left = self.kinds(&branch).and(kinds);
            if !left.is_empty() {
                branches.push((branch, left));
            }
        }
        // Null stands beside the union.
        let mut apart: Vec<Branch> = Vec::new();
        let mut own = vec![Kinds::NONE; branches.len()];
        let mut common = Vec::new();
        let mut objects = None;
        for group in groups(Kinds::ALL) {
            let owners: Vec<usize> = (0..branches.len()).filter(|&index| branches[index].1.meets(group)).collect();
            match owners.as_slice() {
                [] => {}
                [owner] => own[*owner] = own[*owner].or(branches[*owner].1.and(group)),
                _ if group == Kinds::OBJECT => {
                    let nodes: Vec<Node> = owners.iter().map(|&index| branches[index].0.of_kinds(group)).collect();
                    objects = self.objects(&nodes);
                    if objects.is_none() {
                        common.push(group);
                    }
                }
                _ => common.push(kinds.and(group)),
            }
        }
        let decided = node.decided(self.arena);
        let alone = own.iter().filter(|kinds| !kinds.is_empty()).count();
        if alone == 0 && objects.is_none() {
            // Of a union that only adds null the rest is the branch without it.
            return self.only_null_apart(&branches);
        }
        for ((branch, _), kinds) in branches.iter().zip(own) {
            if !kinds.is_empty() {
                apart.push(Branch { node: branch.of_kinds(kinds), kinds, tag: None, named: true });
            }
        }
        apart.extend(objects.unwrap_or_default());
        apart.extend(common.into_iter().map(|kind| Branch::of_kind(decided.of_kinds(kind), kind)));
        Some(apart)
    }

    fn only_null_apart(&mut self, branches: &[(Node, Kinds)]) -> Option<Vec<Branch>> {
        let mut others = branches.iter().filter(|(_, kinds)| *kinds != Kinds::NULL);
        match (others.next(), others.next()) {
            (Some((node, kinds)), None) => {
                Some(vec![Branch { node: node.clone(), kinds: *kinds, tag: None, named: true }])
            }
            _ => None,
        }
    }

    /// Branches that are all objects, if they are told apart.
    fn objects(&mut self, nodes: &[Node]) -> Option<Vec<Branch>> {
        // Of a branch of which little is known nothing can be told.
        if nodes.iter().any(|node| !matches!(self.object_form(node), Form::Struct)) {
            return None;
        }
        let branch = |node: &Node, tag| Branch { node: node.clone(), kinds: Kinds::OBJECT, tag, named: true };
        let members: Vec<Members> = nodes.iter().map(|node| self.members(node)).collect();
        if let Some((name, values)) = self.tag(&members) {
            return Some(
                nodes.iter().zip(values).map(|(node, values)| branch(node, Some((name.clone(), values)))).collect(),
            );
        }
        let compared = members.len() <= MAX_COMPARED;
        let apart = compared && (0..members.len()).all(|a| (0..a).all(|b| self.are_apart(&members[a], &members[b])));
        apart.then(|| nodes.iter().map(|node| branch(node, None)).collect())
    }

    /// A member whose values differ from branch to branch, and its values in each.
    fn tag(&mut self, members: &[Members]) -> Option<(String, Vec<Vec<Literal>>)> {
        let first = members.first()?;
        // One that is always there tells more.
        let mut names: Vec<&String> = first.named.keys().collect();
        names.sort_by_key(|name| !members.iter().all(|members| members.required.contains(*name)));
        for name in names {
            let mut all: Vec<Vec<Literal>> = Vec::new();
            for members in members {
                let Some(roots) = members.named.get(name) else { break };
                let Some(values) = self.node(roots).and_then(|node| self.values(&node)) else { break };
                if all.iter().flatten().any(|other| values.contains(other)) {
                    break;
                }
                all.push(values);
            }
            if all.len() == members.len() {
                return Some((name.clone(), all));
            }
        }
        None
    }

    /// Whether no object can be both: a member that one must have and the other cannot, or not with such a value.
    fn are_apart(&mut self, a: &Members, b: &Members) -> bool {
        let names: Vec<&String> = a.required.iter().chain(&b.required).collect();
        names.into_iter().any(|name| {
            let both = [a.of(name), b.of(name)].map(|roots| self.node(&roots));
            let [Some(in_a), Some(in_b)] = both else { return false };
            let kinds = [self.kinds(&in_a), self.kinds(&in_b)];
            if !kinds[0].meets(kinds[1]) {
                // A member that may be missing on one side tells only if its kinds are none there.
                return kinds.iter().any(|kinds| kinds.is_empty())
                    || (a.required.contains(name) && b.required.contains(name));
            }
            match (self.values(&in_a), self.values(&in_b)) {
                (Some(in_a), Some(in_b)) if a.required.contains(name) && b.required.contains(name) => {
                    !in_a.iter().any(|value| in_b.contains(value))
                }
                _ => false,
            }
        })
    }
}
