//! Something that a test waited for and that did not happen.

use std::fmt;

/// What a test waited for did not happen. Its text says what that was, why it did not, and what happened instead, step by
/// step; `Debug` shows the same text, so that `?` and `unwrap` in a test do.
#[derive(Clone, PartialEq, Eq)]
pub struct Unmet {
    text: String,
}

impl Unmet {
    pub(super) fn new(text: String) -> Self {
        Self { text }
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Unmet {}
