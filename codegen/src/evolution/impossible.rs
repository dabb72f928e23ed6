//! Whether a set of values is empty, as far as that is plain to see.

use super::case::{Case, Flat, Side};
use super::holds::{all_values, holds};
use super::shape::{Node, Schemas};
use crate::model::Kinds;
use crate::schema::Literal;

/// How many schemas are looked at for one answer.
const STEPS: usize = 500;
/// How deep members are looked into.
const DEPTH: usize = 6;

pub(super) struct Impossible<'a> {
    schemas: &'a mut Schemas,
    steps: usize,
}

impl<'a> Impossible<'a> {
    pub(super) fn new(schemas: &'a mut Schemas) -> Self {
        Self { schemas, steps: STEPS }
    }

    /// Whether no value is in `case`; `false` if that is not known.
    pub(super) fn check(&mut self, case: &Case) -> bool {
        self.at_depth(case, 0)
    }

    fn at_depth(&mut self, case: &Case, depth: usize) -> bool {
        if depth > DEPTH || self.steps == 0 || self.schemas.exhausted() {
            return false;
        }
        self.steps -= 1;
        let flat = Flat::new(self.schemas, Side::Writer, case.clone());
        if flat.case.kinds.is_empty() || self.excluded(&flat) {
            return true;
        }
        if let Some(values) = values(self.schemas, &flat) {
            return values.is_empty();
        }
        let mut kinds = flat.case.kinds.without(flat.limits.excluded(flat.case.kinds));
        if kinds.meets(Kinds::ARRAY) && self.no_array(&flat, depth) {
            kinds = kinds.without(Kinds::ARRAY);
        }
        if kinds.meets(Kinds::OBJECT) && self.no_object(&flat, depth) {
            kinds = kinds.without(Kinds::OBJECT);
        }
        kinds.is_empty() || self.no_branch(&flat, depth)
    }

    /// Whether one of the schemas must not hold, and holds.
    fn excluded(&mut self, flat: &Flat) -> bool {
        let none: Vec<Node> = flat.case.none.iter().copied().collect();
        none.into_iter().any(|node| {
            let target = self.schemas.target(node);
            flat.holds(target) || self.schemas.is_anything(target)
        })
    }

    fn no_branch(&mut self, flat: &Flat, depth: usize) -> bool {
        flat.parts.iter().any(|part| {
            part.unions
                .iter()
                .any(|union| union.branches.iter().all(|branch| self.at_depth(&flat.case.with([*branch]), depth + 1)))
        })
    }

    fn no_array(&mut self, flat: &Flat, depth: usize) -> bool {
        let least = usize::try_from(flat.limits.items.least).unwrap_or(usize::MAX);
        let first = least.min(flat.elements() + 1);
        (0..first).any(|at| {
            let element = flat.element(self.schemas, at);
            element.closed.is_some() || self.at_depth(&Case::of(element.schemas), depth + 1)
        })
    }

    fn no_object(&mut self, flat: &Flat, depth: usize) -> bool {
        flat.required().into_iter().any(|name| {
            let member = flat.member(self.schemas, name);
            member.closed.is_some() || self.at_depth(&Case::of(member.schemas), depth + 1)
        })
    }
}

/// The values in a set, where there are only a few that are known.
pub(super) fn values(schemas: &mut Schemas, flat: &Flat) -> Option<Vec<Literal>> {
    let listed = flat.parts.iter().find_map(|part| part.values.clone());
    let mut values = listed.or_else(|| all_values(flat.case.kinds))?;
    values.retain(|value| {
        flat.case.kinds.meets(value.kind)
            && flat.case.all.iter().all(|node| holds(schemas, value, *node) != Some(false))
            && flat.case.none.iter().all(|node| holds(schemas, value, *node) != Some(true))
    });
    Some(values)
}
