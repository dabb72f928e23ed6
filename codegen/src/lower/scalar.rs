//! Integers and numbers.

use crate::model::{Integer, Kinds, Rule, Type};
use crate::schema::Decimal;

/// The Rust type of each integer `format`.
const INTEGERS: &[(&str, Integer)] = &[
    ("int8", Integer { name: "i8", min: i8::MIN as i128, max: i8::MAX as i128 }),
    ("int16", Integer { name: "i16", min: i16::MIN as i128, max: i16::MAX as i128 }),
    ("int32", Integer { name: "i32", min: i32::MIN as i128, max: i32::MAX as i128 }),
    ("int64", I64),
    ("uint8", Integer { name: "u8", min: 0, max: u8::MAX as i128 }),
    ("uint16", Integer { name: "u16", min: 0, max: u16::MAX as i128 }),
    ("uint32", Integer { name: "u32", min: 0, max: u32::MAX as i128 }),
    ("uint64", U64),
];

const I64: Integer = Integer { name: "i64", min: i64::MIN as i128, max: i64::MAX as i128 };
const U64: Integer = Integer { name: "u64", min: 0, max: u64::MAX as i128 };

/// The type of numbers of these kinds, by format, else by their bounds.
pub(super) fn number(kinds: Kinds, formats: &[String], rules: &[Rule], exact: bool) -> Type {
    if kinds != Kinds::INTEGER {
        return match kinds {
            Kinds::NUMBER if formats.iter().any(|format| format == "float") => Type::F32,
            Kinds::NUMBER if formats.iter().any(|format| format == "double") || !exact => Type::F64,
            _ => Type::Json,
        };
    }
    let by_format = formats.iter().find_map(|format| INTEGERS.iter().find(|(name, _)| name == format));
    if let Some((_, integer)) = by_format {
        return Type::Integer(*integer);
    }
    let (mut low, mut high) = (None, None);
    for rule in rules {
        match rule {
            Rule::Minimum(bound) | Rule::ExclusiveMinimum(bound) => low = low.max(whole(bound)),
            Rule::Maximum(bound) | Rule::ExclusiveMaximum(bound) => {
                high = Some(high.map_or(floor(bound), |high: i128| high.min(floor(bound))));
            }
            Rule::OneOf(values) => {
                let values: Vec<i128> = values.iter().filter_map(|value| whole(value)).collect();
                low = low.max(values.iter().min().copied());
                high = values.iter().max().copied();
            }
            _ => {}
        }
    }
    let integer = if low.is_some_and(|low| low >= 0) { U64 } else { I64 };
    let holds = high.is_none_or(|high| high <= integer.max) && low.is_none_or(|low| low >= integer.min);
    let bounded = low.is_some() && high.is_some();
    if holds && (bounded || !exact) { Type::Integer(integer) } else { Type::Json }
}

/// The rules that the type does not keep by itself, and the kinds where it keeps none.
pub(super) fn trim(ty: Type, mut rules: Vec<Rule>, kinds: Kinds) -> (Type, Vec<Rule>) {
    if let Type::Integer(integer) = &ty {
        rules.retain(|rule| match rule {
            Rule::Minimum(bound) => whole(bound).is_none_or(|bound| bound > integer.min),
            Rule::Maximum(bound) => whole(bound).is_none_or(|bound| bound < integer.max),
            _ => true,
        });
    }
    if ty == Type::Json {
        rules.insert(0, Rule::Kinds(kinds));
    }
    (ty, rules)
}

/// A bound that is a whole number, as far as 128 bits go.
fn whole(bound: &str) -> Option<i128> {
    Decimal::parse(bound).filter(Decimal::is_whole)?.floor()
}

/// The largest whole number up to a bound; what 128 bits do not hold is without end.
fn floor(bound: &str) -> i128 {
    let beyond = if bound.starts_with('-') { i128::MIN } else { i128::MAX };
    Decimal::parse(bound).and_then(|bound| bound.floor()).unwrap_or(beyond)
}
