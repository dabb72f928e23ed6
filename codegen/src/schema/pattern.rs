//! Regular expressions: whether they are any, and what they match.

use std::collections::HashMap;

/// Compiles a pattern as ECMAScript reads it with the flag `u`, else without: older schemas have escapes that it refuses.
pub(super) fn compile(pattern: &str) -> Result<regress::Regex, regress::Error> {
    regress::Regex::with_flags(pattern, "u").or_else(|error| regress::Regex::new(pattern).map_err(|_| error))
}

/// Patterns, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns(HashMap<String, Option<regress::Regex>>);

impl Patterns {
    /// Whether `pattern` is found in `name`. One that is no regular expression is reported where it stands, and matches
    /// nothing here.
    pub(crate) fn matches(&mut self, pattern: &str, name: &str) -> bool {
        let compiled = self.0.entry(pattern.to_owned()).or_insert_with(|| compile(pattern).ok());
        compiled.as_ref().is_some_and(|regex| regex.find(name).is_some())
    }
}
