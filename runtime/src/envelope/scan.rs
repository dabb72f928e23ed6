//! One pass over JSON text: checks its syntax and finds where members lie, without building values.
//!
//! Nesting costs one bit a level and no recursion, so no depth overflows the stack.

use std::{borrow::Cow, ops::Range};

use super::{Poison, nesting::Nesting};

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
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Whether every number has to be a finite double.
    pub(super) finite: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, finite: false }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn expected(&self, expected: &'static str) -> Poison {
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

    /// Visits the members of an object: the name as it reads, where the member starts, and the scanner where its value
    /// starts, which the visitor has to take. Returns the range of the object.
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
            self.skip_space();
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
}
