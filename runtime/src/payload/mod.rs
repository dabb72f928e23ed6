//! What generated payload types are made of: how they are read, checked against the rules of their schemas, and written.
//!
//! Generated code names these items through [`private`](crate::private).

mod decode;
mod integer;
mod masked;
mod misfit;
mod nested;
mod object;
mod rules;
mod scalar;
#[cfg(feature = "schemars")]
mod schema;
mod tuple;
mod union;
mod values;

pub(crate) use self::misfit::{Misfit, decode};
#[cfg(feature = "schemars")]
pub use self::schema::{add_constants, schema_of_values};
pub use self::{
    decode::{Decode, Foreign, Of, Own},
    masked::{MASKED, masked},
    object::{Key, Members, Object, Others, object, read_object, write_constant, write_others},
    rules::{Bound, Rule, Rules},
    scalar::json,
    union::{Form, Union, read_form, read_union, union},
    values::{Strings, Values, read_string, read_value, values, write_value},
};
pub use crate::json::Kind;
