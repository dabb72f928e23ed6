//! Which branches of `anyOf`, `oneOf` and `if` take the data, and the other keywords that hold schemas for the same
//! value.

use std::rc::Rc;

use super::case::Flat;
use super::compare::{Comparison, SINGLE, Scene, Step};
use super::shape::{Condition, Node, Shape, Union};
use crate::error::Problem;
use crate::resolve::Location;

/// Why the rest of the schemas of a pair is not compared.
pub(super) enum Stop {
    /// The answer may be known once the data is of one kind.
    Split,
    /// The data is not valid, whatever the rest says.
    Refused,
}

impl Comparison<'_> {
    /// Adds to `reader` every schema that must hold for the data, and tells what cannot.
    pub(super) fn settle(&mut self, scene: &Scene<'_>, reader: &mut Flat, step: &mut Step) -> Result<(), Stop> {
        let mut told = Step::default();
        let result = self.settle_all(scene, reader, &mut told);
        if !matches!(result, Err(Stop::Split)) {
            step.breaks.extend(told.breaks);
            step.next.extend(told.next);
        }
        result
    }

    fn settle_all(&mut self, scene: &Scene<'_>, reader: &mut Flat, told: &mut Step) -> Result<(), Stop> {
        let mut next = 0;
        while let Some(part) = reader.parts.get(next).map(Rc::clone) {
            next += 1;
            if self.schemas.exhausted() {
                told.breaks.push(self.too_much(scene.at));
                return Err(Stop::Refused);
            }
            for union in &part.unions {
                self.union(scene, reader, &part, union, told)?;
            }
            if let Some(condition) = &part.condition {
                self.condition(scene, reader, condition, told);
            }
            for (name, node) in &part.dependents {
                self.dependent(scene, reader, name, *node, told);
            }
            if let Some(node) = part.not {
                self.not(scene, &part, node, told);
            }
            if let Some(name) = &part.metaschema
                && !scene.data.parts.iter().any(|own| own.metaschema.as_ref() == Some(name))
            {
                let place = self.place(scene, &part, "$ref");
                let reason = format!("what `{}` takes cannot be compared, so a possible break", name.escape_debug());
                told.breaks.push(self.problem(&place, reason));
            }
        }
        Ok(())
    }

    fn union(
        &mut self,
        scene: &Scene<'_>,
        reader: &mut Flat,
        part: &Shape,
        union: &Union,
        step: &mut Step,
    ) -> Result<(), Stop> {
        let keyword = if union.exclusive { "oneOf" } else { "anyOf" };
        let place = self.place(scene, part, keyword);
        let (data, schema) = (self.direction.data(), self.direction.reader());
        let mut open = Vec::new();
        for branch in &union.branches {
            if self.apart(scene, *branch) || self.excluded(scene, *branch) {
                reader.case.none.insert(*branch);
            } else {
                open.push(*branch);
            }
        }
        if open.len() > 1 {
            // A branch may ask for a member that nobody writes.
            let asked: Vec<Node> =
                open.iter().copied().filter(|branch| self.is_unwritten_branch(scene, *branch)).collect();
            if asked.len() < open.len() {
                open.retain(|branch| !asked.contains(branch));
                reader.case.none.extend(asked);
            }
        }
        if let [only] = open.as_slice() {
            reader.add(self.schemas, *only);
            return Ok(());
        }
        if open.is_empty() {
            let reason = format!("some {data} fits no branch of `{keyword}` of {schema}");
            step.breaks.push(self.problem(&place, reason));
            return Err(Stop::Refused);
        }
        let takers: Vec<Node> =
            open.iter().copied().filter(|branch| self.takes(&scene.data.case, *branch, scene.reading)).collect();
        if !takers.is_empty() && !union.exclusive {
            for taker in takers {
                reader.add(self.schemas, taker);
            }
            return Ok(());
        }
        if SINGLE.iter().filter(|kind| scene.data.case.kinds.meets(**kind)).count() > 1 {
            return Err(Stop::Split);
        }
        if let Some(meant) = self.meant(scene, &open).filter(|_| !union.exclusive) {
            // It does not take all; what of it does not fit is told in its own place.
            reader.add(self.schemas, meant);
            return Ok(());
        }
        step.breaks.push(self.undecided(&place, keyword, !takers.is_empty()));
        Ok(())
    }

    /// The one branch of `open` that does not stand for another branch of the data.
    fn meant(&mut self, scene: &Scene<'_>, open: &[Node]) -> Option<Node> {
        let branches = scene.data.parts.iter().flat_map(|part| &part.unions).flat_map(|union| &union.branches);
        let others: Vec<Node> = branches.copied().filter(|branch| !scene.data.holds(*branch)).collect();
        let mut left = open.to_vec();
        left.retain(|branch| !others.iter().any(|other| self.same.check(self.schemas, *other, *branch)));
        match left.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    fn undecided(&self, place: &Location, keyword: &str, several: bool) -> Problem {
        let (data, schema) = (self.direction.data(), self.direction.reader());
        let reason = if several {
            format!("some {data} may fit more than one branch of `{keyword}` of {schema}, so a possible break")
        } else {
            format!("no single branch of `{keyword}` of {schema} takes all {data} of its type, so a possible break")
        };
        self.problem(place, reason)
    }

    fn condition(&mut self, scene: &Scene<'_>, reader: &mut Flat, condition: &Condition, step: &mut Step) {
        let case = &scene.data.case;
        let Condition { when, then, otherwise } = *condition;
        if self.is_not(scene, when) {
            reader.case.none.insert(when);
            otherwise.map(|node| reader.add(self.schemas, node));
        } else if self.takes(case, when, scene.reading) {
            reader.add(self.schemas, when);
            then.map(|node| reader.add(self.schemas, node));
        } else {
            if let Some(node) = then {
                step.next.push(self.ask(scene, case.with([when]), all(reader, node)));
            }
            if let Some(node) = otherwise {
                step.next.push(self.ask(scene, case.without(when), all(reader, node)));
            }
        }
    }

    /// A schema that holds for objects with the member `name`.
    fn dependent(&mut self, scene: &Scene<'_>, reader: &mut Flat, name: &str, node: Node, step: &mut Step) {
        if self.is_unwritten(scene, name) {
            return;
        }
        let data = scene.data;
        let with = data.parts.iter().flat_map(|part| &part.dependents).filter(|(other, _)| other == name);
        let case = data.case.with(with.map(|(_, node)| *node).collect::<Vec<_>>());
        if data.requires(name) {
            reader.add(self.schemas, node);
        } else {
            step.next.push(self.ask(scene, case, all(reader, node)));
        }
    }

    fn not(&mut self, scene: &Scene<'_>, part: &Shape, node: Node, step: &mut Step) {
        if self.is_not(scene, node) {
            return;
        }
        let place = self.place(scene, part, "not");
        let (data, schema) = (self.direction.data(), self.direction.reader());
        let reason = format!("whether `not` of {schema} refuses some {data} cannot be told, so a possible break");
        step.breaks.push(self.problem(&place, reason));
    }
}

/// All that `reader` asks for, and `node`.
fn all(reader: &Flat, node: Node) -> impl Iterator<Item = Node> {
    reader.case.all.iter().copied().chain([node])
}
