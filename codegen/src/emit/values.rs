//! Values of defaults.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Style, ident};
use crate::model::{Kind, Rest, Struct, Topic, Value};

pub(super) fn expression(topic: &Topic, value: &Value, style: &Style) -> TokenStream {
    let expression = |value: &Value| expression(topic, value, style);
    let member = |(name, value): &(String, Value)| {
        let value = expression(value);
        quote!((::std::string::String::from(#name), #value))
    };
    match value {
        Value::Null => quote!(()),
        Value::Bool(value) => quote!(#value),
        Value::Integer(value) => signed(*value < 0, &Literal::u128_unsuffixed(value.unsigned_abs())),
        Value::Float(value) => signed(value.is_sign_negative(), &Literal::f64_unsuffixed(value.abs())),
        Value::String(text) => quote!(::std::string::String::from(#text)),
        Value::Json(text) => {
            let path = &style.crate_path;
            quote!(#path::private::json(#text))
        }
        Value::Tuple(items) if items.is_empty() => quote!([]),
        Value::Tuple(items) => {
            let items = items.iter().map(expression);
            quote!((#(#items,)*))
        }
        Value::List(items) => {
            let items = items.iter().map(expression);
            quote!(::std::vec::Vec::from([#(#items),*]))
        }
        Value::Map(members) => {
            let members = members.iter().map(member);
            quote!(::std::collections::BTreeMap::from([#(#members),*]))
        }
        Value::Variant(id, index) => {
            let ty = topic.types.get(*id);
            let variant =
                ty.and_then(|ty| if let Kind::Enum(variants) = &ty.kind { variants.get(*index) } else { None });
            let (ty, variant) = (ty.map(|ty| ident(&ty.name)), variant.map(|variant| ident(&variant.name)));
            quote!(#ty::#variant)
        }
        Value::Alternative(id, index, value) => {
            let ty = topic.types.get(*id);
            let form = ty.and_then(|ty| if let Kind::Union(forms) = &ty.kind { forms.get(*index) } else { None });
            let (ty, form) = (ty.map(|ty| ident(&ty.name)), form.map(|form| ident(&form.name)));
            let value = expression(value);
            quote!(#ty::#form(#value))
        }
        Value::Struct(id, values, others) => {
            let ty = topic.types.get(*id);
            let name = ty.map(|ty| ident(&ty.name));
            let fields = ty.map(|ty| ty.fields()).unwrap_or_default().iter().zip(values).map(|(field, value)| {
                let (field, value) = (ident(&field.name), expression(value));
                quote!(#field: #value)
            });
            let rest = ty.and_then(|ty| match &ty.kind {
                Kind::Struct(Struct { rest: Rest::Kept { name, .. }, .. }) => Some(ident(name)),
                _ => None,
            });
            let rest = rest.map(|name| {
                let others = others.iter().map(member);
                quote!(#name: ::std::collections::BTreeMap::from([#(#others),*]))
            });
            quote!(#name { #(#fields,)* #rest })
        }
        Value::None => quote!(::core::option::Option::None),
        Value::Some(value) => {
            let value = expression(value);
            quote!(::core::option::Option::Some(#value))
        }
        Value::Boxed(value) => {
            let value = expression(value);
            quote!(::std::boxed::Box::new(#value))
        }
    }
}

fn signed(negative: bool, literal: &Literal) -> TokenStream {
    if negative { quote!(-#literal) } else { quote!(#literal) }
}
