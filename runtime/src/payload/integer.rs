//! How integers are read: exactly, in every spelling of a number without a fraction (`100`, `1e2`, `100.0`).

use serde::{Deserializer, de::Error};

use super::{
    decode::{Decode, Own},
    rules::{self, Rules},
};
use crate::json::{self, Kind, Number};

/// The value of `text`, the text of a JSON value.
fn parse(text: &str) -> Result<i128, String> {
    if let Some(value) = plain(text) {
        return Ok(value.into());
    }
    match Number::parse(text) {
        Some(number) if number.is_integer() => {
            number.to_i128().ok_or_else(|| "the number is out of range of every integer type".to_owned())
        }
        _ => Err(rules::expected(&[Kind::Integer], text)),
    }
}

/// The common case: some digits and no more.
fn plain(text: &str) -> Option<i64> {
    let (digits, sign) = match text.strip_prefix('-') {
        Some(digits) => (digits, -1),
        None => (text, 1),
    };
    // So many always fit.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(sign * value)
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl Decode<$integer> for Own {
            #[inline]
            fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<$integer, D::Error> {
                let text = json::text(deserializer)?;
                if rules.is_empty()
                    && let Some(value) = plain(&text)
                    && let Ok(value) = value.try_into()
                {
                    return Ok(value);
                }
                let value = parse(&text).map_err(D::Error::custom)?;
                rules::integer(value, rules).map_err(D::Error::custom)?;
                value.try_into().map_err(|_| {
                    D::Error::custom(concat!("the number is out of range of `", stringify!($integer), "`"))
                })
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(text: &str) -> Result<T, String>
    where
        Own: Decode<T>,
    {
        Own::decode(&mut serde_json::Deserializer::from_str(text), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn every_spelling_of_an_integer_is_read_exactly() {
        for text in ["100", "1e2", "100.0", "1.00E+2", "1000e-1"] {
            assert_eq!(read::<u8>(text), Ok(100), "{text}");
            assert_eq!(read::<i64>(text), Ok(100), "{text}");
        }
        assert_eq!(read::<u64>("18446744073709551615.0"), Ok(u64::MAX));
        assert_eq!(read::<i64>("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(read::<i64>("9007199254740993.0"), Ok(9_007_199_254_740_993));
        assert_eq!(read::<i8>("-0"), Ok(0));
        assert_eq!(serde_json::from_str::<Vec<u8>>("[1]").unwrap(), read::<Vec<u8>>("[1.0]").unwrap());
    }

    #[test]
    fn a_fraction_another_kind_or_a_number_out_of_range_is_refused() {
        for (text, error) in [
            ("1.5", "found a number with a fraction, expected an integer"),
            ("0.99999999999999999999", "found a number with a fraction, expected an integer"),
            ("\"1\"", "found a string, expected an integer"),
            ("null", "found null, expected an integer"),
            ("{}", "found an object, expected an integer"),
            ("256", "the number is out of range of `u8`"),
            ("-1", "the number is out of range of `u8`"),
            ("1e2000000000", "the number is out of range of every integer type"),
        ] {
            let found = read::<u8>(text).expect_err("refused");
            assert!(found.starts_with(error), "{text}: {found}");
        }
        assert!(read::<u64>("18446744073709551616").is_err() && read::<i64>("9223372036854775808").is_err());
    }

    #[test]
    fn numbers_without_a_text_are_read_as_well() {
        let value = serde_json::json!([1, -2, 3.0]);
        let read: Vec<i32> = Own::decode(value, &[]).unwrap();
        assert_eq!(read, [1, -2, 3]);
    }
}
