//! Personal data in the output of `Debug` (contract section 7).

use std::fmt;

/// What stands for a value that is no string.
pub const MASKED: &str = "***";

/// A string of which only the first character is shown.
#[must_use]
pub fn masked(text: &str) -> impl fmt::Debug + use<> {
    text.chars().take(1).collect::<String>() + MASKED
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn a_string_keeps_its_first_character() {
        assert_eq!(format!("{:?}", masked("ada@example.com")), r#""a***""#);
        assert_eq!(format!("{:?}", masked("Şule")), r#""Ş***""#);
        assert_eq!(format!("{:?}", masked("")), r#""***""#);
    }
}
