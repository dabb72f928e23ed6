//! The rule for Kafka topic names, shared by the generator and the attribute macro.

/// The longest topic name that Kafka takes, in bytes.
const MAX_LEN: usize = 249;

/// Why a topic name is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicError {
    /// The name is empty.
    Empty,
    /// The name is longer than 249 bytes.
    TooLong,
    /// The name is `.` or `..`.
    Dots,
    /// The name holds a character that Kafka does not take.
    Character(char),
}

impl std::fmt::Display for TopicError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the topic name is empty"),
            Self::TooLong => f.write_str("the topic name is longer than 249 characters"),
            Self::Dots => f.write_str("a topic cannot be called `.` or `..`"),
            Self::Character(c) => {
                write!(f, "the topic name holds {c:?}; Kafka takes only ASCII letters, digits, `.`, `_` and `-`")
            }
        }
    }
}

impl std::error::Error for TopicError {}

/// Checks that Kafka takes `name` as the name of a topic: 1 to 249 of `[a-zA-Z0-9._-]`, not `.` or `..`.
///
/// # Errors
///
/// The first rule that `name` breaks.
pub fn check(name: &str) -> Result<(), TopicError> {
    if name.is_empty() {
        return Err(TopicError::Empty);
    }
    if let Some(c) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
        return Err(TopicError::Character(c));
    }
    if name.len() > MAX_LEN {
        return Err(TopicError::TooLong);
    }
    if name == "." || name == ".." {
        return Err(TopicError::Dots);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_kafka_takes_are_taken() {
        assert_eq!(check("orders.retry-1_x"), Ok(()));
        assert_eq!(check(&"a".repeat(249)), Ok(()));
        assert_eq!(check(&"a".repeat(250)), Err(TopicError::TooLong));
        assert_eq!(check(""), Err(TopicError::Empty));
        assert_eq!(check(".."), Err(TopicError::Dots));
        assert_eq!(check("orders/eu"), Err(TopicError::Character('/')));
        assert_eq!(check("größe"), Err(TopicError::Character('ö')));
    }
}
