//! The format of a properties file, as `java.util.Properties` reads it; but for its encoding, which is UTF-8 here.

use std::{iter::Peekable, str::Chars};

/// A key with its value, and the line that it begins in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: String,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: usize,
    pub(super) reason: &'static str,
}

/// All properties, in their order. As in Java, of a key that comes twice the last one counts.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Property>, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|error| Malformed {
        line: 1 + bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count(),
        reason: "is not valid UTF-8; other characters can be written as \\uXXXX",
    })?;
    let mut properties: Vec<Property> = Vec::new();
    for (line, text) in logical_lines(text) {
        let malformed = |reason| Malformed { line, reason };
        let mut rest = text.chars().peekable();
        let key = unescaped(&mut rest, is_end_of_key).map_err(malformed)?;
        skip_blanks(&mut rest);
        if rest.next_if(|next| matches!(next, '=' | ':')).is_some() {
            skip_blanks(&mut rest);
        }
        let value = unescaped(&mut rest, |_| false).map_err(malformed)?;
        properties.retain(|other| other.key != key);
        properties.push(Property { line, key, value });
    }
    Ok(properties)
}

/// Lines without comments and blank ones; what a backslash at the end continues is one line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    // A line that goes on.
    let mut open: Option<(usize, String)> = None;
    for (index, line) in natural_lines(text).enumerate() {
        let line = line.trim_start_matches(is_blank);
        if open.is_none() && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        let (begun, mut whole) = open.take().unwrap_or((index + 1, String::new()));
        let backslashes = line.chars().rev().take_while(|last| *last == '\\').count();
        if backslashes % 2 == 1 {
            whole.push_str(line.strip_suffix('\\').unwrap_or(line));
            open = Some((begun, whole));
        } else {
            whole.push_str(line);
            lines.push((begun, whole));
        }
    }
    lines.extend(open);
    lines
}

/// Each ends with `\n`, `\r` or both.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\u{c}')
}

fn is_end_of_key(character: char) -> bool {
    is_blank(character) || matches!(character, '=' | ':')
}

fn skip_blanks(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|next| is_blank(*next)).is_some() {}
}

/// Up to the end, which is left there.
fn unescaped(rest: &mut Peekable<Chars<'_>>, is_end: fn(char) -> bool) -> Result<String, &'static str> {
    let mut text = String::new();
    while let Some(next) = rest.next_if(|next| !is_end(*next)) {
        if next != '\\' {
            text.push(next);
            continue;
        }
        match rest.next() {
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('f') => text.push('\u{c}'),
            Some('u') => text.push(utf16(rest)?),
            Some(other) => text.push(other),
            None => {}
        }
    }
    Ok(text)
}

/// The character behind `\u`; one outside the first plane takes two of them.
fn utf16(rest: &mut Peekable<Chars<'_>>) -> Result<char, &'static str> {
    let mut units = vec![unit(rest)?];
    if matches!(units[..], [0xd800..=0xdbff]) && rest.next_if_eq(&'\\').is_some() && rest.next_if_eq(&'u').is_some() {
        units.push(unit(rest)?);
    }
    match String::from_utf16(&units) {
        Ok(text) => text.chars().next().ok_or(BROKEN_ESCAPE),
        Err(_) => Err("has half a surrogate pair"),
    }
}

const BROKEN_ESCAPE: &str = "has \\u without four hexadecimal digits";

fn unit(rest: &mut Peekable<Chars<'_>>) -> Result<u16, &'static str> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = rest.next().and_then(|next| next.to_digit(16)).and_then(|digit| u16::try_from(digit).ok());
        unit = unit << 4 | digit.ok_or(BROKEN_ESCAPE)?;
    }
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Vec<(usize, String, String)> {
        let all = parse(text.as_bytes()).unwrap();
        all.into_iter().map(|Property { line, key, value }| (line, key, value)).collect()
    }

    fn one(text: &str) -> (String, String) {
        let mut all = parsed(text);
        assert_eq!(all.len(), 1, "{text:?}");
        let (_, key, value) = all.remove(0);
        (key, value)
    }

    #[test]
    fn every_separator_is_taken() {
        for text in ["a=b", "a:b", "a b", "a = b", "a\t:\tb", "  a   b", "\u{c}a=b"] {
            assert_eq!(one(text), ("a".to_owned(), "b".to_owned()), "{text:?}");
        }
        assert_eq!(one("a= =b "), ("a".to_owned(), "=b ".to_owned()));
        assert_eq!(one("a"), ("a".to_owned(), String::new()));
        assert_eq!(one("=b"), (String::new(), "b".to_owned()));
    }

    #[test]
    fn escapes_stand_for_what_they_do_in_java() {
        assert_eq!(one(r"a\ b\=\:c=d"), ("a b=:c".to_owned(), "d".to_owned()));
        assert_eq!(one(r"a=\t\n\r\f\\\q\#"), ("a".to_owned(), "\t\n\r\u{c}\\q#".to_owned()));
        assert_eq!(one(r"a=\u015fule\uD83D\uDE00"), ("a".to_owned(), "şule😀".to_owned()));
        assert_eq!(one("a=şule"), ("a".to_owned(), "şule".to_owned()));
    }

    #[test]
    fn a_backslash_at_the_end_continues_a_line_and_two_do_not() {
        assert_eq!(one("a=b\\\n   c\\\r\n\td"), ("a".to_owned(), "bcd".to_owned()));
        assert_eq!(parsed("a=b\\\\\nc=d").len(), 2);
        assert_eq!(one("a=b\\\n# no comment"), ("a".to_owned(), "b# no comment".to_owned()));
        assert_eq!(one("a=b\\\n\n"), ("a".to_owned(), "b".to_owned()));
        assert_eq!(one("a=b\\"), ("a".to_owned(), "b".to_owned()));
    }

    #[test]
    fn comments_and_blank_lines_are_passed_over_and_lines_are_counted() {
        let text = "# one \\\n! two\n\n  \t\n a=1\r\n\rb=2\\\n3\nc=4";
        let expected = [(5, "a", "1"), (7, "b", "23"), (9, "c", "4")];
        assert_eq!(parsed(text), expected.map(|(line, key, value)| (line, key.to_owned(), value.to_owned())));
    }

    #[test]
    fn of_a_key_that_comes_twice_the_last_one_counts() {
        assert_eq!(parsed("a=1\nb=2\na=3"), [(2, "b".into(), "2".into()), (3, "a".into(), "3".into())]);
    }

    #[test]
    fn what_is_malformed_is_named_by_its_line() {
        for (text, line) in [
            (&b"a=1\nb=\\u12g4"[..], 2),
            (b"a=\\u12", 1),
            (b"\n\na=\\ud83d", 3),
            (b"a=\\ud83d\\u0041", 1),
            (b"a=\\ude00", 1),
            (b"a=1\nb=2\nc=\xff", 3),
        ] {
            assert!(matches!(parse(text), Err(Malformed { line: found, .. }) if found == line), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn no_text_makes_it_panic(text in r"[a\\u0f=: \n\r#]{0,60}") {
            let _ = parse(text.as_bytes());
        }
    }
}
