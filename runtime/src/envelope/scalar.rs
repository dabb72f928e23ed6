//! The scanner's strings, numbers and literals.

use super::{Poison, scan::Scanner};

impl Scanner<'_> {
    pub(super) fn scalar(&mut self) -> Result<(), Poison> {
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
    pub(super) fn string(&mut self) -> Result<bool, Poison> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.finite_value().is_ok() && scanner.end().is_ok()
    }

    #[test]
    fn a_megabyte_of_digits_is_not_a_finite_double() {
        assert!(!accepts(&"9".repeat(1_000_000)));
        assert!(accepts(&format!("0.{}", "9".repeat(1_000_000))));
        assert!(!accepts("1e400"));
        assert!(accepts("1e308"));
        assert!(accepts("1e-400"));
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
}
