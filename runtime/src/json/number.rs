//! A JSON number as it is written: compared and divided by value, whatever its size and spelling.

use std::{cmp::Ordering, fmt};

/// The value `0.d₁d₂…dₙ · 10^exponent`, where neither the first nor the last digit is zero; zero has no digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<'a> {
    negative: bool,
    /// The digits before the point of the spelling, and those behind it.
    digits: (&'a str, &'a str),
    exponent: i64,
}

impl<'a> Number<'a> {
    /// Reads a number in JSON's spelling.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, text),
        };
        let (digits, power) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(d, e)| (d, Some(e)));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let power = power.map_or(Some(0), exponent)?;
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let (digits, point) = if whole.is_empty() {
            let significant = fraction.trim_start_matches('0');
            (("", significant), -length(fraction.len() - significant.len()))
        } else if fraction.is_empty() {
            ((whole.trim_end_matches('0'), ""), length(whole.len()))
        } else {
            ((whole, fraction), length(whole.len()))
        };
        if digits == ("", "") {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        Some(Self { negative, digits, exponent: point.saturating_add(power) })
    }

    /// Whether the value has no fraction.
    pub(crate) fn is_integer(self) -> bool {
        self.exponent >= self.len()
    }

    /// The value, if it is an integer of this size.
    pub(crate) fn to_i128(self) -> Option<i128> {
        let zeros = u32::try_from(self.exponent.checked_sub(self.len())?).ok()?;
        let digits = self.digits().try_fold(0_i128, |value, digit| value.checked_mul(10)?.checked_sub(digit.into()))?;
        // Negative on the way, as the smallest integer has no positive counterpart.
        let value = if digits == 0 { 0 } else { digits.checked_mul(10_i128.checked_pow(zeros)?)? };
        if self.negative { Some(value) } else { value.checked_neg() }
    }

    /// Whether the value is `divisor` times an integer; `None` where the divisor has too many digits to tell.
    pub(crate) fn is_multiple_of(self, divisor: Self) -> Option<bool> {
        if self.len() == 0 {
            return Some(true);
        }
        let modulus =
            divisor.digits().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(digit.into()))?;
        if modulus == 0 {
            return Some(false);
        }
        // As integers without trailing zeros, and powers of ten.
        let zeros =
            self.exponent.saturating_sub(self.len()).saturating_sub(divisor.exponent.saturating_sub(divisor.len()));
        let Ok(mut power) = u64::try_from(zeros) else {
            // The divisor holds a factor of ten that the value has not.
            return Some(false);
        };
        let modulus = u128::from(modulus);
        let mut rest = self.digits().fold(0, |rest, digit| (rest * 10 + u128::from(digit)) % modulus);
        let mut factor = 10 % modulus;
        while power > 0 {
            if power % 2 == 1 {
                rest = rest * factor % modulus;
            }
            factor = factor * factor % modulus;
            power /= 2;
        }
        Some(rest == 0)
    }

    fn digits(self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.digits.0.bytes().chain(self.digits.1.bytes()).map(|byte| byte.saturating_sub(b'0'))
    }

    fn len(self) -> i64 {
        length(self.digits.0.len() + self.digits.1.len())
    }
}

/// What no text in memory exceeds.
fn length(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// An exponent; of one with more digits than are of any use, the nearest that there is.
fn exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(i64::MAX);
    Some(if negative { -value } else { value })
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.len(), number.negative) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let size = || self.exponent.cmp(&other.exponent).then_with(|| self.digits().cmp(other.digits()));
        sign(self).cmp(&sign(other)).then_with(|| if self.negative { size().reverse() } else { size() })
    }
}

/// One spelling for each value.
impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = self.digits;
        if whole.is_empty() && fraction.is_empty() {
            return f.write_str("0");
        }
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{whole}{fraction}e{}", i128::from(self.exponent) - i128::from(self.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number<'_> {
        Number::parse(text).unwrap()
    }

    #[test]
    fn one_value_is_equal_in_all_its_spellings() {
        for same in [
            ["1", "1.0", "10e-1", "0.1E+1", "1000e-3"],
            ["0", "-0", "0.0", "0e99", "-0.000e-5"],
            ["-120", "-1.2e2", "-120.00", "-0.12e3", "-12e1"],
            ["0.001", "1e-3", "0.1e-2", "0.0010", "100e-5"],
        ] {
            for a in same {
                for b in same {
                    assert_eq!(number(a), number(b), "{a} {b}");
                    assert_eq!(number(a).to_string(), number(b).to_string());
                }
            }
        }
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert_ne!(number("0.1"), number("0.1000000000000000055511151231257827"));
    }

    #[test]
    fn numbers_are_ordered_by_value_without_loss() {
        let ascending = [
            "-1e400",
            "-18446744073709551616",
            "-2",
            "-1.5",
            "-0.001",
            "0",
            "1e-400",
            "0.00999",
            "0.01",
            "0.5",
            "1",
            "1.0000000000000000000000001",
            "9",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "1e401",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(number(a).cmp(&number(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn integers_are_read_exactly_in_every_spelling() {
        for (text, value) in [
            ("1.0", Some(1)),
            ("1e2", Some(100)),
            ("-12.50e1", Some(-125)),
            ("0.0", Some(0)),
            ("9007199254740993.000", Some(9_007_199_254_740_993)),
            ("18446744073709551615", Some(u64::MAX.into())),
            ("-170141183460469231731687303715884105728", Some(i128::MIN)),
            ("170141183460469231731687303715884105728", None),
            ("1e39", None),
            ("1e999999999999999999999", None),
            ("0.99999999999999999999", None),
            ("1e-1", None),
            ("1e-999999999999999999999", None),
        ] {
            assert_eq!(number(text).to_i128(), value, "{text}");
            if value.is_some() {
                assert!(number(text).is_integer());
            }
        }
        assert!(number("1e400").is_integer() && !number("1.5").is_integer());
    }

    #[test]
    fn multiples_are_told_exactly() {
        for (value, divisor, multiple) in [
            ("0.0075", "0.0001", Some(true)),
            ("0.00751", "0.0001", Some(false)),
            ("19.99", "0.01", Some(true)),
            ("4.5", "1.5", Some(true)),
            ("35", "1.5", Some(false)),
            ("0", "0.123", Some(true)),
            ("-9", "3", Some(true)),
            ("1e308", "0.123456789", Some(false)),
            ("1e308", "0.5", Some(true)),
            ("1e999999999999999999999", "7", Some(false)),
            ("7e999999999999999999999", "7", Some(true)),
            ("5", "10", Some(false)),
            ("100", "1e2", Some(true)),
            ("12391239123", "1e-8", Some(true)),
            ("1", "0", Some(false)),
            ("1", "0.123456789012345678901", None),
        ] {
            assert_eq!(number(value).is_multiple_of(number(divisor)), multiple, "{value} / {divisor}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", ".5", "x", "1e", "1e+", "0x1", "NaN", "1.2.3", "--1", "1 "] {
            assert!(Number::parse(text).is_none(), "{text}");
        }
    }
}
