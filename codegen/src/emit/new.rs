//! How a struct is made: from its required members, and from none where it has none.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, bare, docs, ident, types};
use crate::model::{Field, Presence, Rest, Rule, Struct, Topic, Type, TypeDef};

/// The constructor.
pub(super) fn function(topic: &Topic, ty: &TypeDef, object: &Struct, style: &Style) -> TokenStream {
    let required: Vec<_> = object.fields.iter().filter(|field| field.presence == Presence::Required).collect();
    let all = required.len() == object.fields.len();
    let docs = docs::lines(&format!(
        "`{}`{}.",
        bare(&ty.name),
        match (required.is_empty(), all) {
            (true, true) => "",
            (true, false) => " without any member but those that have a default",
            (false, true) => " with these members",
            (false, false) => " with these members; the others are missing, or have their default",
        }
    ));
    let parameters = required.iter().map(|field| parameter(topic, field, style));
    let fields = object.fields.iter().map(|field| {
        let name = ident(&field.name);
        let value = match &field.presence {
            Presence::Required => argument(field),
            Presence::Optional => quote!(::core::option::Option::None),
            Presence::Default(_) => {
                let function = ident(&format!("default_{}", bare(&field.name)));
                quote!(Self::#function())
            }
        };
        if name == value.to_string() { quote!(#name) } else { quote!(#name: #value) }
    });
    let rest = match &object.rest {
        Rest::Kept { name, .. } => {
            let name = ident(name);
            Some(quote!(#name: ::std::collections::BTreeMap::new()))
        }
        Rest::Closed | Rest::Dropped => None,
    };
    quote! {
        #(#docs)*
        #[must_use]
        pub fn new(#(#parameters),*) -> Self {
            Self { #(#fields,)* #rest }
        }
    }
}

/// `Default`, if the struct that `new` makes of nothing keeps to its own rules.
pub(super) fn default(ty: &TypeDef, object: &Struct) -> Option<TokenStream> {
    if object.fields.iter().any(|field| field.presence == Presence::Required) {
        return None;
    }
    let written = object.fields.iter().filter(|field| matches!(field.presence, Presence::Default(_)));
    let names: Vec<_> = written.map(|field| &field.wire).chain(object.constants.iter().map(|(name, _)| name)).collect();
    let kept = |rule: &Rule| match rule {
        Rule::MinProperties(least) => names.len() as u64 >= *least,
        Rule::MaxProperties(most) => names.len() as u64 <= *most,
        Rule::Required(needed) => needed.iter().all(|name| names.contains(&name)),
        Rule::DependentRequired(member, needed) => {
            !names.contains(&member) || needed.iter().all(|name| names.contains(&name))
        }
        _ => false,
    };
    let name = ident(&ty.name);
    object.rules.iter().all(kept).then(|| {
        quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    Self::new()
                }
            }
        }
    })
}

fn takes_text(field: &Field) -> bool {
    field.slot.ty == Type::String && !field.slot.nullable
}

fn parameter(topic: &Topic, field: &Field, style: &Style) -> TokenStream {
    let name = ident(&field.name);
    if takes_text(field) {
        return quote!(#name: impl ::core::convert::Into<::std::string::String>);
    }
    let ty = types::slot(topic, &field.slot, style);
    quote!(#name: #ty)
}

fn argument(field: &Field) -> TokenStream {
    let name = ident(&field.name);
    match (takes_text(field), field.boxed, field.slot.nullable) {
        (true, ..) => quote!(::core::convert::Into::into(#name)),
        (false, false, _) => quote!(#name),
        (false, true, false) => quote!(::std::boxed::Box::new(#name)),
        (false, true, true) => quote!(#name.map(::std::boxed::Box::new)),
    }
}
