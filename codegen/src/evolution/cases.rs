//! A set of values as cases, in each of which it is known which branches of `anyOf` and `oneOf` hold.

use std::collections::HashSet;
use std::rc::Rc;

use super::case::{Case, Flat, Side};
use super::impossible::Impossible;
use super::shape::{Node, Schemas, Shape};

/// How many cases a set of values is split into at most. What is not split only makes the comparison less exact.
const MOST: usize = 64;

/// Up to how many branches of `anyOf` are compared with each other.
const FEW: usize = 32;

/// Splits `case` by its unions and conditions; together the cases hold all its values.
pub(super) fn cases(schemas: &mut Schemas, case: &Case) -> Vec<Case> {
    let mut done = Vec::new();
    let mut open = vec![(case.clone(), HashSet::new())];
    while let Some((case, mut split)) = open.pop() {
        // Cases that turn out to be empty make room for others, so that the room alone is no limit.
        if schemas.exhausted() {
            done.push(case);
            continue;
        }
        let flat = Flat::new(schemas, Side::Writer, case.clone());
        if flat.case.kinds.is_empty() {
            continue;
        }
        let room = MOST.saturating_sub(done.len() + open.len());
        match choice(&flat, &mut split) {
            Some(Choice::Union(part, index)) => {
                let Some(union) = part.unions.get(index) else { continue };
                if union.branches.len() > room {
                    open.push((case, split));
                    continue;
                }
                let found = branches(schemas, &case, &union.branches, union.exclusive);
                open.extend(found.into_iter().map(|case| (case, split.clone())));
            }
            Some(Choice::Condition(part)) => {
                let Some(condition) = part.condition.as_ref().filter(|_| room >= 2) else {
                    open.push((case, split));
                    continue;
                };
                open.push((case.with([condition.when]).with(condition.then), split.clone()));
                open.push((case.without(condition.when).with(condition.otherwise), split));
            }
            None => done.push(case),
        }
    }
    done
}

/// What is left to be split.
enum Choice {
    Union(Rc<Shape>, usize),
    Condition(Rc<Shape>),
}

/// The next thing to split by that is not in `split` yet; it is then.
fn choice(flat: &Flat, split: &mut HashSet<(*const Shape, usize)>) -> Option<Choice> {
    for part in &flat.parts {
        for index in 0..part.unions.len() {
            if split.insert((Rc::as_ptr(part), index)) {
                return Some(Choice::Union(Rc::clone(part), index));
            }
        }
        if part.condition.is_some() && split.insert((Rc::as_ptr(part), part.unions.len())) {
            return Some(Choice::Condition(Rc::clone(part)));
        }
    }
    None
}

/// One case a branch; the branches that cannot hold beside it are in `none`.
fn branches(schemas: &mut Schemas, case: &Case, branches: &[Node], exclusive: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, branch) in branches.iter().enumerate() {
        let mut chosen = case.with([*branch]);
        for (other, sibling) in branches.iter().enumerate() {
            let apart = |schemas: &mut Schemas| {
                branches.len() <= FEW && Impossible::new(schemas).check(&case.with([*branch, *sibling]))
            };
            if other != index && (exclusive || apart(schemas)) {
                chosen.none.insert(*sibling);
            }
        }
        cases.push(chosen);
    }
    cases
}
