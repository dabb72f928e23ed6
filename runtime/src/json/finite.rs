//! A serializer that refuses NaN and infinities, which JSON would turn into `null` (and then no consumer decodes them).

use std::fmt::Display;

use serde::{Serialize, ser};

use super::walk;

/// Passes everything on to the wrapped serializer, and refuses floats that are not finite.
pub(crate) struct Finite<S>(pub(crate) S);

/// A value below a wrapped serializer.
struct Inner<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Inner<'_, T> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Finite(serializer))
    }
}

fn finite<E: ser::Error>(value: f64) -> Result<(), E> {
    if value.is_finite() { Ok(()) } else { Err(E::custom(format_args!("{value} is not a JSON number"))) }
}

/// How `serde_json` names the one field of a struct that stands for JSON text: of a `RawValue`, or of a `Number` of
/// arbitrary precision.
const JSON_TEXT: &str = "$serde_json::private::";

/// The numbers in JSON text are finite doubles too, or `data` would not decode.
fn finite_text<E: ser::Error>(text: &(impl Serialize + ?Sized)) -> Result<(), E> {
    let text = serde_json::to_value(text).map_err(E::custom)?;
    let mut numbers = walk::numbers(text.as_str().unwrap_or_default());
    match numbers.find(|number| !number.parse().is_ok_and(f64::is_finite)) {
        Some(number) => Err(E::custom(format_args!("a number of {} characters is no double", number.len()))),
        None => Ok(()),
    }
}

macro_rules! forward {
    ($($method:ident($type:ty)),*) => {$(
        fn $method(self, value: $type) -> Result<Self::Ok, Self::Error> {
            self.0.$method(value)
        }
    )*};
}

impl<S: ser::Serializer> ser::Serializer for Finite<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Finite<S::SerializeSeq>;
    type SerializeTuple = Finite<S::SerializeTuple>;
    type SerializeTupleStruct = Finite<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Finite<S::SerializeTupleVariant>;
    type SerializeMap = Finite<S::SerializeMap>;
    type SerializeStruct = Finite<S::SerializeStruct>;
    type SerializeStructVariant = Finite<S::SerializeStructVariant>;

    forward! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_i128(i128), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_u128(u128), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8])
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        finite(value.into())?;
        self.0.serialize_f32(value)
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        finite(value)?;
        self.0.serialize_f64(value)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Inner(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_struct(name)
    }

    fn serialize_unit_variant(self, name: &'static str, i: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, i, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, v: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Inner(v))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Inner(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Finite)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Finite)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Finite)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, len).map(Finite)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(len).map(Finite)
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, len).map(Finite)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, len).map(Finite)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! forward_elements {
    ($($trait:ident::$method:ident),*) => {$(
        impl<S: ser::$trait> ser::$trait for Finite<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&Inner(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

forward_elements! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
}

macro_rules! forward_fields {
    ($($trait:ident),*) => {$(
        impl<S: ser::$trait> ser::$trait for Finite<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, v: &T) -> Result<(), S::Error> {
                if key.starts_with(JSON_TEXT) {
                    finite_text(v)?;
                }
                self.0.serialize_field(key, &Inner(v))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                self.0.skip_field(key)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

forward_fields!(SerializeStruct, SerializeStructVariant);

impl<S: ser::SerializeMap> ser::SerializeMap for Finite<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&Inner(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::*;

    fn json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
        let mut out = Vec::new();
        value.serialize(Finite(&mut serde_json::Serializer::new(&mut out)))?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[derive(Serialize)]
    enum Shape {
        Unit,
        Newtype(f64),
        Tuple(f64, u8),
        Struct { x: f64 },
    }

    #[test]
    fn finite_values_serialize_as_without_the_wrapper() {
        #[derive(Serialize)]
        struct All<'a> {
            a: Option<f64>,
            b: Option<f64>,
            c: Vec<(u128, f32)>,
            d: BTreeMap<u64, Shape>,
            e: &'a RawValue,
            #[serde(flatten)]
            f: BTreeMap<&'a str, f64>,
        }
        let raw = RawValue::from_string("1.00".to_owned()).unwrap();
        let all = All {
            a: Some(0.5),
            b: None,
            c: vec![(u128::MAX, 1.5)],
            d: [Shape::Unit, Shape::Newtype(1.0), Shape::Tuple(2.0, 1), Shape::Struct { x: 3.0 }]
                .into_iter()
                .zip(0..)
                .map(|(shape, key)| (key, shape))
                .collect(),
            e: &raw,
            f: [("ratio", 2.5)].into(),
        };
        assert_eq!(json(&all).unwrap(), serde_json::to_string(&all).unwrap());
        assert!(json(&all).unwrap().contains("\"e\":1.00"));
    }

    #[test]
    fn nan_and_infinities_are_refused_at_any_depth() {
        assert!(json(&f64::NAN).is_err());
        assert!(json(&Some(f32::INFINITY)).is_err());
        assert!(json(&[1.0, f64::NEG_INFINITY]).is_err());
        assert!(json(&BTreeMap::from([("k", (1, f64::NAN))])).is_err());
        for shape in [Shape::Newtype(f64::NAN), Shape::Tuple(f64::NAN, 0), Shape::Struct { x: f64::NAN }] {
            assert!(json(&shape).is_err());
        }
    }

    #[test]
    fn a_number_in_raw_text_that_is_no_finite_double_is_refused() {
        for (text, taken) in [("1.00", true), ("[1e308]", true), ("1e400", false), (r#"{"a":[-1e999]}"#, false)] {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            assert_eq!(json(&BTreeMap::from([("k", raw)])).is_ok(), taken, "{text}");
        }
    }
}
