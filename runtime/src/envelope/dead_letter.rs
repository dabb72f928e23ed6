//! The block that a dead letter carries (contract section 1): as it is written, and as it is read.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

/// The longest [`DeadLetter::error`] that is written.
const ERROR_BYTES: usize = 4096;
/// The longest [`DeadLetter::exception`] that is written.
const EXCEPTION_BYTES: usize = 256;
/// The end of a text that was cut.
const ELLIPSIS: &str = "…";

/// Why and where a message was given up.
///
/// What is written of `error` and `exception` is bounded, so that a dead letter is hardly larger than its message: a
/// longer text is cut between two characters, and ends in `…`.
#[derive(Clone, Debug, Serialize)]
pub struct DeadLetter<'a> {
    /// `failed`, `unknown_urn` or `poison`.
    pub reason: &'a str,
    /// What went wrong, for people. At most 4096 bytes of UTF-8 are written, the `…` among them.
    #[serde(serialize_with = "bounded::<ERROR_BYTES, _>")]
    pub error: Option<&'a str>,
    /// The name of the error's type. At most 256 bytes of UTF-8 are written, the `…` among them.
    #[serde(serialize_with = "bounded::<EXCEPTION_BYTES, _>")]
    pub exception: Option<&'a str>,
    /// Unix milliseconds.
    pub failed_at: i64,
    /// The work topic.
    pub original_queue: &'a str,
    /// Failed deliveries, the last one included.
    pub attempts: i64,
    /// The language of the consumer: `rust` here.
    pub lang: &'a str,
}

impl DeadLetter<'_> {
    pub(super) fn to_json(&self) -> String {
        // Strings and integers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn bounded<const BYTES: usize, S: Serializer>(text: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    text.map(|text| cut(text, BYTES)).serialize(serializer)
}

fn cut(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return text.into();
    }
    let room = bytes.saturating_sub(ELLIPSIS.len());
    let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}{ELLIPSIS}", text.get(..end).unwrap_or_default()).into()
}

/// The block of a dead letter as another consumer, of any language, has written it. Each member may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetterBlock<'a> {
    /// Why: `failed`, `unknown_urn`, `poison`, or what another SDK says.
    pub reason: Option<Cow<'a, str>>,
    /// What went wrong, for people.
    pub error: Option<Cow<'a, str>>,
    /// The name of the error's type.
    pub exception: Option<Cow<'a, str>>,
    /// Unix milliseconds.
    pub failed_at: Option<i64>,
    /// The work topic.
    pub original_queue: Option<Cow<'a, str>>,
    /// Failed deliveries.
    pub attempts: Option<i64>,
    /// The language of the consumer.
    pub lang: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(error: &str, exception: &str) -> [String; 2] {
        let block = DeadLetter {
            reason: "failed",
            error: Some(error),
            exception: Some(exception),
            failed_at: 0,
            original_queue: "orders",
            attempts: 1,
            lang: "rust",
        };
        let block: serde_json::Value = serde_json::from_str(&block.to_json()).unwrap();
        ["error", "exception"].map(|name| block[name].as_str().unwrap().to_owned())
    }

    #[test]
    fn a_text_that_fits_is_written_as_it_is() {
        let (error, exception) = ("e".repeat(4096), "x".repeat(256));
        assert_eq!(written(&error, &exception), [error, exception]);
        assert_eq!(written("", ""), ["", ""]);
    }

    #[test]
    fn a_longer_text_is_cut_and_says_so() {
        let [error, exception] = written(&"e".repeat(4097), &"x".repeat(100_000));
        assert_eq!(error, format!("{}…", "e".repeat(4093)));
        assert_eq!(exception, format!("{}…", "x".repeat(253)));
    }

    #[test]
    fn a_character_is_never_cut() {
        for character in ["é", "☕", "😀"] {
            for shift in 0..4 {
                let text = format!("{}{}", "e".repeat(shift), character.repeat(4096));
                let [error, exception] = written(&text, &text);
                for (cut, bytes) in [(error, 4096), (exception, 256)] {
                    assert!(cut.len() <= bytes && cut.len() > bytes - 4, "{} bytes", cut.len());
                    assert!(text.starts_with(cut.strip_suffix('…').unwrap()));
                }
            }
        }
    }
}
