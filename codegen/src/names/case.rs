//! Words of a text, and the two cases of Rust.
//!
//! Names are ASCII: other scripts are transliterated, because identifiers in them can trip the compiler's lints for
//! look-alike characters, which only the user's crate root could allow.

use deunicode::deunicode_with_tofu;

/// `customer_id` of `CustomerID`, `customer-id`, `customerId`.
pub(super) fn snake(text: &str) -> String {
    let words: Vec<_> = words(text).iter().map(|word| word.to_ascii_lowercase()).collect();
    prefix_digit(words.join("_"), 'n')
}

/// `CustomerId` of `customer_id`, `customer ID`.
pub(super) fn pascal(text: &str) -> String {
    let words: String = words(text).iter().map(|word| capital(word)).collect();
    prefix_digit(words, 'N')
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars.map(|c| c.to_ascii_lowercase())).collect()
}

/// An identifier cannot begin with a digit.
fn prefix_digit(name: String, letter: char) -> String {
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("{letter}{name}") } else { name }
}

/// The words of `text`, never none. A word ends before a capital letter that follows a small one or a digit, and
/// before the last capital of a row (`HTTPServer`: `HTTP`, `Server`).
fn words(text: &str) -> Vec<String> {
    let ascii = deunicode_with_tofu(text, " ");
    let chars: Vec<char> = ascii.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for (index, &c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            open = false;
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| chars.get(index)).copied().unwrap_or(' ');
        let after = chars.get(index + 1).copied().unwrap_or(' ');
        let starts = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        match words.last_mut() {
            Some(word) if open && !starts => word.push(c),
            _ => words.push(c.to_string()),
        }
        open = true;
    }
    if words.is_empty() { symbols(text) } else { words }
}

/// Words for a text without letters and digits, such as `>=`.
fn symbols(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec!["empty".to_owned()];
    }
    text.chars().map(symbol).collect()
}

fn symbol(c: char) -> String {
    let word = match c {
        ' ' => "space",
        '!' => "bang",
        '#' => "hash",
        '$' => "dollar",
        '%' => "percent",
        '&' => "and",
        '*' => "star",
        '+' => "plus",
        ',' => "comma",
        '-' => "minus",
        '.' => "dot",
        '/' => "slash",
        ':' => "colon",
        '<' => "less",
        '=' => "equal",
        '>' => "greater",
        '?' => "question",
        '@' => "at",
        '^' => "caret",
        '_' => "underscore",
        '|' => "or",
        '~' => "tilde",
        _ => return format!("u{:x}", u32::from(c)),
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_every_common_spelling() {
        for text in ["customerId", "CustomerID", "customer-id", "customer_id", "customer id", "__customer.id__"] {
            assert_eq!((snake(text).as_str(), pascal(text).as_str()), ("customer_id", "CustomerId"), "{text}");
        }
        assert_eq!(snake("HTTPServer2Go"), "http_server2_go");
        assert_eq!(pascal("order-created.v2"), "OrderCreatedV2");
    }

    #[test]
    fn other_scripts_empty_texts_symbols_and_digits_give_names() {
        assert_eq!(snake("Größe"), "grosse");
        assert_eq!(pascal("注文"), "ZhuWen");
        assert_eq!(snake(""), "empty");
        assert_eq!(pascal(">="), "GreaterEqual");
        assert_eq!(snake("2fa"), "n2fa");
        assert_eq!(pascal("2fa"), "N2fa");
        assert_eq!(snake("_"), "underscore");
        assert_eq!(snake("\u{202e}"), "u202e");
    }
}
