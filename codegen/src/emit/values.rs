//! Values of defaults.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::ident;
use crate::model::{Kind, Topic, Value};

pub(super) fn expression(topic: &Topic, value: &Value) -> TokenStream {
    match value {
        Value::Null | Value::Json(_) | Value::Tuple(_) | Value::Alternative(..) => quote!(()),
        Value::Bool(value) => quote!(#value),
        Value::Integer(value) => signed(*value < 0, &Literal::u128_unsuffixed(value.unsigned_abs())),
        Value::Float(value) => signed(value.is_sign_negative(), &Literal::f64_unsuffixed(value.abs())),
        Value::String(text) => quote!(::std::string::String::from(#text)),
        Value::List(items) => {
            let items = items.iter().map(|item| expression(topic, item));
            quote!(::std::vec::Vec::from([#(#items),*]))
        }
        Value::Map(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = expression(topic, value);
                quote!((::std::string::String::from(#name), #value))
            });
            quote!(::std::collections::BTreeMap::from([#(#members),*]))
        }
        Value::Variant(id, index) => {
            let ty = topic.types.get(*id);
            let variant =
                ty.and_then(|ty| if let Kind::Enum(variants) = &ty.kind { variants.get(*index) } else { None });
            let (ty, variant) = (ty.map(|ty| ident(&ty.name)), variant.map(|variant| ident(&variant.name)));
            quote!(#ty::#variant)
        }
        Value::Struct(id, values, _) => {
            let ty = topic.types.get(*id);
            let name = ty.map(|ty| ident(&ty.name));
            let fields = ty.map(|ty| ty.fields()).unwrap_or_default().iter().zip(values).map(|(field, value)| {
                let (field, value) = (ident(&field.name), expression(topic, value));
                quote!(#field: #value)
            });
            quote!(#name { #(#fields),* })
        }
        Value::None => quote!(::core::option::Option::None),
        Value::Some(value) => {
            let value = expression(topic, value);
            quote!(::core::option::Option::Some(#value))
        }
        Value::Boxed(value) => {
            let value = expression(topic, value);
            quote!(::std::boxed::Box::new(#value))
        }
    }
}

fn signed(negative: bool, literal: &Literal) -> TokenStream {
    if negative { quote!(-#literal) } else { quote!(#literal) }
}
