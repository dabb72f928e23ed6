//! What of a payload violates its schema, in bounded text that holds no value of the payload.

use std::fmt;

use jsonschema::{ValidationError, error::ValidationErrorKind};

/// How many violations are kept; a payload may have one for each of its members.
const KEPT: usize = 20;
/// How many characters of a pointer or of a message are shown.
const SHOWN: usize = 160;

/// One violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where in the payload, as a JSON Pointer (RFC 6901). Of a missing member it is the object that lacks it; empty is
    /// the payload itself.
    pub pointer: String,
    /// The schema keyword that is violated, such as `minimum`; empty when the payload cannot be judged.
    pub keyword: String,
    /// What the keyword asks. Names members and the schema's limits, and holds no value of the payload, so that a log or
    /// a dead letter tells no personal data (`x-gdpr-sensitive`).
    pub message: String,
}

/// The violations of a payload: at most the first 20, and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    kept: Vec<Violation>,
    more: usize,
}

impl Violations {
    /// The violations that are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.kept.iter()
    }

    /// How many there are beside the kept ones.
    #[must_use]
    pub fn more(&self) -> usize {
        self.more
    }

    pub(super) fn of<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Self {
        let mut violations = Self { kept: Vec::new(), more: 0 };
        for error in errors {
            violations.add(&error);
        }
        violations
    }

    /// Of a payload that has no place in memory as the validator needs it.
    pub(super) fn unreadable(error: &serde_json::Error) -> Self {
        let message = clip(&format!("the payload cannot be judged: {error}"));
        Self { kept: vec![Violation { pointer: String::new(), keyword: String::new(), message }], more: 0 }
    }

    fn add(&mut self, error: &ValidationError<'_>) {
        let path = error.instance_path();
        match error.kind() {
            // One for each member, at its place.
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    self.push(error, || (path.join(name.as_str()).to_string(), "the member is not allowed".to_owned()));
                }
            }
            kind => self.push(error, || (path.to_string(), explain(error, kind))),
        }
    }

    fn push(&mut self, error: &ValidationError<'_>, describe: impl FnOnce() -> (String, String)) {
        if self.kept.len() == KEPT {
            self.more += 1;
            return;
        }
        let (pointer, message) = describe();
        self.kept.push(Violation { pointer, keyword: error.kind().keyword().to_owned(), message });
    }
}

/// What the keyword asks. The library's own words, with the values left out; of the kinds that would tell a part of the
/// payload all the same, other words.
fn explain(error: &ValidationError<'_>, kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::PropertyNames { .. } => "the name of a member is not allowed".to_owned(),
        ValidationErrorKind::RegexEngineFailure { .. } | ValidationErrorKind::BacktrackLimitExceeded { .. } => {
            "the value takes too long to match".to_owned()
        }
        _ => clip(&error.masked_with("the value").to_string()),
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the payload violates its schema: ")?;
        for (index, violation) in self.kept.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        if self.more > 0 {
            write!(f, "; and {} more", self.more)?;
        }
        Ok(())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In quotes, which keep the empty pointer visible and a line break out of the log.
        write!(f, "{:?}: {}", clip(&self.pointer), self.message.escape_debug())?;
        if self.keyword.is_empty() { Ok(()) } else { write!(f, " ({})", self.keyword) }
    }
}

impl std::error::Error for Violations {}
