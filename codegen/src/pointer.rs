//! JSON Pointers (RFC 6901), kept in their encoded form so that equal places are equal texts.

use std::fmt;

/// The place of a value in a JSON document; the empty pointer is the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pointer(String);

impl Pointer {
    /// Reads `text` (`/properties/a~1b`); `None` if it does not begin with `/` or holds a `~` that is no escape.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let begins = text.is_empty() || text.starts_with('/');
        let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        // There is one way to write a token, so the text is the encoded form already.
        (begins && escapes).then(|| Self(text.to_owned()))
    }

    /// The place of the member or element `token` of the value at this place.
    pub(crate) fn join(&self, token: &str) -> Self {
        Self(format!("{}/{}", self.0, token.replace('~', "~0").replace('/', "~1")))
    }

    /// The place that `rest` names when it begins at this place.
    pub(crate) fn concat(&self, rest: &Self) -> Self {
        Self(self.0.clone() + &rest.0)
    }

    pub(crate) fn tokens(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(unescape)
    }

    /// Whether this is the document itself.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "/" } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_written() {
        let pointer = Pointer::parse("/a~1b/~01/").expect("a pointer");
        assert_eq!(pointer.tokens().collect::<Vec<_>>(), ["a/b", "~1", ""]);
        assert_eq!(pointer, Pointer::default().join("a/b").join("~1").join(""));
    }

    #[test]
    fn a_stray_tilde_or_a_missing_slash_is_no_pointer() {
        assert_eq!(Pointer::parse("a"), None);
        assert_eq!(Pointer::parse("/a~2"), None);
        assert_eq!(Pointer::parse("/a~"), None);
    }
}
