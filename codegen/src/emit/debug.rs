//! `Debug` of structs with personal data, which it masks (contract section 7).

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, bare, enums, ident};
use crate::model::{Field, Kind, Presence, Rest, Struct, Topic, Type, TypeDef};

/// The implementation for a struct that must not show everything; all others derive it.
pub(super) fn masking(topic: &Topic, ty: &TypeDef, object: &Struct, style: &Style) -> Option<TokenStream> {
    if !masks(object) {
        return None;
    }
    let (name, shown) = (ident(&ty.name), bare(&ty.name));
    let fields = object.fields.iter().map(|field| {
        let shown = bare(&field.name);
        let value = if field.sensitive { masked(topic, field, style) } else { plain(&field.name) };
        quote!(.field(#shown, #value))
    });
    let rest = match &object.rest {
        Rest::Kept { name, .. } => {
            let (shown, value) = (bare(name), plain(name));
            Some(quote!(.field(#shown, #value)))
        }
        Rest::Closed | Rest::Dropped => None,
    };
    Some(quote! {
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#shown) #(#fields)* #rest .finish()
            }
        }
    })
}

/// Whether any field of the struct is masked.
pub(super) fn masks(object: &Struct) -> bool {
    object.fields.iter().any(|field| field.sensitive)
}

fn plain(name: &str) -> TokenStream {
    let name = ident(name);
    quote!(&self.#name)
}

/// A string keeps its first character, everything else is covered; that a value is missing or null may be seen.
fn masked(topic: &Topic, field: &Field, style: &Style) -> TokenStream {
    let name = ident(&field.name);
    let options = usize::from(field.presence == Presence::Optional) + usize::from(field.slot.nullable);
    let masked = below(&quote!(self.#name), options, &|value| text(topic, &field.slot.ty, value), style);
    quote!(&#masked)
}

/// What is shown of `value`, which so many options stand around.
fn below(
    value: &TokenStream,
    options: usize,
    text: &dyn Fn(&TokenStream) -> Option<TokenStream>,
    style: &Style,
) -> TokenStream {
    let path = &style.crate_path;
    if options > 0 {
        let inner = quote!(value);
        let pattern = if text(&inner).is_some() || options > 1 { quote!(value) } else { quote!(_) };
        let inner = below(&inner, options - 1, text, style);
        return quote!(#value.as_ref().map(|#pattern| #inner));
    }
    match text(value) {
        Some(text) => quote!(#path::private::masked(#text)),
        None => quote!(#path::private::MASKED),
    }
}

/// The text of a value, if it is one.
fn text(topic: &Topic, ty: &Type, value: &TokenStream) -> Option<TokenStream> {
    match ty {
        Type::String => Some(quote!(&#value)),
        Type::Named(id) => match &topic.types.get(*id)?.kind {
            Kind::Enum(variants) if enums::strings(variants).is_some() => Some(quote!(#value.as_str())),
            _ => None,
        },
        _ => None,
    }
}
