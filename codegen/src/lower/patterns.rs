//! `patternProperties`: which names of members a pattern matches.

use std::collections::HashMap;

/// Patterns, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns(HashMap<String, Option<regress::Regex>>);

impl Patterns {
    /// Whether `pattern` is found in `name`. One that is no regular expression is reported where it stands, and matches
    /// nothing here.
    pub(crate) fn matches(&mut self, pattern: &str, name: &str) -> bool {
        let compiled = self
            .0
            .entry(pattern.to_owned())
            .or_insert_with(|| regress::Regex::with_flags(pattern, "u").or_else(|_| regress::Regex::new(pattern)).ok());
        compiled.as_ref().is_some_and(|regex| regex.find(name).is_some())
    }
}
