//! Numbers of schemas, compared by value whatever their size: a bound such as `1e400` fits no number type.

use std::cmp::Ordering;
use std::fmt;

/// A JSON number: its digits without zeros around them, and the exponent that they have then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

impl Decimal {
    /// Reads a JSON number; `None` if its exponent is beyond all bounds.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self { negative: false, digits: String::new(), exponent: 0 });
        }
        let zeros = i128::try_from(all.len() - all.trim_end_matches('0').len()).ok()?;
        let shift = zeros - i128::try_from(fraction.len()).ok()?;
        // An exponent of 18 digits leaves room for every sum below.
        let exponent = i128::from(exponent.trim_start_matches('+').parse::<i64>().ok()?) + shift;
        Some(Self { negative, digits: digits.to_owned(), exponent })
    }

    pub(crate) fn whole(value: i128) -> Self {
        Self::parse(&value.to_string()).unwrap_or(Self { negative: false, digits: String::new(), exponent: 0 })
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// The number of digits before the decimal point.
    fn magnitude(&self) -> i128 {
        self.exponent + i128::try_from(self.digits.len()).unwrap_or(i128::MAX / 2)
    }

    /// The largest whole number that is not above this one, if 128 bits hold it.
    pub(crate) fn floor(&self) -> Option<i128> {
        let before = usize::try_from(self.magnitude().max(0)).ok().filter(|before| *before < 38)?;
        let mut text: String = self.digits.chars().take(before).collect();
        text.extend(std::iter::repeat_n('0', before.saturating_sub(self.digits.len())));
        let whole: i128 = if text.is_empty() { 0 } else { text.parse().ok()? };
        Some(match (self.negative, self.is_whole()) {
            (false, _) => whole,
            (true, true) => -whole,
            (true, false) => -whole - 1,
        })
    }

    /// Whether this number is a whole multiple of `divisor`; `None` if that is not known.
    pub(crate) fn is_multiple_of(&self, divisor: &Self) -> Option<bool> {
        if divisor.is_zero() {
            return None;
        }
        if self.is_zero() {
            return Some(true);
        }
        let Ok(shift) = u64::try_from(self.exponent - divisor.exponent) else {
            // The divisor ends in a zero that this number does not have.
            return Some(false);
        };
        let modulus = u128::from(divisor.digits.parse::<u64>().ok()?);
        let digit = |byte: u8| u128::from(byte.wrapping_sub(b'0'));
        let rest = self.digits.bytes().fold(0, |rest, byte| (rest * 10 + digit(byte)) % modulus);
        Some((rest * power_of_ten(shift, modulus)).is_multiple_of(modulus))
    }
}

/// 10 to the `exponent`, modulo a number below 2^64.
fn power_of_ten(mut exponent: u64, modulus: u128) -> u128 {
    let (mut result, mut base) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        exponent /= 2;
    }
    result
}

/// A text that equal numbers share.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{}e{}", self.digits, self.exponent)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign != Ordering::Equal || self.is_zero() {
            return by_sign;
        }
        // Digits of the same magnitude compare as text: a longer text only adds to the fraction.
        let size = self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { size.reverse() } else { size }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).expect("a number")
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let ordered =
            ["-1e400", "-12", "-1.5", "-0.1", "0", "1e-9", "0.5", "0.51", "1", "9", "10", "1e2", "101", "1e400"];
        for (index, a) in ordered.iter().enumerate() {
            for (other, b) in ordered.iter().enumerate() {
                assert_eq!(decimal(a).cmp(&decimal(b)), index.cmp(&other), "{a} {b}");
            }
        }
        for (a, b) in [("1", "1.0"), ("100", "1e2"), ("0", "-0.0"), ("12.5", "125e-1")] {
            assert_eq!(decimal(a), decimal(b), "{a} {b}");
        }
        assert_eq!(Decimal::parse("1e99999999999999999999"), None);
    }

    #[test]
    fn multiples_are_exact() {
        for (a, b) in
            [("6", "3"), ("0.3", "0.1"), ("0", "7"), ("1e30", "3e29"), ("-5", "2.5"), ("1e400", "8"), ("7", "0.01")]
        {
            let expected = a != "1e30";
            assert_eq!(decimal(a).is_multiple_of(&decimal(b)), Some(expected), "{a} {b}");
        }
        for (a, b) in [("7", "3"), ("0.35", "0.1"), ("1", "10"), ("3", "6"), ("0.5", "1")] {
            assert_eq!(decimal(a).is_multiple_of(&decimal(b)), Some(false), "{a} {b}");
        }
    }

    #[test]
    fn the_floor_is_the_next_whole_number_below() {
        for (text, floor) in [("1.5", 1), ("-1.5", -2), ("-2", -2), ("0.001", 0), ("-0.001", -1), ("12e3", 12_000)] {
            assert_eq!(decimal(text).floor(), Some(floor), "{text}");
        }
        assert_eq!(decimal("1e400").floor(), None);
        assert_eq!(Decimal::whole(-120), decimal("-1.2e2"));
    }
}
