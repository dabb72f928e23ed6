//! Whether all data of one schema is valid by another, and what of it is not.
//!
//! A comparison is a list of pairs that all must hold: at the roots, then at each member and element. A pair that is
//! being compared already is taken to hold, as JSON values end where recursive schemas do not.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};

use super::case::{Case, Flat, Side};
use super::cases::cases;
use super::impossible::{Impossible, values};
use super::same::Same;
use super::shape::{Era, Node, Schemas, Shape};
use super::unions::Stop;
use super::words::Direction;
use crate::error::Problem;
use crate::model::Kinds;
use crate::resolve::Location;

/// How many pairs one message may take.
const STEPS: usize = 100_000;
/// How deep a question may lead to another one before the first is answered.
const DEPTH: usize = 64;

/// Which data counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// What publishers write: members that their schema speaks of.
    Written,
    /// Everything that is valid.
    Valid,
}

/// A question: do all of `readers` take all of `data`?
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) data: Case,
    pub(super) readers: BTreeSet<Node>,
    pub(super) reading: Reading,
}

/// What there is to say of one pair.
#[derive(Default)]
pub(super) struct Step {
    pub(super) breaks: Vec<Problem>,
    /// What the contract counts as a break, though all data stays valid.
    pub(super) contract: Vec<Problem>,
    /// The pairs on which the answer depends, each with the place where it is told.
    pub(super) next: Vec<(Pair, Location)>,
}

/// One case of the data of a pair.
pub(super) struct Scene<'a> {
    pub(super) data: &'a Flat,
    pub(super) reading: Reading,
    /// Where things are told that have no better place.
    pub(super) at: &'a Location,
}

/// Compares two states, message by message.
pub(super) struct Comparison<'a> {
    pub(super) schemas: &'a mut Schemas,
    pub(super) direction: Direction,
    pub(super) same: &'a mut Same,
    found: Vec<Problem>,
    /// The pairs that were told of, each with those on which its answer depends.
    told: IndexMap<Pair, Vec<usize>>,
    /// Those of them that are a break by themselves.
    broken: Vec<usize>,
    /// Pairs told of that a question took to hold: what is wrong with them is told in their own place.
    taken: Vec<usize>,
    /// The pairs that hold if all pairs do that are being compared.
    shown: IndexSet<Pair>,
    /// The pairs that do not hold, with the depth from which on that is so: deep down an answer is given up earlier.
    refused: HashMap<Pair, usize>,
    /// Schemas from which no reference leads on that nobody can follow.
    plain: HashSet<Node>,
    steps: usize,
    depth: usize,
    /// Whether a question was given up for its depth.
    gave_up: bool,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(schemas: &'a mut Schemas, same: &'a mut Same, direction: Direction) -> Self {
        Self {
            schemas,
            direction,
            same,
            found: Vec::new(),
            told: IndexMap::new(),
            broken: Vec::new(),
            taken: Vec::new(),
            shown: IndexSet::new(),
            refused: HashMap::new(),
            plain: HashSet::new(),
            steps: 0,
            depth: 0,
            gave_up: false,
        }
    }

    /// Compares the schemas of one message, the first of which says what data there is. Tells by which pair
    /// [`breaks`](Self::breaks) knows it.
    pub(super) fn message(&mut self, data: Node, reader: Node, at: &Location) -> Option<usize> {
        let root = Pair { data: Case::of([data]), readers: BTreeSet::from([reader]), reading: Reading::Written };
        if self.is_same(&root) {
            return None;
        }
        self.steps = STEPS;
        self.schemas.begin();
        let (root, _) = self.told.insert_full(root, Vec::new());
        let dynamic = self.dynamic([data, reader], at);
        if !dynamic.is_empty() {
            self.broken.push(root);
            self.found.extend(dynamic);
        }
        let mut waiting = vec![(root, at.clone())];
        let mut begun = HashSet::from([root]);
        while let Some((index, at)) = waiting.pop() {
            let Some((pair, done)) = self.told.get_index(index) else { continue };
            if !done.is_empty() {
                continue;
            }
            let step = self.step(&pair.clone(), &at);
            if !(step.breaks.is_empty() && step.contract.is_empty()) {
                self.broken.push(index);
            }
            self.found.extend(step.breaks);
            self.found.extend(step.contract);
            let mut depends = std::mem::take(&mut self.taken);
            for (pair, at) in step.next {
                if !self.is_same(&pair) {
                    let (next, _) = self.told.insert_full(pair, Vec::new());
                    depends.push(next);
                    if begun.insert(next) {
                        waiting.push((next, at));
                    }
                }
            }
            // It depends on itself at least: so it is known to be done.
            depends.push(index);
            self.told[index] = depends;
        }
        Some(root)
    }

    /// Every break, and the pairs that do not hold because of them.
    pub(super) fn breaks(self) -> (Vec<Problem>, HashSet<usize>) {
        let mut dependants: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, depends) in self.told.values().enumerate() {
            for other in depends {
                dependants.entry(*other).or_default().push(index);
            }
        }
        let mut broken: HashSet<usize> = self.broken.iter().copied().collect();
        let mut waiting = self.broken;
        while let Some(index) = waiting.pop() {
            let others = dependants.get(&index).into_iter().flatten();
            waiting.extend(others.copied().filter(|other| broken.insert(*other)));
        }
        (self.found, broken)
    }

    /// References that depend on the way that led to them are told as soon as anything has changed.
    fn dynamic(&mut self, roots: [Node; 2], at: &Location) -> Vec<Problem> {
        let (mut now, mut earlier) = (Vec::new(), Vec::new());
        let nodes = self.schemas.reachable(roots, &self.plain);
        for node in &nodes {
            let shape = self.schemas.get(*node);
            let Some(reference) = &shape.dynamic else { continue };
            let reason = format!("where `{}` leads is not known, so a possible break", reference.escape_debug());
            match shape.era {
                Era::Now => now.push(self.problem(&shape.place, reason)),
                Era::Earlier => earlier.push(self.problem(at, reason)),
            }
        }
        if now.is_empty() && earlier.is_empty() {
            self.plain.extend(nodes);
        }
        if now.is_empty() { earlier } else { now }
    }

    /// Whether the answer to `pair` is yes.
    pub(super) fn holds(&mut self, pair: Pair) -> bool {
        if self.depth >= DEPTH || self.schemas.exhausted() {
            self.gave_up = true;
            return false;
        }
        let (mark, taken) = (self.shown.len(), self.taken.len());
        let outer = std::mem::take(&mut self.gave_up);
        self.depth += 1;
        let holds = self.all_hold(pair.clone());
        self.depth -= 1;
        if holds {
            self.gave_up = outer;
        } else {
            // What was shown on the way may rest on this pair.
            self.shown.truncate(mark);
            self.taken.truncate(taken);
            let from = if self.gave_up { self.depth } else { 0 };
            let known = self.refused.entry(pair).or_insert(from);
            *known = from.min(*known);
            self.gave_up |= outer;
        }
        holds
    }

    fn all_hold(&mut self, pair: Pair) -> bool {
        // The place is of no interest here, only whether there is anything to tell.
        let Some(at) =
            pair.readers.iter().chain(&pair.data.all).next().map(|node| self.schemas.get(*node).place.clone())
        else {
            return true;
        };
        let mut waiting = vec![pair];
        while let Some(pair) = waiting.pop() {
            if let Some(told) = self.told.get_index_of(&pair) {
                self.taken.push(told);
                continue;
            }
            if self.shown.contains(&pair) || self.is_same(&pair) {
                continue;
            }
            if let Some(from) = self.refused.get(&pair).copied().filter(|from| self.depth > *from) {
                self.gave_up |= from > 0;
                return false;
            }
            self.shown.insert(pair.clone());
            let step = self.step(&pair, &at);
            if !step.breaks.is_empty() {
                return false;
            }
            waiting.extend(step.next.into_iter().map(|(pair, _)| pair));
        }
        true
    }

    /// Whether data and readers are the same schemas, but for names and documentation.
    fn is_same(&mut self, pair: &Pair) -> bool {
        let Pair { data, readers, .. } = pair;
        data.all.len() == readers.len()
            && readers.iter().all(|reader| data.all.iter().any(|node| self.same.check(self.schemas, *node, *reader)))
            && data.all.iter().all(|node| readers.iter().any(|reader| self.same.check(self.schemas, *node, *reader)))
    }

    /// Whether `reader` takes all of `data`.
    pub(super) fn takes(&mut self, data: &Case, reader: Node, reading: Reading) -> bool {
        let known = data.all.iter().any(|node| self.same.check(self.schemas, *node, reader));
        known || self.holds(Pair { data: data.clone(), readers: BTreeSet::from([reader]), reading })
    }

    /// Whether no value of the data is one of `node`.
    pub(super) fn apart(&mut self, scene: &Scene<'_>, node: Node) -> bool {
        let case = &scene.data.case;
        // Most branches have a tag, so that what else the data is not need not be looked at.
        let plain = Case { none: BTreeSet::new(), ..case.with([node]) };
        Impossible::new(self.schemas).check(&plain)
            || case.none.iter().any(|none| self.same.check(self.schemas, node, *none))
    }

    /// Whether the data is known not to be one of `node` because another schema says so, which takes all of `node`.
    pub(super) fn excluded(&mut self, scene: &Scene<'_>, node: Node) -> bool {
        let none: Vec<Node> = scene.data.case.none.iter().copied().collect();
        none.into_iter().any(|other| self.takes(&Case::of([node]), other, Reading::Valid))
    }

    /// Whether no value of the data is one of `node`, for whatever reason.
    pub(super) fn is_not(&mut self, scene: &Scene<'_>, node: Node) -> bool {
        self.apart(scene, node) || self.excluded(scene, node) || self.is_unwritten_branch(scene, node)
    }

    /// Whether `node` asks for a member that the data does not have.
    pub(super) fn is_unwritten_branch(&mut self, scene: &Scene<'_>, node: Node) -> bool {
        if scene.reading == Reading::Valid || scene.data.case.kinds != Kinds::OBJECT {
            return false;
        }
        let asked = Flat::new(self.schemas, Side::Reader, Case::of([node]));
        asked.required().into_iter().any(|name| self.is_unwritten(scene, name))
    }

    /// Whether the data has no member `name`, as its publishers know nothing of it.
    pub(super) fn is_unwritten(&mut self, scene: &Scene<'_>, name: &str) -> bool {
        let member = scene.data.member(self.schemas, name);
        let open = !member.named && member.schemas.is_empty();
        member.closed.is_some() || (scene.reading == Reading::Written && open)
    }

    fn step(&mut self, pair: &Pair, at: &Location) -> Step {
        let mut step = Step::default();
        if self.steps == 0 {
            step.breaks.push(self.too_much(at));
            return step;
        }
        self.steps -= 1;
        for case in cases(self.schemas, &pair.data) {
            if self.schemas.exhausted() {
                step.breaks.push(self.too_much(at));
                return step;
            }
            if !Impossible::new(self.schemas).check(&case) {
                self.case(case, pair, at, &mut step);
            }
        }
        step
    }

    /// Gives up.
    pub(super) fn too_much(&mut self, at: &Location) -> Problem {
        self.gave_up = true;
        self.problem(at, "there is too much to compare: a possible break")
    }

    fn case(&mut self, case: Case, pair: &Pair, at: &Location, step: &mut Step) {
        let mut data = Flat::new(self.schemas, Side::Writer, case);
        let mut reader = Flat::new(self.schemas, Side::Reader, Case::of(pair.readers.iter().copied()));
        if let Some(values) = values(self.schemas, &data) {
            let scene = Scene { data: &data, reading: pair.reading, at };
            return self.values(&scene, &reader, &values, step);
        }
        if !self.narrow(&mut data, &reader, pair.reading, at, step) {
            return;
        }
        let scene = Scene { data: &data, reading: pair.reading, at };
        match self.settle(&scene, &mut reader, step) {
            Ok(()) => {}
            Err(Stop::Refused) => return,
            Err(Stop::Split) => {
                for kind in SINGLE.into_iter().filter(|kind| data.case.kinds.meets(*kind)) {
                    step.next.push((Pair { data: data.case.only(kind), ..pair.clone() }, at.clone()));
                }
                return;
            }
        }
        reader.finish(self.schemas);
        if !self.narrow(&mut data, &reader, pair.reading, at, step) {
            return;
        }
        let scene = Scene { data: &data, reading: pair.reading, at };
        self.scalars(&scene, &reader, step);
        if data.case.kinds.meets(Kinds::ARRAY) {
            self.arrays(&scene, &reader, step);
        }
        if data.case.kinds.meets(Kinds::OBJECT) {
            self.objects(&scene, &reader, step);
        }
    }

    /// Compares the kinds of values and leaves only those that both have; tells whether there are any.
    fn narrow(&mut self, data: &mut Flat, reader: &Flat, reading: Reading, at: &Location, step: &mut Step) -> bool {
        let more = self.kinds(&Scene { data, reading, at }, reader, step);
        data.case.kinds = data.case.kinds.and(reader.case.kinds);
        more
    }

    /// A pair that belongs to the answer.
    pub(super) fn ask(
        &mut self,
        scene: &Scene<'_>,
        data: Case,
        readers: impl IntoIterator<Item = Node>,
    ) -> (Pair, Location) {
        // Where nothing at all is said of values, nobody knows what publishers write.
        let open = data.all.iter().all(|node| self.schemas.is_anything(*node));
        let reading = if open { Reading::Valid } else { scene.reading };
        let pair = Pair { data, readers: readers.into_iter().collect(), reading };
        let mut now = pair.readers.iter().chain(&pair.data.all).map(|node| self.schemas.get(*node));
        let at = now.find(|shape| shape.era == Era::Now).map(|shape| shape.place.clone());
        (pair, at.unwrap_or_else(|| scene.at.clone()))
    }

    /// The place of a keyword of `reader`, or of what stands for it in the schema of now.
    pub(super) fn place(&self, scene: &Scene<'_>, reader: &Shape, keyword: &str) -> Location {
        self.place_of(scene, reader, &[keyword])
    }

    /// The place of the first of some keywords of `reader`, or of what stands for it in the schema of now.
    pub(super) fn place_of(&self, scene: &Scene<'_>, reader: &Shape, keywords: &[&str]) -> Location {
        let find =
            |shape: &Shape| keywords.iter().find(|keyword| shape.has(keyword)).map(|keyword| shape.place.join(keyword));
        if reader.era == Era::Now {
            return find(reader).unwrap_or_else(|| reader.place.clone());
        }
        let mut now = scene.data.parts.iter().filter(|part| part.era == Era::Now);
        now.find_map(|part| find(part)).unwrap_or_else(|| scene.at.clone())
    }

    pub(super) fn problem(&self, at: &Location, reason: impl AsRef<str>) -> Problem {
        at.problem(format!("{}: {}", self.direction.name(), reason.as_ref()))
    }
}

/// Every kind by itself.
pub(super) const SINGLE: [Kinds; 7] =
    [Kinds::NULL, Kinds::BOOLEAN, Kinds::INTEGER, Kinds::FRACTION, Kinds::STRING, Kinds::ARRAY, Kinds::OBJECT];
