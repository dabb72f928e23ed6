//! What stands above every type: documentation, derives and the attribute of a payload.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, docs, ident};
use crate::model::{Message, Topic, TypeDef};

pub(super) fn docs(ty: &TypeDef, message: Option<&Message>) -> Vec<TokenStream> {
    let mut lines = ty.docs.as_deref().map(docs::foreign).unwrap_or_default();
    if lines.is_empty() {
        lines = docs::lines(&match message {
            Some(message) => format!("Payload of {}.", docs::code(&message.urn)),
            None => "Part of a payload.".to_owned(),
        });
    }
    let place = match ty.origin.pointer.as_str() {
        "" => format!("schema {}", docs::code(&ty.origin.file)),
        pointer => format!("schema {} at {}", docs::code(&ty.origin.file), docs::code(pointer)),
    };
    let place = match message {
        None => format!("From {place}."),
        Some(message) => {
            let owner =
                message.owner.as_deref().map(|owner| format!(", owner {}", docs::code(owner))).unwrap_or_default();
            format!("URN {}, {place}{owner}.", docs::code(&message.urn))
        }
    };
    lines.extend(docs::lines(&format!("\n{place}")));
    lines
}

/// The attributes of a payload.
pub(super) fn job(topic: &Topic, message: &Message, style: &Style) -> TokenStream {
    let path = &style.crate_path;
    let (urn, name) = (&message.urn, &topic.name);
    let deprecated = message.deprecated.then(|| {
        let note = format!("the registry calls the URN {urn} deprecated");
        quote!(#[deprecated(note = #note)])
    });
    let key = message.key.as_ref().map(|key| {
        let steps = key.iter().filter_map(|&(ty, field)| topic.types.get(ty)?.fields().get(field));
        let steps = steps.map(|field| ident(&field.name));
        quote!(, key = #(#steps).*)
    });
    let renamed = (!style.is_default_crate()).then(|| quote!(, crate = #path));
    quote! {
        #deprecated
        #[#path::babel_job(#urn, topic = #name #key #renamed)]
    }
}

/// The derives: `own`, which every type of the kind has, and what the user asks for beyond them.
pub(super) fn attributes(style: &Style, own: &[&str]) -> TokenStream {
    let derives = own.iter().map(|name| ident(name));
    let further = style.derives.iter().filter(|path| {
        // `Debug` of types with personal data is written by hand.
        let name = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        name != "Debug" && !own.contains(&name.as_str())
    });
    let non_exhaustive = style.non_exhaustive.then(|| quote!(#[non_exhaustive]));
    quote! {
        #[derive(#(#derives,)* #(#further),*)]
        #non_exhaustive
    }
}
