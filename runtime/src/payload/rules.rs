//! The rules of a schema that a value must keep to beyond its type, and that cost little to check.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{HashMap, HashSet},
    fmt,
};

use crate::json::{self, Kind, Number};

/// All rules of a value.
pub type Rules = &'static [Rule];

/// A rule, named like the keyword of JSON Schema. It says nothing of values of other kinds than its own.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The kinds that a value may be of.
    Kinds(&'static [Kind]),
    /// The least number.
    Minimum(Bound),
    /// The largest number.
    Maximum(Bound),
    /// What a number must be above.
    ExclusiveMinimum(Bound),
    /// What a number must be below.
    ExclusiveMaximum(Bound),
    /// What a number must be a multiple of.
    MultipleOf(Bound),
    /// The least number of characters (Unicode code points).
    MinLength(u64),
    /// The largest number of characters (Unicode code points).
    MaxLength(u64),
    /// The least number of items.
    MinItems(u64),
    /// The largest number of items.
    MaxItems(u64),
    /// No two items are equal.
    UniqueItems,
    /// The least number of members.
    MinProperties(u64),
    /// The largest number of members.
    MaxProperties(u64),
    /// Members that must be there.
    Required(&'static [&'static str]),
    /// A member, and those that must be there with it.
    DependentRequired(&'static str, &'static [&'static str]),
    /// The only values, as JSON.
    OneOf(&'static [&'static str]),
    /// Values that are not allowed, as JSON.
    NoneOf(&'static [&'static str]),
    /// The least and the largest number of items that keep to these rules.
    Contains(u64, u64, Rules),
    /// What the name of each member must keep to.
    Names(Rules),
    /// What each item of a list, and each value of a map, must keep to.
    Each(Rules),
    /// What the item at this index of a tuple must keep to.
    At(usize, Rules),
}

/// A number in a rule.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// Without a fraction.
    Whole(i128),
    /// For numbers that are doubles themselves.
    Float(f64),
    /// As it is spelled.
    Exact(&'static str),
}

/// Which rule is broken, or nothing.
pub(super) type Checked = Result<(), String>;

impl Rule {
    /// Whether the rule can only be judged by the text of a value.
    pub(super) fn needs_text(&self) -> bool {
        matches!(self, Self::UniqueItems | Self::OneOf(_) | Self::NoneOf(_) | Self::Contains(..) | Self::Names(_))
    }

    /// Whether the rule asks for the member `name`.
    pub(super) fn names(&self, name: &str) -> bool {
        match self {
            Self::Required(names) => names.contains(&name),
            Self::DependentRequired(member, names) => *member == name || names.contains(&name),
            _ => false,
        }
    }
}

/// What each item must keep to.
pub(super) fn each(rules: Rules) -> Rules {
    rules.iter().find_map(|rule| if let Rule::Each(rules) = rule { Some(*rules) } else { None }).unwrap_or_default()
}

/// What the item at `index` must keep to.
pub(super) fn at(index: usize, rules: Rules) -> Rules {
    let found = rules.iter().find_map(|rule| match rule {
        Rule::At(at, rules) if *at == index => Some(*rules),
        _ => None,
    });
    found.unwrap_or_default()
}

impl Bound {
    fn spelled(&self) -> Cow<'static, str> {
        match self {
            Self::Whole(value) => Cow::Owned(value.to_string()),
            Self::Float(value) => Cow::Owned(spelled(*value)),
            Self::Exact(text) => Cow::Borrowed(text),
        }
    }

    fn compare(&self, number: Number<'_>) -> Option<Ordering> {
        Some(number.cmp(&Number::parse(&self.spelled())?))
    }

    /// Whether `number` is a multiple, as far as can be told.
    fn divides(&self, number: Number<'_>) -> bool {
        Number::parse(&self.spelled()).and_then(|divisor| number.is_multiple_of(divisor)).unwrap_or(true)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Exact(text) => f.write_str(text),
        }
    }
}

/// The shortest spelling that stands for this double.
fn spelled(value: f64) -> String {
    format!("{value:e}")
}

pub(super) fn integer(value: i128, rules: Rules) -> Checked {
    let exact = |bound: &Bound| bound.compare(Number::parse(&value.to_string())?);
    numeric(
        rules,
        |bound| if let Bound::Whole(bound) = bound { Some(value.cmp(bound)) } else { exact(bound) },
        |bound| match bound {
            Bound::Whole(bound) => value.checked_rem(*bound).is_none_or(|rest| rest == 0),
            bound => Number::parse(&value.to_string()).is_none_or(|value| bound.divides(value)),
        },
    )
}

pub(super) fn float(value: f64, rules: Rules) -> Checked {
    #[allow(clippy::cast_precision_loss)] // The nearest double: the value is one, too.
    let nearest = |bound: &Bound| match bound {
        Bound::Whole(bound) => Some(*bound as f64),
        Bound::Float(bound) => Some(*bound),
        Bound::Exact(text) => text.parse().ok(),
    };
    numeric(
        rules,
        |bound| value.partial_cmp(&nearest(bound)?),
        |bound| Number::parse(&spelled(value)).is_none_or(|value| bound.divides(value)),
    )
}

fn numeric(rules: Rules, compare: impl Fn(&Bound) -> Option<Ordering>, divides: impl Fn(&Bound) -> bool) -> Checked {
    for rule in rules {
        let broken = match rule {
            Rule::Minimum(bound) if compare(bound) == Some(Ordering::Less) => format!("below the minimum {bound}"),
            Rule::Maximum(bound) if compare(bound) == Some(Ordering::Greater) => format!("above the maximum {bound}"),
            Rule::ExclusiveMinimum(bound) if matches!(compare(bound), Some(Ordering::Less | Ordering::Equal)) => {
                format!("not above the exclusive minimum {bound}")
            }
            Rule::ExclusiveMaximum(bound) if matches!(compare(bound), Some(Ordering::Greater | Ordering::Equal)) => {
                format!("not below the exclusive maximum {bound}")
            }
            Rule::MultipleOf(bound) if !divides(bound) => format!("no multiple of {bound}"),
            _ => continue,
        };
        return Err(broken);
    }
    Ok(())
}

pub(super) fn string(text: &str, rules: Rules) -> Checked {
    for rule in rules {
        let characters = || text.chars().count() as u64;
        let broken = match rule {
            Rule::MinLength(least) if characters() < *least => format!("shorter than {}", count(*least, "character")),
            // A character has one byte or more.
            Rule::MaxLength(most) if text.len() as u64 > *most && characters() > *most => {
                format!("longer than {}", count(*most, "character"))
            }
            _ => continue,
        };
        return Err(broken);
    }
    Ok(())
}

pub(super) fn array(len: usize, rules: Rules) -> Checked {
    for rule in rules {
        let broken = match rule {
            Rule::MinItems(least) if (len as u64) < *least => format!("fewer than {}", count(*least, "item")),
            Rule::MaxItems(most) if len as u64 > *most => format!("more than {}", count(*most, "item")),
            _ => continue,
        };
        return Err(broken);
    }
    Ok(())
}

pub(super) fn object(len: usize, has: impl Fn(&str) -> bool, rules: Rules) -> Checked {
    for rule in rules {
        let absent = |names: &[&'static str]| names.iter().copied().find(|name| !has(name));
        let broken = match rule {
            Rule::MinProperties(least) if (len as u64) < *least => format!("fewer than {}", count(*least, "member")),
            Rule::MaxProperties(most) if len as u64 > *most => format!("more than {}", count(*most, "member")),
            Rule::Required(names) => match absent(names) {
                Some(name) => missing(name),
                None => continue,
            },
            Rule::DependentRequired(member, names) if has(member) => match absent(names) {
                Some(name) => format!("{}, which belongs to `{}`", missing(name), member.escape_debug()),
                None => continue,
            },
            _ => continue,
        };
        return Err(broken);
    }
    Ok(())
}

/// Checks every rule on the text of a value.
pub(super) fn text(text: &str, rules: Rules) -> Checked {
    for rule in rules {
        match rule {
            Rule::Kinds(kinds) if !kinds.contains(&Kind::of(text)) => return Err(expected(kinds, text)),
            Rule::OneOf(values) if !values.iter().any(|value| json::equal(value, text)) => {
                return Err(format!("the value is not one of {}", listed(values)));
            }
            Rule::NoneOf(values) if values.iter().any(|value| json::equal(value, text)) => {
                return Err("the value is one of those that are not allowed".to_owned());
            }
            _ => {}
        }
    }
    match Kind::of(text) {
        Kind::Null | Kind::Boolean => Ok(()),
        Kind::Integer | Kind::Fraction => match Number::parse(text) {
            Some(number) => numeric(rules, |bound| bound.compare(number), |bound| bound.divides(number)),
            None => Ok(()),
        },
        Kind::String => match json::unquote(text) {
            Some(text) => string(&text, rules),
            None => Ok(()),
        },
        Kind::Array => {
            array(json::items(text).count(), rules)?;
            rules.iter().try_for_each(|rule| match rule {
                Rule::UniqueItems => unique(text),
                Rule::Contains(least, most, rules) => contains(text, *least, *most, rules),
                _ => Ok(()),
            })
        }
        Kind::Object => {
            let names: HashSet<_> = json::members(text).filter_map(|(name, _)| json::unquote(name)).collect();
            object(names.len(), |name| names.contains(name), rules)?;
            rules.iter().try_for_each(|rule| match rule {
                Rule::Names(rules) => named(object_names(text), rules),
                _ => Ok(()),
            })
        }
    }
}

/// The names of an object's members, as they are spelled.
fn object_names(object: &str) -> impl Iterator<Item = &str> {
    json::members(object).map(|(name, _)| name)
}

fn named<'a>(mut names: impl Iterator<Item = &'a str>, rules: Rules) -> Checked {
    names.try_for_each(|name| {
        text(name, rules).map_err(|reason| format!("the name {} of a member is not allowed: {reason}", cut(name)))
    })
}

fn contains(array: &str, least: u64, most: u64, rules: Rules) -> Checked {
    let found = json::items(array).filter(|item| text(item, rules).is_ok()).count() as u64;
    if found < least {
        return Err(format!("fewer than {} as asked for", count(least, "item")));
    }
    if found > most { Err(format!("more than {} as asked for", count(most, "item"))) } else { Ok(()) }
}

fn unique(array: &str) -> Checked {
    let mut seen = HashMap::new();
    for (index, item) in json::items(array).enumerate() {
        if let Some(earlier) = seen.insert(json::canonical(item), index) {
            return Err(format!("the items {earlier} and {index} are equal, and items have to be unique"));
        }
    }
    Ok(())
}

/// What is wrong with a value of another kind.
pub(super) fn expected(kinds: &[Kind], text: &str) -> String {
    let mut names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    if kinds.contains(&Kind::Integer) && kinds.contains(&Kind::Fraction) {
        names.retain(|name| *name != Kind::Fraction.name());
        names.iter_mut().filter(|name| **name == Kind::Integer.name()).for_each(|name| *name = "a number");
    }
    format!("found {}, expected {}", Kind::of(text).name(), names.join(" or "))
}

/// What is wrong without the member `name`.
pub(super) fn missing(name: &str) -> String {
    format!("missing member `{}`", name.escape_debug())
}

/// Values for an error: the first of them, each cut to a sane length.
pub(super) fn listed(values: &[&str]) -> String {
    const VALUES: usize = 12;
    let shown: Vec<_> = values.iter().take(VALUES).map(|value| format!("`{}`", cut(value))).collect();
    let more = values.len().saturating_sub(VALUES);
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// `text` for an error: on one line, and not longer than one.
pub(super) fn cut(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let mut shown: String = text.chars().take(CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        shown.push('…');
    }
    shown.replace("\\\"", "\"")
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(checked: Checked) -> String {
        checked.expect_err("a broken rule")
    }

    #[test]
    fn bounds_of_integers_hold_to_the_last_digit() {
        const RULES: Rules =
            &[Rule::Minimum(Bound::Whole(-2)), Rule::ExclusiveMaximum(Bound::Exact("9007199254740993.5"))];
        for value in [-2, 0, 9_007_199_254_740_993] {
            assert_eq!(integer(value, RULES), Ok(()));
        }
        assert_eq!(broken(integer(-3, RULES)), "below the minimum -2");
        assert_eq!(broken(integer(9_007_199_254_740_994, RULES)), "not below the exclusive maximum 9007199254740993.5");
        assert_eq!(broken(integer(5, &[Rule::Maximum(Bound::Whole(4))])), "above the maximum 4");
        assert_eq!(broken(integer(4, &[Rule::ExclusiveMinimum(Bound::Whole(4))])), "not above the exclusive minimum 4");
    }

    #[test]
    fn bounds_of_doubles_are_met_by_what_is_written_like_them() {
        const RULES: Rules = &[Rule::ExclusiveMinimum(Bound::Float(0.1)), Rule::Maximum(Bound::Whole(2))];
        assert_eq!(float(2.0, RULES), Ok(()));
        assert_eq!(broken(float(0.1, RULES)), "not above the exclusive minimum 0.1");
        assert_eq!(broken(float(2.0000001, RULES)), "above the maximum 2");
    }

    #[test]
    fn multiples_are_exact_where_they_can_be_and_taken_where_not() {
        let multiple = |value: f64, of: &'static str| {
            let rules: Rules = Box::leak(Box::new([Rule::MultipleOf(Bound::Exact(of))]));
            float(value, rules).is_ok()
        };
        assert!(multiple(0.0075, "0.0001") && !multiple(0.00751, "0.0001"));
        assert!(!multiple(1e308, "0.123456789") && multiple(1e308, "0.5") && multiple(4.35, "0.01"));
        assert!(multiple(1.0, "0.1234567890123456789012345"));
        assert_eq!(broken(integer(7, &[Rule::MultipleOf(Bound::Whole(2))])), "no multiple of 2");
        assert_eq!(integer(i128::MIN, &[Rule::MultipleOf(Bound::Whole(-1))]), Ok(()));
        assert_eq!(integer(3, &[Rule::MultipleOf(Bound::Exact("1.5"))]), Ok(()));
    }

    #[test]
    fn a_length_counts_characters() {
        const RULES: Rules = &[Rule::MinLength(2), Rule::MaxLength(2)];
        assert_eq!(string("éé", RULES), Ok(()));
        assert_eq!(string("👩👩", RULES), Ok(()));
        assert_eq!(broken(string("é", RULES)), "shorter than 2 characters");
        assert_eq!(broken(string("abc", RULES)), "longer than 2 characters");
        assert_eq!(broken(string("", &[Rule::MinLength(1)])), "shorter than 1 character");
    }

    #[test]
    fn items_are_unique_by_value() {
        for (array, taken) in [
            ("[1,true,\"1\",[1],{\"a\":1}]", true),
            ("[1, 1.0]", false),
            (r#"[{"a":1,"b":2},{"b":2.0,"a":1}]"#, false),
            (r#"["a","\u0061"]"#, false),
            ("[[],{}]", true),
            ("{\"a\":1}", true),
        ] {
            assert_eq!(text(array, &[Rule::UniqueItems]).is_ok(), taken, "{array}");
        }
        let many: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let many = format!("[{}]", many.join(","));
        assert_eq!(text(&many, &[Rule::UniqueItems]), Ok(()));
        assert_eq!(
            broken(text("[1,2,1]", &[Rule::UniqueItems])),
            "the items 0 and 2 are equal, and items have to be unique"
        );
    }

    #[test]
    fn items_and_names_are_judged_by_rules_of_their_own() {
        const EVEN: Rules =
            &[Rule::Contains(1, 2, &[Rule::Kinds(&[Kind::Integer]), Rule::MultipleOf(Bound::Whole(2))])];
        for array in ["[1,2]", "[2,4,5]", "\"2\""] {
            assert_eq!(text(array, EVEN), Ok(()), "{array}");
        }
        assert_eq!(broken(text("[1,\"2\"]", EVEN)), "fewer than 1 item as asked for");
        assert_eq!(broken(text("[2,4,6]", EVEN)), "more than 2 items as asked for");
        const SHORT: Rules = &[Rule::Names(&[Rule::MaxLength(2)])];
        assert_eq!(text(r#"{"a\u00e9":1}"#, SHORT), Ok(()));
        assert!(broken(text(r#"{"abc":1}"#, SHORT)).contains("longer than 2 characters"));
    }

    #[test]
    fn members_are_counted_and_asked_for() {
        const RULES: Rules = &[Rule::MinProperties(1), Rule::MaxProperties(2), Rule::DependentRequired("a", &["b"])];
        assert_eq!(text(r#"{"a":1,"\u0062":2}"#, RULES), Ok(()));
        assert_eq!(broken(text("{}", RULES)), "fewer than 1 member");
        assert_eq!(broken(text(r#"{"a":1,"b":2,"c":3}"#, RULES)), "more than 2 members");
        assert_eq!(broken(text(r#"{"a":1}"#, RULES)), "missing member `b`, which belongs to `a`");
        assert_eq!(broken(text("{}", &[Rule::Required(&["x"])])), "missing member `x`");
    }

    #[test]
    fn a_rule_says_nothing_of_other_kinds() {
        const RULES: Rules = &[
            Rule::Minimum(Bound::Whole(5)),
            Rule::MinLength(5),
            Rule::MinItems(5),
            Rule::MinProperties(5),
            Rule::MultipleOf(Bound::Whole(5)),
        ];
        for value in ["null", "true"] {
            assert_eq!(text(value, RULES), Ok(()));
        }
        for value in ["4", "\"four\"", "[4]", "{\"four\":4}", "5.5"] {
            assert!(text(value, RULES).is_err(), "{value}");
        }
    }

    #[test]
    fn kinds_and_values_are_named_when_they_are_missed() {
        const KINDS: Rules = &[Rule::Kinds(&[Kind::Integer, Kind::Fraction, Kind::Null])];
        assert_eq!(text("1.5", KINDS), Ok(()));
        assert_eq!(broken(text("[]", KINDS)), "found an array, expected a number or null");
        const VALUES: Rules = &[Rule::OneOf(&["1", "\"a\"", "[2]"])];
        assert_eq!(text("[2.0]", VALUES), Ok(()));
        assert_eq!(broken(text("2", VALUES)), r#"the value is not one of `1`, `"a"`, `[2]`"#);
        assert!(text("1.0", &[Rule::NoneOf(&["1"])]).is_err() && text("2", &[Rule::NoneOf(&["1"])]).is_ok());
    }

    #[test]
    fn a_list_of_values_is_cut() {
        let long = "x".repeat(1000);
        let values = vec![long.as_str(); 100];
        let shown = listed(&values);
        assert!(shown.len() < 1000 && shown.ends_with(" and 88 more"), "{shown}");
    }
}
