//! Doc comments from schema text, written so that rustdoc can never take any of it for code to run.

use proc_macro2::TokenStream;
use quote::quote;

/// The doc attributes of `text`, which the generator wrote itself.
pub(super) fn lines(text: &str) -> Vec<TokenStream> {
    text.lines().map(line).collect()
}

/// The doc attributes of `text` from a schema.
pub(super) fn foreign(text: &str) -> Vec<TokenStream> {
    let mut lines: Vec<String> = text.split(is_line_break).map(tame).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.iter().skip_while(|text| text.is_empty()).map(|text| line(text)).collect()
}

/// `text` from a schema in backticks, on one line.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() {
        return "`\"\"`".to_owned();
    }
    let plain: String = text.chars().filter(|c| *c != '`').collect();
    format!("`{}`", plain.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\""))
}

fn line(text: &str) -> TokenStream {
    let text = if text.is_empty() { String::new() } else { format!(" {text}") };
    quote!(#[doc = #text])
}

/// One line without indentation (indented text is code to rustdoc, also behind the mark of a list or a quote), without
/// fences, and without characters that the compiler refuses in comments.
fn tame(line: &str) -> String {
    let words: Vec<String> = line
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control() && !is_bidi(*c)).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~")
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Marks that turn the direction of text, which the compiler refuses in comments.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{foreign, tame};

    // C09, C10
    #[test]
    fn no_line_is_indented_or_opens_a_fence() {
        assert_eq!(tame("    panic!()"), "panic!()");
        assert_eq!(tame("-      panic!()"), "- panic!()");
        assert_eq!(tame("> \t\tpanic!()"), "> panic!()");
        assert_eq!(tame("````rust"), "\\`\\`\\``rust");
        assert_eq!(tame("1. ~~~"), "1. \\~\\~\\~");
    }

    #[test]
    fn every_kind_of_line_break_and_hidden_mark_is_harmless() {
        let text = foreign("a\r\nb\u{2028}c\u{202e}d\0\r    e").iter().map(ToString::to_string).collect::<String>();
        assert!(!text.contains(['\r', '\u{2028}', '\u{202e}', '\0']), "{text}");
        assert_eq!(text.matches("doc").count(), 5, "{text}");
    }
}
