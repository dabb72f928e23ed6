//! The URN rule (contract section 7), shared by the generator and the attribute macro.

/// Why a URN is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrnError {
    /// The URN is empty.
    Empty,
    /// The URN begins or ends with whitespace.
    Padded,
    /// The URN contains a control character.
    Control,
}

impl std::fmt::Display for UrnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "the URN is empty; write it as `urn:babel:<context>:<event or command>`",
            Self::Padded => "the URN begins or ends with whitespace; remove it",
            Self::Control => "the URN contains a control character; remove it",
        })
    }
}

impl std::error::Error for UrnError {}

/// Checks that `urn` can be the identity of a message: not empty, no surrounding whitespace, no control characters.
///
/// # Errors
///
/// The first rule that `urn` breaks.
pub fn check(urn: &str) -> Result<(), UrnError> {
    if urn.is_empty() {
        return Err(UrnError::Empty);
    }
    if urn.trim() != urn {
        return Err(UrnError::Padded);
    }
    if urn.chars().any(char::is_control) {
        return Err(UrnError::Control);
    }
    Ok(())
}

/// The two parts of a URN that follows the convention `urn:babel:<context>:<name>`, or `None`.
///
/// The context is the default topic (`orders` for `urn:babel:orders:created`).
#[must_use]
pub fn convention(urn: &str) -> Option<(&str, &str)> {
    let (context, name) = urn.strip_prefix("urn:babel:")?.split_once(':')?;
    let plain = |part: &str, extra: &[u8]| {
        part.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || extra.contains(&b))
    };
    (plain(context, b"-_.") && plain(name, b"-_.")).then_some((context, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conventional_urn_names_its_topic() {
        assert_eq!(convention("urn:babel:orders:created"), Some(("orders", "created")));
        assert_eq!(convention("urn:babel:orders:created.v2"), Some(("orders", "created.v2")));
        assert_eq!(convention("urn:acme:orders:created"), None);
        assert_eq!(convention("urn:babel:orders"), None);
        assert_eq!(convention("urn:babel::created"), None);
        assert_eq!(convention("urn:babel:orders:a:b"), None);
    }

    #[test]
    fn padding_and_control_characters_are_refused() {
        assert_eq!(check("urn:babel:orders:created"), Ok(()));
        assert_eq!(check("anything goes"), Ok(()));
        assert_eq!(check(""), Err(UrnError::Empty));
        assert_eq!(check(" urn:x"), Err(UrnError::Padded));
        assert_eq!(check("urn:x\u{2003}"), Err(UrnError::Padded));
        assert_eq!(check("urn:\u{7}x"), Err(UrnError::Control));
    }
}
