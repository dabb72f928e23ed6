//! Enums: types whose values are all known.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, bare, docs, head, ident, schema};
use crate::model::{TypeDef, Variant};

/// What every enum derives.
const DERIVES: [&str; 6] = ["Clone", "Copy", "Debug", "PartialEq", "Eq", "Hash"];

pub(super) fn item(ty: &TypeDef, variants: &[Variant], style: &Style) -> TokenStream {
    let name = ident(&ty.name);
    let docs = head::docs(ty, None);
    let attributes = head::attributes(style, &DERIVES);
    let texts = strings(variants);
    let derive = texts.as_ref().and_then(|_| schema::derive(style, &TokenStream::new()));
    let schema = if texts.is_none() { schema::of_values(ty, variants, style) } else { None };
    let variants = variants.iter().enumerate().map(|(index, variant)| {
        let text = texts.as_ref().and_then(|texts| texts.get(index));
        let docs = docs::lines(&format!("The value {}.", docs::code(text.unwrap_or(&variant.json))));
        let rename = text.filter(|text| style.json_schema && bare(&variant.name) != **text);
        let rename = rename.map(|text| quote!(#[schemars(rename = #text)]));
        let name = ident(&variant.name);
        quote!(#(#docs)* #rename #name)
    });
    quote! {
        #(#docs)*
        #attributes
        #derive
        pub enum #name { #(#variants),* }
        #schema
    }
}

/// The texts of the values, if all of them are strings.
pub(super) fn strings(variants: &[Variant]) -> Option<Vec<String>> {
    variants.iter().map(|variant| serde_json::from_str(&variant.json).ok()).collect()
}
