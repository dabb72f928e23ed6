//! Kinds, known values, numbers and strings.

use super::case::Flat;
use super::compare::{Comparison, Scene, Step};
use super::holds::holds;
use super::words;
use crate::model::{Kinds, Rule};
use crate::schema::Literal;

impl Comparison<'_> {
    /// Tries each value where the data has only a few.
    pub(super) fn values(&mut self, scene: &Scene<'_>, reader: &Flat, values: &[Literal], step: &mut Step) {
        let (mut refused, mut unknown) = (Vec::new(), Vec::new());
        for value in values {
            let results: Vec<_> = reader.case.all.iter().map(|node| holds(self.schemas, value, *node)).collect();
            if results.contains(&Some(false)) {
                refused.push(value.clone());
            } else if results.contains(&None) {
                unknown.push(value.clone());
            }
        }
        let part = reader.parts.iter().find(|part| part.values.is_some());
        let Some(part) = part.or_else(|| reader.parts.first()) else { return };
        let place = self.place_of(scene, part, &["enum", "const"]);
        let (data, schema) = (self.direction.data(), self.direction.reader());
        if !refused.is_empty() {
            let refused = words::values(&refused);
            step.breaks.push(self.problem(&place, format!("{data} may be {refused}, which {schema} does not take")));
        }
        if !unknown.is_empty() {
            let unknown = words::values(&unknown);
            let reason = format!("whether {schema} takes {unknown} is not known, so a possible break");
            step.breaks.push(self.problem(&place, reason));
        }
    }

    /// Compares the kinds of values, and tells whether there is more to compare.
    pub(super) fn kinds(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) -> bool {
        let (data, schema) = (self.direction.data(), self.direction.reader());
        if let Some(part) = reader.parts.iter().find(|part| part.values.is_some()) {
            let place = self.place_of(scene, part, &["enum", "const"]);
            let reason = format!("{data} may be any value of its type, and {schema} lists those that it takes");
            step.breaks.push(self.problem(&place, reason));
            return false;
        }
        let missing = scene.data.case.kinds.without(reader.case.kinds);
        if !missing.is_empty() {
            let part = reader.parts.iter().find(|part| !part.kinds.contains(missing));
            let place = part.map_or_else(|| scene.at.clone(), |part| self.place(scene, part, "type"));
            let (missing, taken) = (words::kinds(missing), words::kinds(reader.case.kinds));
            let reason = format!("{data} may be {missing}, and {schema} takes only {taken}");
            step.breaks.push(self.problem(&place, reason));
        }
        self.retyped(scene, reader, step);
        scene.data.case.kinds.meets(reader.case.kinds)
    }

    /// The one type that holds another one: whole numbers are numbers.
    fn retyped(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) {
        let typed = |flat: &Flat, kinds: Kinds| {
            flat.case.kinds == kinds && flat.parts.iter().any(|part| part.typed && part.kinds == kinds)
        };
        if self.counts_by_contract(scene) && typed(scene.data, Kinds::INTEGER) && typed(reader, Kinds::NUMBER) {
            let part = reader.parts.iter().find(|part| part.typed);
            let place = part.map_or_else(|| scene.at.clone(), |part| self.place(scene, part, "type"));
            let reason = "`integer` has become `number`: every earlier value is still valid, but contract section 7 \
                          takes another type as a break";
            step.contract.push(self.problem(&place, reason));
        }
    }

    /// Numbers, strings, and how many elements and members there are.
    pub(super) fn scalars(&mut self, scene: &Scene<'_>, reader: &Flat, step: &mut Step) {
        let data = scene.data;
        let limits = &data.limits;
        let kinds = data.case.kinds;
        let whole = !kinds.meets(Kinds::FRACTION);
        let required = u64::try_from(data.required().len()).unwrap_or(u64::MAX);
        for part in &reader.parts {
            for rule in &part.rules {
                let kept = match rule {
                    Rule::Minimum(_)
                    | Rule::Maximum(_)
                    | Rule::ExclusiveMinimum(_)
                    | Rule::ExclusiveMaximum(_)
                    | Rule::MultipleOf(_) => !kinds.meets(Kinds::NUMBER) || limits.keep(rule, whole),
                    Rule::MinLength(least) => !kinds.meets(Kinds::STRING) || limits.length.least >= *least,
                    Rule::MaxLength(most) => !kinds.meets(Kinds::STRING) || limits.length.is_within(*most),
                    Rule::MinItems(least) => !kinds.meets(Kinds::ARRAY) || limits.items.least >= *least,
                    Rule::MaxItems(most) => !kinds.meets(Kinds::ARRAY) || limits.items.is_within(*most),
                    Rule::UniqueItems => !kinds.meets(Kinds::ARRAY) || limits.unique || limits.items.is_within(1),
                    Rule::MinProperties(least) => {
                        !kinds.meets(Kinds::OBJECT) || limits.properties.least.max(required) >= *least
                    }
                    Rule::MaxProperties(most) => !kinds.meets(Kinds::OBJECT) || limits.properties.is_within(*most),
                    _ => true,
                };
                // A bound beyond all numbers is known by its text.
                if kept || data.parts.iter().any(|own| own.rules.contains(rule)) {
                    continue;
                }
                if let Some((keyword, said)) = words::rule(rule) {
                    let place = self.place(scene, part, keyword);
                    let (data, schema) = (self.direction.data(), self.direction.reader());
                    let reason = format!("{data} need not keep to `{keyword}` {said} of {schema}");
                    step.breaks.push(self.problem(&place, reason));
                }
            }
            self.pattern(scene, part, step);
        }
    }

    fn pattern(&mut self, scene: &Scene<'_>, part: &super::shape::Shape, step: &mut Step) {
        let Some(pattern) = part.pattern.as_ref().filter(|_| scene.data.case.kinds.meets(Kinds::STRING)) else {
            return;
        };
        if scene.data.parts.iter().any(|own| own.pattern.as_ref() == Some(pattern)) {
            return;
        }
        let changed = scene.data.parts.iter().any(|own| own.pattern.is_some());
        let (data, schema) = (self.direction.data(), self.direction.reader());
        let pattern = words::shorten(pattern);
        let reason = if changed {
            format!(
                "{data} may not match the `pattern` `{pattern}` of {schema}: patterns cannot be compared, so another one is a possible break"
            )
        } else {
            format!("{data} need not match the `pattern` `{pattern}` of {schema}")
        };
        let place = self.place(scene, part, "pattern");
        step.breaks.push(self.problem(&place, reason));
    }
}
