//! What is measured: schemas, each with values that it takes or refuses.

use std::path::PathBuf;

use super::rules::Rules;

/// Where schemas come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The official suite, draft-07.
    Draft7,
    /// The official suite, 2020-12.
    Draft2020,
    /// The schemas of astronomy alerts.
    Gcn,
}

impl Source {
    pub(super) const ALL: [Self; 3] = [Self::Draft7, Self::Draft2020, Self::Gcn];

    /// The suite's folder, and the word of the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Draft7 => "draft7",
            Self::Draft2020 => "draft2020-12",
            Self::Gcn => "gcn",
        }
    }

    /// The dialect of schemas that name none.
    pub(super) fn dialect(self) -> &'static str {
        match self {
            Self::Draft7 => "http://json-schema.org/draft-07/schema#",
            Self::Draft2020 | Self::Gcn => "https://json-schema.org/draft/2020-12/schema",
        }
    }
}

/// Whether an implementation must, or may, behave as the values say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Required,
    Optional,
}

/// A schema and its values.
#[derive(Debug)]
pub(super) struct Group {
    /// A Rust identifier: the group's module, and its folders.
    pub(super) id: String,
    /// The group as people find it.
    pub(super) title: String,
    pub(super) source: Source,
    pub(super) part: Part,
    /// The registry from which its contract is generated.
    pub(super) registry: PathBuf,
    /// Whether a value is the member `value` of a message, as it need not be an object; otherwise it is the message.
    pub(super) wrapped: bool,
    pub(super) rules: Rules,
    pub(super) values: Vec<Value>,
}

/// A value that a schema takes or refuses.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) title: String,
    /// JSON text, as it was written.
    pub(super) text: String,
    pub(super) valid: bool,
}

impl Group {
    /// The message that carries a value.
    pub(super) fn message(&self, value: &Value) -> String {
        if self.wrapped { format!(r#"{{"value":{}}}"#, value.text) } else { value.text.clone() }
    }

    /// A value of the group, for lists.
    pub(super) fn describe(&self, value: &Value) -> String {
        const SHOWN: usize = 120;
        let mut text = value.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = text.char_indices().nth(SHOWN) {
            text.truncate(end);
            text.push('…');
        }
        format!("{} / {}: {text}", self.title, value.title)
    }
}

/// `text` as the name of a Rust module.
pub(super) fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}
