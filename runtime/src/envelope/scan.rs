//! One pass over JSON text: checks its syntax and finds where members lie, without building values.
//!
//! Nesting costs one bit a level and no recursion, so no depth overflows the stack.

use std::{borrow::Cow, ops::Range};

use super::Poison;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

/// A value's text, as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Whether this is a string with escapes.
    escaped: bool,
}

impl<'a> Raw<'a> {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The string that this is; `None` when it is none, or holds half of a surrogate pair.
    pub(super) fn as_str(&self) -> Option<Cow<'a, str>> {
        if self.kind != Kind::String {
            return None;
        }
        unescape(self.text, self.escaped)
    }

    /// The integer that this is: an integer literal that fits `i64`.
    pub(super) fn as_integer(&self) -> Option<i64> {
        if self.kind != Kind::Number || self.text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
            return None;
        }
        self.text.parse().ok()
    }
}

/// The content of a quoted string that the scanner has accepted.
fn unescape(quoted: &str, escaped: bool) -> Option<Cow<'_, str>> {
    if escaped {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    quoted.get(1..quoted.len().checked_sub(1)?).map(Cow::Borrowed)
}

pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    finite: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, finite: false }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expected(&self, expected: &'static str) -> Poison {
        Poison::Syntax { offset: self.at, expected }
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Poison> {
        if self.peek() != Some(byte) {
            return Err(self.expected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Nothing but whitespace may follow.
    pub(super) fn end(&mut self) -> Result<(), Poison> {
        self.skip_space();
        if self.peek().is_some() { Err(Poison::TrailingData { offset: self.at }) } else { Ok(()) }
    }

    /// Whether the next value is an object.
    pub(super) fn at_object(&mut self) -> bool {
        self.skip_space();
        self.peek() == Some(b'{')
    }

    /// Visits the members of an object: the name as it reads, where the member starts, and the scanner in front of the
    /// value, which the visitor has to take. Returns the range of the object.
    pub(super) fn members(
        &mut self,
        mut visit: impl FnMut(Cow<'a, str>, usize, &mut Self) -> Result<(), Poison>,
    ) -> Result<Range<usize>, Poison> {
        self.skip_space();
        let open = self.at;
        self.take(b'{', "an object")?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(open..self.at);
        }
        loop {
            let start = self.at;
            let escaped = self.name()?;
            let quoted = self.text.get(start..self.at).unwrap_or_default();
            self.colon()?;
            // A name with half of a surrogate pair is nobody's: it stays as it is spelled.
            let name = unescape(quoted, escaped).unwrap_or(Cow::Borrowed(quoted));
            visit(name, start, self)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(open..self.at);
                }
                _ => return Err(self.expected("`,` or `}`")),
            }
            self.skip_space();
        }
    }

    /// Like [`Self::value`], and every number in it has to be a finite double.
    pub(super) fn finite_value(&mut self) -> Result<Raw<'a>, Poison> {
        self.finite = true;
        let value = self.value();
        self.finite = false;
        value
    }

    /// Takes one value, whatever it is.
    pub(super) fn value(&mut self) -> Result<Raw<'a>, Poison> {
        self.skip_space();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        };
        let escaped = match kind {
            Kind::String => self.string()?,
            Kind::Object | Kind::Array => self.container().map(|()| false)?,
            _ => self.scalar().map(|()| false)?,
        };
        Ok(Raw { kind, text: self.text.get(start..self.at).unwrap_or_default(), start, escaped })
    }

    fn container(&mut self) -> Result<(), Poison> {
        let mut open = Nesting::default();
        loop {
            // In front of a value.
            self.skip_space();
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        open.push(true);
                        self.name()?;
                        self.colon()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            // Behind a value.
            loop {
                let Some(in_object) = open.top() else { return Ok(()) };
                self.skip_space();
                match (self.peek(), in_object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.skip_space();
                        self.name()?;
                        self.colon()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    (_, true) => return Err(self.expected("`,` or `}`")),
                    (_, false) => return Err(self.expected("`,` or `]`")),
                }
            }
        }
    }

    /// Returns whether the name has escapes.
    fn name(&mut self) -> Result<bool, Poison> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member name"));
        }
        self.string()
    }

    fn colon(&mut self) -> Result<(), Poison> {
        self.skip_space();
        self.take(b':', "`:`")
    }

    fn scalar(&mut self) -> Result<(), Poison> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.expected("a value")),
        }
    }

    fn literal(&mut self, literal: &'static str) -> Result<(), Poison> {
        if !self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            return Err(self.expected(literal));
        }
        self.at += literal.len();
        Ok(())
    }

    /// Returns whether the string has escapes.
    fn string(&mut self) -> Result<bool, Poison> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain(self.text.as_bytes().get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                    escaped = true;
                }
                Some(_) => return Err(self.expected("an escaped control character")),
                None => return Err(self.expected("the end of the string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Poison> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.expected("four hexadecimal digits"));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(self.expected("an escape")),
        }
    }

    fn number(&mut self) -> Result<(), Poison> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.expected("a digit")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        let exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if exponent {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        // A number this short and without an exponent is always finite.
        if self.finite && (exponent || self.at - start > 300) {
            let finite = self.text.get(start..self.at).and_then(|text| text.parse().ok()).is_some_and(f64::is_finite);
            if !finite {
                return Err(Poison::NotFinite { offset: start });
            }
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), Poison> {
        let start = self.at;
        self.digits();
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }
}

/// How many bytes from the start stand for themselves in a string: neither quote nor backslash nor control character.
/// Looks at eight bytes at a time, as most of an envelope is strings.
fn plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = special(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    words.len() * 8 + rest.iter().position(special).unwrap_or(rest.len())
}

/// Sets the high bit of each byte that is special in a string. A borrow can also set it in bytes above a special one, so
/// only the lowest is exact.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & (ONES * 0x80)
}

/// The open containers, a bit each: object or array.
#[derive(Default)]
struct Nesting {
    depth: usize,
    bits: u64,
    /// The bits of the levels below the last 64.
    below: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.bits);
            self.bits = 0;
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.depth += 1;
    }

    fn top(&self) -> Option<bool> {
        (self.depth != 0).then_some(self.bits & 1 == 1)
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.bits = self.below.pop().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.finite_value().is_ok() && scanner.end().is_ok()
    }

    #[test]
    fn it_takes_exactly_what_is_json() {
        for text in [
            "0",
            "-0",
            "1.5e+3",
            "[]",
            "{}",
            "[[],{}]",
            r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#,
            "  true ",
            "\"\"",
            r#""\ud800""#,
            "[1,\r\n2]",
        ] {
            assert!(accepts(text), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "01",
            "1.",
            ".5",
            "-",
            "1e",
            "+1",
            "NaN",
            "[1,]",
            "{,}",
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            "{'a':1}",
            "tru",
            "\"\t\"",
            r#""\x""#,
            r#""\u12g4""#,
            "[}",
            "{]",
            "[1}",
            r#"{"a":1]"#,
            "\"",
            "[",
            "1 2",
            "\u{feff}{}",
        ] {
            assert!(!accepts(text), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_special_byte_is_found_wherever_it_stands() {
        for len in 0..40 {
            for at in 0..=len {
                for byte in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut bytes = "é ~!x#[]\u{7f}\u{80}".repeat(4).into_bytes();
                    bytes.truncate(len);
                    bytes.insert(at, byte);
                    bytes.extend_from_slice(b"\"\\tail");
                    assert_eq!(plain(&bytes), at, "{bytes:?}");
                }
            }
        }
        assert_eq!(plain(b"no special byte at all"), 22);
    }

    #[test]
    fn nesting_beyond_a_word_keeps_its_kinds_apart() {
        for depth in [1, 63, 64, 65, 128, 129, 1000] {
            let open: String = (0..depth).map(|level| if level % 3 == 0 { "[" } else { r#"{"a":"# }).collect();
            let close: String = (0..depth).rev().map(|level| if level % 3 == 0 { "]" } else { "}" }).collect();
            assert!(accepts(&format!("{open}1{close}")), "{depth}");
            let wrong = close.replacen(']', "}", 1);
            assert!(!accepts(&format!("{open}1{wrong}")), "{depth}");
        }
    }

    #[test]
    fn two_hundred_thousand_arrays_do_not_overflow_the_stack() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(accepts(&deep));
        assert!(!accepts(&deep[1..]));
    }

    #[test]
    fn a_megabyte_of_digits_is_not_a_finite_double() {
        assert!(!accepts(&"9".repeat(1_000_000)));
        assert!(accepts(&format!("0.{}", "9".repeat(1_000_000))));
        assert!(!accepts("1e400"));
        assert!(accepts("1e308"));
        assert!(accepts("1e-400"));
    }
}
