//! How null, booleans, strings and doubles are read.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

use super::{
    decode::{Decode, Own},
    rules::{self, Rules},
};
use crate::json::Json;

impl Decode<()> for Own {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D, _: Rules) -> Result<(), D::Error> {
        <()>::deserialize(deserializer)
    }
}

impl Decode<bool> for Own {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D, _: Rules) -> Result<bool, D::Error> {
        bool::deserialize(deserializer)
    }
}

impl Decode<String> for Own {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<String, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !rules.is_empty() {
            rules::string(&text, rules).map_err(D::Error::custom)?;
        }
        Ok(text)
    }
}

impl Decode<f64> for Own {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<f64, D::Error> {
        let value = deserializer.deserialize_f64(Double)?;
        rules::float(value, rules).map_err(D::Error::custom)?;
        Ok(value)
    }
}

impl Decode<f32> for Own {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D, rules: Rules) -> Result<f32, D::Error> {
        let value: f64 = Own::read(deserializer, rules)?;
        #[allow(clippy::cast_possible_truncation)] // The nearest float, unless it is infinite.
        let float = value as f32;
        if float.is_finite() { Ok(float) } else { Err(D::Error::custom("the number is out of range of `f32`")) }
    }
}

struct Double;

impl Visitor<'_> for Double {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        if value.is_finite() { Ok(value) } else { Err(E::custom("the number is out of range of `f64`")) }
    }

    #[allow(clippy::cast_precision_loss)] // The nearest double is what the type stands for.
    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    #[allow(clippy::cast_precision_loss)]
    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }
}

/// The value of a default that is kept as JSON.
#[must_use]
pub fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_default()
}
