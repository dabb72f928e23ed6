//! Whether a known value keeps to a rule.

use super::{Decimal, Literal};
use crate::json::{self, Json, Value};
use crate::model::Rule;

impl Rule {
    /// The keyword that sets the rule.
    pub(crate) fn keyword(&self) -> &'static str {
        match self {
            Self::Kinds(_) => "type",
            Self::Minimum(_) => "minimum",
            Self::Maximum(_) => "maximum",
            Self::ExclusiveMinimum(_) => "exclusiveMinimum",
            Self::ExclusiveMaximum(_) => "exclusiveMaximum",
            Self::MultipleOf(_) => "multipleOf",
            Self::MinLength(_) => "minLength",
            Self::MaxLength(_) => "maxLength",
            Self::MinItems(_) => "minItems",
            Self::MaxItems(_) => "maxItems",
            Self::UniqueItems => "uniqueItems",
            Self::MinProperties(_) => "minProperties",
            Self::MaxProperties(_) => "maxProperties",
            Self::Required(_) => "required",
            Self::DependentRequired(..) => "dependentRequired",
            Self::OneOf(_) => "enum",
            Self::NoneOf(_) => "not",
            Self::Contains(..) => "contains",
            Self::Names(_) => "propertyNames",
        }
    }

    /// Whether `json` keeps to the rule; `None` if that is not known, which is so of numbers beyond all bounds.
    pub(crate) fn is_kept_by(&self, json: &Json) -> Option<bool> {
        match (self, &json.value) {
            (Self::Kinds(kinds), _) => Some(kinds.meets(Literal::kind_of(json))),
            (Self::OneOf(values), _) => among(values, json),
            (Self::NoneOf(values), _) => among(values, json).map(|among| !among),
            (_, Value::Number(text)) => self.is_kept_by_number(text),
            (_, Value::String(text)) => {
                let length = count(text.chars().count());
                Some(match self {
                    Self::MinLength(least) => length >= *least,
                    Self::MaxLength(most) => length <= *most,
                    _ => true,
                })
            }
            (_, Value::Array(items)) => self.is_kept_by_array(items),
            (_, Value::Object(members)) => {
                let number = count(members.len());
                match self {
                    Self::MinProperties(least) => Some(number >= *least),
                    Self::MaxProperties(most) => Some(number <= *most),
                    Self::Required(names) => Some(names.iter().all(|name| members.contains_key(name))),
                    Self::DependentRequired(with, names) => {
                        Some(!members.contains_key(with) || names.iter().all(|name| members.contains_key(name)))
                    }
                    Self::Names(rules) => {
                        let names = members.keys().map(|name| Json { at: 0, value: Value::String(name.clone()) });
                        let kept: Option<Vec<bool>> = names.map(|name| are_kept_by(rules, &name)).collect();
                        kept.map(|kept| kept.into_iter().all(|kept| kept))
                    }
                    _ => Some(true),
                }
            }
            (_, Value::Null | Value::Bool(_)) => Some(true),
        }
    }

    fn is_kept_by_number(&self, number: &str) -> Option<bool> {
        let both = |other: &str| Some((Decimal::parse(number)?, Decimal::parse(other)?));
        match self {
            Self::Minimum(bound) => both(bound).map(|(value, bound)| value >= bound),
            Self::Maximum(bound) => both(bound).map(|(value, bound)| value <= bound),
            Self::ExclusiveMinimum(bound) => both(bound).map(|(value, bound)| value > bound),
            Self::ExclusiveMaximum(bound) => both(bound).map(|(value, bound)| value < bound),
            Self::MultipleOf(divisor) => both(divisor).and_then(|(value, divisor)| value.is_multiple_of(&divisor)),
            _ => Some(true),
        }
    }

    fn is_kept_by_array(&self, items: &[Json]) -> Option<bool> {
        let length = count(items.len());
        match self {
            Self::MinItems(least) => Some(length >= *least),
            Self::MaxItems(most) => Some(length <= *most),
            Self::UniqueItems => {
                let literals: Vec<Literal> = items.iter().map(Literal::of).collect();
                Some(
                    !literals
                        .iter()
                        .enumerate()
                        .any(|(at, item)| literals.iter().skip(at + 1).any(|next| next == item)),
                )
            }
            Self::Contains(least, most, rules) => {
                let kept: Option<Vec<bool>> = items.iter().map(|item| are_kept_by(rules, item)).collect();
                let kept = count(kept?.into_iter().filter(|kept| *kept).count());
                Some((*least..=*most).contains(&kept))
            }
            _ => Some(true),
        }
    }
}

fn are_kept_by(rules: &[Rule], json: &Json) -> Option<bool> {
    let kept: Option<Vec<bool>> = rules.iter().map(|rule| rule.is_kept_by(json)).collect();
    kept.map(|kept| kept.into_iter().all(|kept| kept))
}

/// Whether `json` is one of the values that are written in `values`.
fn among(values: &[String], json: &Json) -> Option<bool> {
    let own = Literal::of(json);
    let values: Option<Vec<Json>> = values.iter().map(|text| json::parse(text).ok()).collect();
    values.map(|values| values.iter().any(|value| Literal::of(value) == own))
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kinds;

    #[test]
    fn a_rule_judges_values_of_its_own_kinds_alone() {
        let number = |rule: fn(String) -> Rule, text: &str| rule(text.to_owned());
        let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<String>>();
        for (rule, kept, broken) in [
            (number(Rule::Minimum, "3"), "3.0", "2.9"),
            (number(Rule::Maximum, "3"), "3", "1e1"),
            (number(Rule::ExclusiveMinimum, "3"), "3.1", "3"),
            (number(Rule::ExclusiveMaximum, "3"), "2", "3.0"),
            (number(Rule::MultipleOf, "0.1"), "0.3", "0.35"),
            (Rule::MinLength(2), r#""éé""#, r#""é""#),
            (Rule::MaxLength(1), r#""é""#, r#""éé""#),
            (Rule::MinItems(1), "[1]", "[]"),
            (Rule::MaxItems(1), "[1]", "[1,2]"),
            (Rule::UniqueItems, "[1,2]", "[1,1.0]"),
            (Rule::Contains(1, 1, vec![Rule::MinLength(1), Rule::Kinds(Kinds::STRING)]), r#"["a",""]"#, r#"["a","b"]"#),
            (Rule::MinProperties(1), r#"{"a":1}"#, "{}"),
            (Rule::MaxProperties(0), "{}", r#"{"a":1}"#),
            (Rule::Required(list(&["a"])), r#"{"a":1}"#, r#"{"b":1}"#),
            (Rule::DependentRequired("a".to_owned(), list(&["b"])), r#"{"b":1}"#, r#"{"a":1}"#),
            (Rule::Names(vec![Rule::MaxLength(1)]), r#"{"a":1}"#, r#"{"ab":1}"#),
        ] {
            let judge = |text: &str| rule.is_kept_by(&json::parse(text).expect("JSON"));
            assert_eq!((judge(kept), judge(broken)), (Some(true), Some(false)), "{rule:?}");
            assert_eq!((judge("null"), judge("true")), (Some(true), Some(true)), "{rule:?}");
        }
    }

    #[test]
    fn listed_values_are_compared_by_value() {
        let judge = |rule: &Rule, text: &str| rule.is_kept_by(&json::parse(text).expect("JSON"));
        let values = || vec!["1".to_owned(), r#"{"a":1,"b":2}"#.to_owned()];
        for (text, listed) in [("1.0", true), (r#"{"b":2,"a":1}"#, true), (r#""1""#, false)] {
            assert_eq!(judge(&Rule::OneOf(values()), text), Some(listed), "{text}");
            assert_eq!(judge(&Rule::NoneOf(values()), text), Some(!listed), "{text}");
        }
        assert_eq!(judge(&Rule::Kinds(Kinds::STRING), "1"), Some(false));
        let beyond = "1e999999999999999999999";
        assert_eq!(judge(&Rule::Minimum("1".to_owned()), beyond), None);
    }
}
