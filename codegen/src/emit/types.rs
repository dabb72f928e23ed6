//! The Rust type of each slot, and the way in which the runtime crate reads it.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, ident};
use crate::model::{Alternative, Field, Presence, Slot, Topic, Type};

/// The type of a field.
pub(super) fn field(topic: &Topic, field: &Field, style: &Style) -> TokenStream {
    let ty = nullable(boxed(named(topic, &field.slot.ty, style), field.boxed), field.slot.nullable);
    nullable(ty, field.presence == Presence::Optional)
}

/// What a variant of a union holds.
pub(super) fn form(topic: &Topic, form: &Alternative, style: &Style) -> TokenStream {
    nullable(boxed(named(topic, &form.slot.ty, style), form.boxed), form.slot.nullable)
}

pub(super) fn slot(topic: &Topic, slot: &Slot, style: &Style) -> TokenStream {
    nullable(named(topic, &slot.ty, style), slot.nullable)
}

fn nullable(ty: TokenStream, nullable: bool) -> TokenStream {
    if nullable { quote!(::core::option::Option<#ty>) } else { ty }
}

fn boxed(ty: TokenStream, boxed: bool) -> TokenStream {
    if boxed { quote!(::std::boxed::Box<#ty>) } else { ty }
}

/// The type without what stands around it.
pub(super) fn named(topic: &Topic, ty: &Type, style: &Style) -> TokenStream {
    match ty {
        Type::Null => quote!(()),
        Type::Bool => quote!(bool),
        Type::String => quote!(::std::string::String),
        Type::F32 => quote!(f32),
        Type::F64 => quote!(f64),
        Type::Integer(integer) => {
            let name = ident(integer.name);
            quote!(#name)
        }
        Type::Json => {
            let path = &style.crate_path;
            quote!(#path::Json)
        }
        Type::List(item) => {
            let item = slot(topic, item, style);
            quote!(::std::vec::Vec<#item>)
        }
        Type::Tuple(items) if items.is_empty() => quote!([(); 0]),
        Type::Tuple(items) => {
            let items = items.iter().map(|item| slot(topic, item, style));
            quote!((#(#items,)*))
        }
        Type::Map(value) => {
            let value = slot(topic, value, style);
            quote!(::std::collections::BTreeMap<::std::string::String, #value>)
        }
        Type::Named(id) => {
            let name = topic.types.get(*id).map(|ty| ident(&ty.name));
            quote!(#name)
        }
        // A path that is none makes the whole file no Rust, which is reported.
        Type::Foreign(path) => path.parse().unwrap_or_else(|_| quote!(?)),
    }
}

/// The way to read a slot, where it is not that of the runtime crate's own types.
pub(super) fn way(slot: &Slot, boxed: bool, style: &Style) -> Option<String> {
    let private = |item: &str| style.path(&format!("::private::{item}"));
    let around = |way: String| format!("{}<{way}>", private("Of"));
    let inner = match &slot.ty {
        Type::Foreign(_) => private("Foreign"),
        Type::List(item) | Type::Map(item) => around(way(item, false, style)?),
        Type::Tuple(items) => {
            let ways: Vec<_> = items.iter().map(|item| way(item, false, style)).collect();
            if ways.iter().all(Option::is_none) {
                return None;
            }
            let ways: Vec<_> = ways.into_iter().map(|way| way.unwrap_or_else(|| private("Own")) + ",").collect();
            format!("({})", ways.join(" "))
        }
        _ => return None,
    };
    let inner = if boxed { around(inner) } else { inner };
    Some(if slot.nullable { around(inner) } else { inner })
}
