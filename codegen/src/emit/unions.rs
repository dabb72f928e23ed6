//! Unions: types whose values have one of several forms.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, docs, head, ident, schema, types};
use crate::model::{Alternative, Message, Slot, Topic, Type, TypeDef, TypeId};

pub(super) fn item(
    topic: &Topic,
    id: TypeId,
    ty: &TypeDef,
    message: Option<&Message>,
    forms: &[Alternative],
    style: &Style,
) -> TokenStream {
    let name = ident(&ty.name);
    let docs = head::docs(ty, message);
    let job = message.map(|message| head::job(topic, message, style));
    let attributes = head::attributes(style, &["Clone", "Debug", "PartialEq"]);
    let schema = schema::derive(style, &quote!(, untagged));
    let variants = forms.iter().map(|form| {
        let mut lines = form.docs.as_deref().map(docs::foreign).unwrap_or_default();
        if lines.is_empty() {
            lines = docs::lines(&format!("The form {}.", docs::code(&form.natural)));
        }
        let (name, ty) = (ident(&form.name), types::form(topic, form, style));
        quote!(#(#lines)* #name(#ty))
    });
    let conversions = conversions(topic, id, ty, forms, style);
    quote! {
        #(#docs)*
        #job
        #attributes
        #schema
        pub enum #name { #(#variants),* }
        #(#conversions)*
    }
}

/// `From` what a form holds, where no other form holds the same.
fn conversions(topic: &Topic, id: TypeId, ty: &TypeDef, forms: &[Alternative], style: &Style) -> Vec<TokenStream> {
    let union = ident(&ty.name);
    let held: Vec<_> = forms.iter().map(|form| types::slot(topic, &form.slot, style).to_string()).collect();
    let convertible = forms.iter().zip(&held).filter(|(form, ty)| {
        let alone = held.iter().filter(|other| other == ty).count() == 1;
        // What a path of the user's leads to may be any of the others; and every type is made from itself already.
        alone && !is_foreign(&form.slot) && form.slot.ty != Type::Named(id)
    });
    convertible
        .map(|(form, _)| {
            let (variant, inner) = (ident(&form.name), types::slot(topic, &form.slot, style));
            let value = match (form.boxed, form.slot.nullable) {
                (false, _) => quote!(value),
                (true, false) => quote!(::std::boxed::Box::new(value)),
                (true, true) => quote!(value.map(::std::boxed::Box::new)),
            };
            quote! {
                impl ::core::convert::From<#inner> for #union {
                    fn from(value: #inner) -> Self {
                        Self::#variant(#value)
                    }
                }
            }
        })
        .collect()
}

fn is_foreign(slot: &Slot) -> bool {
    match &slot.ty {
        Type::Foreign(_) => true,
        Type::List(item) | Type::Map(item) => is_foreign(item),
        Type::Tuple(items) => items.iter().any(is_foreign),
        _ => false,
    }
}
