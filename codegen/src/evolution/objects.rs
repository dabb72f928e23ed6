//! Members.

use std::collections::{BTreeSet, HashSet};

use super::case::{Case, Flat, Inner};
use super::compare::{Comparison, Reading, Scene, Step};
use super::holds::holds_text;
use super::impossible::Impossible;
use super::shape::{Era, Node, Shape};
use super::words::{self, Direction};
use crate::model::Kinds;
use crate::resolve::Location;

impl Comparison<'_> {
    pub(super) fn objects(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) {
        self.required(scene, reader, step);
        let data = scene.data;
        let mut names: BTreeSet<&str> = data.properties();
        names.extend(reader.properties());
        names.extend(data.required());
        for name in names {
            self.member(scene, reader, name, step);
        }
        for pattern in data.patterns() {
            self.members_like(scene, reader, pattern, step);
        }
        self.other_members(scene, reader, step);
        for part in &reader.parts {
            if let Some(node) = part.names {
                self.names(scene, part, node, step);
            }
        }
    }

    /// Whether what the contract counts as a break, though all data stays valid, counts here.
    pub(super) fn counts_by_contract(&self, scene: &Scene<'_>) -> bool {
        self.direction == Direction::Backward && scene.reading == Reading::Written
    }

    fn required(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) {
        let data = scene.data;
        let has = data.required();
        for part in &reader.parts {
            for name in part.required.iter().filter(|name| !has.contains(name.as_str())) {
                let known = data.speaks_of(self.schemas, name);
                let shown = words::shorten(name);
                let reason = match (self.direction, known) {
                    (Direction::Backward, true) => format!("`{shown}` is required, and earlier data may lack it"),
                    (Direction::Backward, false) => format!("`{shown}` is a new member and required"),
                    (Direction::Forward, true) => {
                        format!("`{shown}` may be missing, and the earlier schema requires it")
                    }
                    (Direction::Forward, false) => {
                        format!("`{shown}` is gone, and the earlier schema requires it")
                    }
                };
                let place = self.place(scene, part, "required");
                step.breaks.push(self.problem(&place, reason));
            }
            for (with, names) in part.dependencies() {
                if self.is_unwritten(scene, with) {
                    continue;
                }
                let own: HashSet<&String> = data.parts.iter().flat_map(|part| part.required_with(with)).collect();
                for name in names.iter().filter(|name| !has.contains(name.as_str()) && !own.contains(name)) {
                    let place = self.place_of(scene, part, &["dependentRequired", "dependencies"]);
                    let (data, schema) = (self.direction.data(), self.direction.reader());
                    let (with, name) = (words::shorten(with), words::shorten(name));
                    let reason = format!("{data} may have `{with}` without `{name}`, which {schema} requires with it");
                    step.breaks.push(self.problem(&place, reason));
                }
            }
        }
    }

    fn member(&mut self, scene: &Scene<'_>, reader: &Flat, name: &str, step: &mut Step) {
        let own = scene.data.member(self.schemas, name);
        let asked = reader.member(self.schemas, name);
        if own.closed.is_some() || Impossible::new(self.schemas).check(&Case::of(own.schemas.iter().copied())) {
            return;
        }
        let written = own.named || !own.schemas.is_empty();
        if !written && scene.reading == Reading::Written {
            return;
        }
        let shown = words::shorten(name);
        if let Some(place) = &asked.closed {
            let place = match self.direction {
                Direction::Backward => place.clone(),
                Direction::Forward => self.place_of_member(scene, name),
            };
            let (data, schema) = (self.direction.data(), self.direction.reader());
            let reason = format!("{data} may have the member `{shown}`, which {schema} does not allow");
            step.breaks.push(self.problem(&place, reason));
            return;
        }
        if self.counts_by_contract(scene)
            && scene.data.properties().contains(name)
            && !reader.speaks_of(self.schemas, name)
        {
            let part = reader.parts.iter().find(|part| part.has("properties"));
            let place = part.map_or_else(|| scene.at.clone(), |part| part.place.join("properties"));
            let reason = format!(
                "the member `{shown}` is gone or has another name: contract section 7 takes that as a break, also \
                 where other members are allowed"
            );
            step.contract.push(self.problem(&place, reason));
        }
        if !asked.schemas.is_empty() {
            step.next.push(self.ask(scene, Case::of(own.schemas), asked.schemas));
        }
    }

    /// Where the schema of now has the member `name` of the data.
    fn place_of_member(&self, scene: &Scene<'_>, name: &str) -> Location {
        let mut now = scene.data.parts.iter().filter(|part| part.era == Era::Now);
        let part = now.find(|part| part.properties.contains_key(name));
        part.map_or_else(|| scene.at.clone(), |part| part.place.join("properties").join(name))
    }

    /// Members whose names match a pattern of the data.
    fn members_like(&mut self, scene: &Scene<'_>, reader: &Flat, pattern: &str, step: &mut Step) {
        let known: HashSet<&str> = scene.data.patterns().into_iter().collect();
        let own = scene.data.members_like(self.schemas, pattern, &known);
        if Impossible::new(self.schemas).check(&Case::of(own.schemas.iter().copied())) {
            return;
        }
        let asked = reader.members_like(self.schemas, pattern, &known);
        if asked.closed.is_some() {
            let (data, schema) = (self.direction.data(), self.direction.reader());
            let pattern = words::shorten(pattern);
            let reason = format!("{data} may have members like `{pattern}`, which {schema} does not allow");
            let place = self.rest_place(scene, &asked);
            step.breaks.push(self.problem(&place, reason));
        } else if !asked.schemas.is_empty() {
            step.next.push(self.ask(scene, Case::of(own.schemas), asked.schemas));
        }
    }

    /// Members that no name and no pattern of the data speaks of.
    fn other_members(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) {
        let own = scene.data.other_members(self.schemas);
        if own.closed.is_some() || Impossible::new(self.schemas).check(&Case::of(own.schemas.iter().copied())) {
            return;
        }
        let asked = reader.other_members(self.schemas);
        let (data, schema) = (self.direction.data(), self.direction.reader());
        if asked.closed.is_some() {
            let place = self.rest_place(scene, &asked);
            let reason = format!("{data} may have members that no schema names, and {schema} allows none");
            step.breaks.push(self.problem(&place, reason));
        } else if !asked.schemas.is_empty() {
            step.next.push(self.ask(scene, Case::of(own.schemas.iter().copied()), asked.schemas));
        }
        let open = !own.named && own.schemas.is_empty();
        if open && scene.reading == Reading::Written {
            return;
        }
        let known = scene.data.patterns();
        let patterns: Vec<Node> = reader
            .parts
            .iter()
            .flat_map(|part| &part.patterns)
            .filter(|(pattern, _)| !known.contains(pattern.as_str()))
            .map(|(_, node)| *node)
            .collect();
        for node in patterns {
            step.next.push(self.ask(scene, Case::of(own.schemas.iter().copied()), [node]));
        }
    }

    fn rest_place(&self, scene: &Scene<'_>, asked: &Inner) -> Location {
        let place = asked.closed.as_ref().filter(|_| self.direction == Direction::Backward);
        let now = || scene.data.parts.iter().find(|part| part.era == Era::Now && part.has("additionalProperties"));
        place
            .cloned()
            .or_else(|| now().map(|part| part.place.join("additionalProperties")))
            .unwrap_or_else(|| scene.at.clone())
    }

    fn names(&mut self, scene: &Scene<'_>, part: &Shape, node: Node, step: &mut Step) {
        let data = scene.data;
        let rest = data.other_members(self.schemas);
        let fits = if rest.closed.is_some() && data.patterns().is_empty() {
            // Every name is known.
            data.properties().into_iter().all(|name| holds_text(self.schemas, name, node) == Some(true))
        } else {
            let own: Vec<Node> = data.parts.iter().filter_map(|part| part.names).collect();
            self.takes(&Case::of(own).only(Kinds::STRING), node, Reading::Valid)
        };
        if !fits {
            let place = self.place(scene, part, "propertyNames");
            let (data, schema) = (self.direction.data(), self.direction.reader());
            let reason = format!("{data} may have members whose names `propertyNames` of {schema} does not take");
            step.breaks.push(self.problem(&place, reason));
        }
    }
}
