//! How breaks are told.

use crate::model::{Kinds, Rule};
use crate::schema::Literal;

/// Who reads whose data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Consumers with the schema of now read earlier data.
    Backward,
    /// Consumers with the earlier schema read the data of now.
    Forward,
}

impl Direction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Backward => "BACKWARD",
            Self::Forward => "FORWARD",
        }
    }

    pub(super) fn data(self) -> &'static str {
        match self {
            Self::Backward => "earlier data",
            Self::Forward => "new data",
        }
    }

    pub(super) fn reader(self) -> &'static str {
        match self {
            Self::Backward => "this schema",
            Self::Forward => "the earlier schema",
        }
    }
}

/// Some kinds, as a sentence names them.
pub(super) fn kinds(kinds: Kinds) -> String {
    let names = [
        (Kinds::NULL, "null"),
        (Kinds::BOOLEAN, "a boolean"),
        (Kinds::NUMBER, "a number"),
        (Kinds::INTEGER, "an integer"),
        (Kinds::FRACTION, "a number with a fraction"),
        (Kinds::STRING, "a string"),
        (Kinds::ARRAY, "an array"),
        (Kinds::OBJECT, "an object"),
    ];
    if kinds.is_empty() {
        return "nothing".to_owned();
    }
    let mut left = kinds;
    let mut found = Vec::new();
    for (kind, name) in names {
        if left.contains(kind) {
            left = left.without(kind);
            found.push(name);
        }
    }
    found.join(" or ")
}

/// Some values, the first few of many.
pub(super) fn values(values: &[Literal]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| format!("`{}`", shorten(&value.json))).collect();
    let more = values.len().saturating_sub(SHOWN);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// A text from a schema, on one line and not longer than a line.
pub(super) fn shorten(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut short: String =
        text.chars().take(LENGTH).collect::<String>().escape_debug().to_string().replace("\\\"", "\"");
    if text.chars().nth(LENGTH).is_some() {
        short.push('…');
    }
    short
}

/// The keyword of a rule, and what it says.
pub(super) fn rule(rule: &Rule) -> Option<(&'static str, String)> {
    let said = match rule {
        Rule::Minimum(text) => ("minimum", text.clone()),
        Rule::Maximum(text) => ("maximum", text.clone()),
        Rule::ExclusiveMinimum(text) => ("exclusiveMinimum", text.clone()),
        Rule::ExclusiveMaximum(text) => ("exclusiveMaximum", text.clone()),
        Rule::MultipleOf(text) => ("multipleOf", text.clone()),
        Rule::MinLength(count) => ("minLength", count.to_string()),
        Rule::MaxLength(count) => ("maxLength", count.to_string()),
        Rule::MinItems(count) => ("minItems", count.to_string()),
        Rule::MaxItems(count) => ("maxItems", count.to_string()),
        Rule::UniqueItems => ("uniqueItems", "true".to_owned()),
        Rule::MinProperties(count) => ("minProperties", count.to_string()),
        Rule::MaxProperties(count) => ("maxProperties", count.to_string()),
        _ => return None,
    };
    Some(said)
}
