//! Judges what the generator, the compiler and the generated types made of each group, and counts.

use std::collections::BTreeMap;

use anyhow::Result;
use jsonschema::Validator;

use super::ask::Answer;
use super::group::{Group, Part, Source, Value};
use super::json;

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct Measure {
    pub(super) rows: BTreeMap<(Source, Part), Counts>,
    pub(super) lists: Lists,
}

/// Counts of a part of a suite. Values are counted of usable groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) groups: usize,
    /// Generated and compiled.
    pub(super) usable: usize,
    /// Refused by the generator with a reason.
    pub(super) refused: usize,
    pub(super) valid: usize,
    /// Valid, and decoded.
    pub(super) accepted: usize,
    /// Valid, decoded, and encoded as an equal value.
    pub(super) equal: usize,
    pub(super) invalid: usize,
    /// Invalid, and refused by the type.
    pub(super) by_type: usize,
    /// Invalid, and refused by the type or by validation.
    pub(super) by_both: usize,
}

/// What a list names, a line each.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) panics: Vec<String>,
    /// Groups that the generator refuses, by reason.
    pub(super) refused: BTreeMap<String, Vec<String>>,
    pub(super) broken: Vec<String>,
    pub(super) warned: Vec<String>,
    pub(super) valid_refused: Vec<String>,
    pub(super) not_equal: Vec<String>,
    /// Schemas that validation does not take.
    pub(super) not_compiled: Vec<String>,
    /// Valid values that validation refuses.
    pub(super) valid_violates: Vec<String>,
    /// Invalid values of required parts that neither type nor validation refuses.
    pub(super) let_through: Vec<String>,
    /// Invalid values that no type refuses.
    pub(super) let_through_by_type: Vec<String>,
}

impl Measure {
    fn row(&mut self, group: &Group) -> &mut Counts {
        self.rows.entry((group.source, group.part)).or_default()
    }

    /// A group that the generator panics on.
    pub(super) fn panicked(&mut self, group: &Group, text: &str) {
        self.row(group).groups += 1;
        self.lists.panics.push(format!("{}: the generator: {text}", group.title));
    }

    /// A group that the generator refuses.
    pub(super) fn refused(&mut self, group: &Group, problems: &str) {
        let row = self.row(group);
        row.groups += 1;
        row.refused += 1;
        let (place, reason) = first_problem(problems);
        self.lists.refused.entry(reason.to_owned()).or_default().push(format!("{}: {place}", group.title));
    }

    /// A group whose code does not compile.
    pub(super) fn broken(&mut self, group: &Group, error: &str) {
        self.row(group).groups += 1;
        self.lists.broken.push(format!("{} ({}): {error}", group.title, group.id));
    }

    /// A group whose code compiles, perhaps with a warning, and the answers of its type to its values.
    ///
    /// # Errors
    /// If a value is not JSON.
    pub(super) fn usable(&mut self, group: &Group, warning: Option<&str>, answers: &[Answer]) -> Result<()> {
        let row = self.row(group);
        row.groups += 1;
        row.usable += 1;
        self.lists.warned.extend(warning.map(|warning| format!("{} ({}): {warning}", group.title, group.id)));
        let validator = group.rules.compile();
        if let Err(error) = &validator {
            self.lists.not_compiled.push(format!("{}: {error}", group.title));
        }
        for (value, answer) in group.values.iter().zip(answers) {
            if let Answer::Panicked(text) = answer {
                self.lists.panics.push(format!("{}: {text}", group.describe(value)));
            }
            let violates = violates(validator.as_ref().ok(), value)?;
            if value.valid {
                self.valid(group, value, answer, violates)?;
            } else {
                self.invalid(group, value, answer, violates);
            }
        }
        Ok(())
    }

    fn valid(&mut self, group: &Group, value: &Value, answer: &Answer, violates: bool) -> Result<()> {
        self.row(group).valid += 1;
        if violates {
            self.lists.valid_violates.push(group.describe(value));
        }
        match answer {
            Answer::Encoded(encoded) => {
                self.row(group).accepted += 1;
                match json::difference(&group.message(value), encoded)? {
                    None => self.row(group).equal += 1,
                    Some(told) => self.lists.not_equal.push(format!("{}: {told}", group.describe(value))),
                }
            }
            Answer::Unencodable(error) => {
                self.row(group).accepted += 1;
                self.lists.not_equal.push(format!("{}: {error}", group.describe(value)));
            }
            Answer::Refused(error) => self.lists.valid_refused.push(format!("{}: {error}", group.describe(value))),
            // In its own list.
            Answer::Panicked(_) => {}
        }
        Ok(())
    }

    fn invalid(&mut self, group: &Group, value: &Value, answer: &Answer, violates: bool) {
        let by_type = matches!(answer, Answer::Refused(_));
        let row = self.row(group);
        row.invalid += 1;
        row.by_type += usize::from(by_type);
        row.by_both += usize::from(by_type || violates);
        if !by_type {
            self.lists.let_through_by_type.push(group.describe(value));
        }
        if !by_type && !violates && group.part == Part::Required {
            self.lists.let_through.push(group.describe(value));
        }
    }
}

fn violates(validator: Option<&Validator>, value: &Value) -> Result<bool> {
    let Some(validator) = validator else { return Ok(false) };
    Ok(!validator.is_valid(&serde_json::from_str(&value.text)?))
}

/// Where the first of some problems is, and its reason: each is a line `file:line:column: /pointer: reason`.
fn first_problem(problems: &str) -> (&str, &str) {
    let line = problems.lines().next().unwrap_or_default();
    let Some((file, rest)) = line.split_once(": ") else { return ("", line) };
    match rest.split_once(": ") {
        Some((pointer, reason)) if pointer.starts_with('/') => (&line[..file.len() + 2 + pointer.len()], reason),
        _ => (file, rest),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::rules::{Documents, Rules};
    use super::*;

    fn group(values: &[(&str, bool)]) -> Group {
        let value = |(text, valid): &(&str, bool)| Value { title: "t".into(), text: (*text).into(), valid: *valid };
        Group {
            id: "g".into(),
            title: "g".into(),
            source: Source::Draft7,
            part: Part::Required,
            registry: "".into(),
            wrapped: true,
            rules: Rules {
                schema: json!({"type": "integer", "minimum": 1}),
                source: Source::Draft7,
                formats: None,
                documents: Documents { prefix: "none:", folder: "".into() },
            },
            values: values.iter().map(value).collect(),
        }
    }

    fn measured(values: &[(&str, bool)], answers: &[Answer]) -> (Counts, Lists) {
        let mut measure = Measure::default();
        measure.usable(&group(values), None, answers).unwrap();
        (measure.rows[&(Source::Draft7, Part::Required)], measure.lists)
    }

    fn encoded(text: &str) -> Answer {
        Answer::Encoded(text.into())
    }

    fn refused() -> Answer {
        Answer::Refused("no".into())
    }

    #[test]
    fn a_valid_value_must_be_accepted_and_come_back_equal() {
        let values = [("1.0", true), ("2", true), ("3", true), ("4", true), ("5", true)];
        let answers = [
            encoded(r#"{"value":1}"#),
            encoded(r#"{"value":3}"#),
            refused(),
            Answer::Unencodable("no".into()),
            Answer::Panicked("no".into()),
        ];
        let (counts, lists) = measured(&values, &answers);
        assert_eq!(counts, Counts { groups: 1, usable: 1, valid: 5, accepted: 3, equal: 1, ..Counts::default() });
        assert_eq!(lists.not_equal, ["g / t: 2: /value was 2 and is 3", "g / t: 4: no"]);
        assert_eq!(lists.valid_refused, ["g / t: 3: no"]);
        assert_eq!(lists.panics, ["g / t: 5: no"]);
        assert!(lists.valid_violates.is_empty());
    }

    #[test]
    fn an_invalid_value_is_refused_by_the_type_or_by_validation() {
        // The last two are no violation, whatever the suite calls them.
        let values = [("0", false), ("0", false), ("1", false), ("1", false)];
        let answers = [refused(), encoded("{}"), refused(), Answer::Panicked("no".into())];
        let (counts, lists) = measured(&values, &answers);
        assert_eq!(counts, Counts { groups: 1, usable: 1, invalid: 4, by_type: 2, by_both: 3, ..Counts::default() });
        assert_eq!(lists.let_through_by_type, ["g / t: 0", "g / t: 1"]);
        assert_eq!(lists.let_through, ["g / t: 1"]);
        assert_eq!(lists.panics, ["g / t: 1: no"]);
    }

    #[test]
    fn validation_that_refuses_a_valid_value_is_listed() {
        let (counts, lists) = measured(&[("0", true)], &[encoded(r#"{"value":0}"#)]);
        assert_eq!((counts.accepted, counts.equal), (1, 1));
        assert_eq!(lists.valid_violates, ["g / t: 0"]);
    }

    #[test]
    fn a_group_that_cannot_be_used_counts_as_a_group_and_its_values_do_not() {
        let mut measure = Measure::default();
        let group = group(&[("1", true), ("0", false)]);
        measure.panicked(&group, "oh");
        measure.broken(&group, "line 1: no type");
        measure.refused(&group, "group.json:1:2: /not: keyword `not`: no\nother");
        let counts = measure.rows[&(Source::Draft7, Part::Required)];
        assert_eq!(counts, Counts { groups: 3, refused: 1, ..Counts::default() });
        assert_eq!(measure.lists.refused["keyword `not`: no"], ["g: group.json:1:2: /not"]);
        assert_eq!(measure.lists.panics, ["g: the generator: oh"]);
        assert_eq!(measure.lists.broken, ["g (g): line 1: no type"]);
    }

    #[test]
    fn a_problem_has_a_place_and_a_reason() {
        for (problem, place, reason) in [
            ("a.json:1:2: /x/y: bad: worse", "a.json:1:2: /x/y", "bad: worse"),
            ("a.json:1:2: bad: worse", "a.json:1:2", "bad: worse"),
            ("bad", "", "bad"),
            ("", "", ""),
        ] {
            assert_eq!(first_problem(problem), (place, reason));
        }
    }
}
