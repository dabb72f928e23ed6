//! Elements.

use super::case::{Case, Flat};
use super::compare::{Comparison, Reading, Scene, Step};
use super::shape::{Contains, Shape};
use super::words::Direction;

impl Comparison<'_> {
    pub(super) fn arrays(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) {
        let data = scene.data;
        let first = data.elements().max(reader.elements());
        // The one behind the first stands for all that follow.
        for at in 0..=first {
            let length = u64::try_from(at).unwrap_or(u64::MAX);
            // How many there may be is told as a count.
            if data.limits.items.is_within(length) || reader.limits.items.is_within(length) {
                break;
            }
            let own = data.element(self.schemas, at);
            if own.closed.is_some() || own.schemas.iter().any(|node| self.schemas.is_never(*node)) {
                break;
            }
            let asked = reader.element(self.schemas, at);
            if let Some(place) = &asked.closed {
                let (data, schema) = (self.direction.data(), self.direction.reader());
                let place = if self.direction == Direction::Backward { place } else { scene.at };
                let reason = format!("{data} may have more elements than {schema} allows");
                step.breaks.push(self.problem(place, reason));
                break;
            }
            if !asked.schemas.is_empty() {
                step.next.push(self.ask(scene, Case::of(own.schemas), asked.schemas));
            }
        }
        for part in &reader.parts {
            if let Some(contains) = &part.contains {
                self.contains(scene, part, contains, step);
            }
        }
    }

    fn contains(&mut self, scene: &Scene<'_>, part: &Shape, asked: &Contains, step: &mut Step) {
        let data = scene.data;
        let own: Vec<&Contains> = data.parts.iter().filter_map(|part| part.contains.as_ref()).collect();
        let enough = asked.least == 0
            || own.iter().any(|own| {
                own.least >= asked.least && self.takes(&Case::of([own.schema]), asked.schema, Reading::Valid)
            });
        let few = asked.most.is_none_or(|most| {
            data.limits.items.is_within(most)
                || own.iter().any(|own| {
                    own.most.is_some_and(|own| own <= most)
                        && self.takes(&Case::of([asked.schema]), own.schema, Reading::Valid)
                })
        });
        if !enough || !few {
            let place = self.place(scene, part, "contains");
            let (data, schema) = (self.direction.data(), self.direction.reader());
            let reason = format!("{data} need not keep to `contains` of {schema}, as far as the two can be compared");
            step.breaks.push(self.problem(&place, reason));
        }
    }
}
