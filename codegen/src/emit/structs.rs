//! Payload structs and enums.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, bare, docs, ident, values};
use crate::model::{Field, Message, Presence, Slot, Topic, Type, TypeDef, TypeId, Variant};

pub(super) fn item(topic: &Topic, id: TypeId, fields: &[Field], closed: bool, style: &Style) -> TokenStream {
    let Some(ty) = topic.types.get(id) else { return TokenStream::new() };
    let message = topic.messages.iter().find(|message| message.payload == id);
    let name = ident(&ty.name);
    let docs = type_docs(ty, message);
    let attributes = message.map(|message| job_attributes(topic, message, style));
    let derives = derives(style, &["Clone", "Debug", "PartialEq"], closed);
    let members = fields.iter().map(|field| member(topic, ty, field, style));
    let defaults: Vec<_> = fields.iter().filter_map(|field| default(topic, field)).collect();
    let defaults = (!defaults.is_empty()).then(|| quote!(impl #name { #(#defaults)* }));
    quote! {
        #(#docs)*
        #attributes
        #derives
        pub struct #name { #(#members),* }
        #defaults
    }
}

pub(super) fn string_enum(ty: &TypeDef, variants: &[Variant], style: &Style) -> TokenStream {
    let name = ident(&ty.name);
    let docs = type_docs(ty, None);
    let derives = derives(style, &["Clone", "Copy", "Debug", "PartialEq", "Eq", "Hash"], false);
    let variants = variants.iter().map(|Variant { json, name }| {
        let wire = serde_json::from_str::<String>(json).unwrap_or_default();
        let docs = docs::lines(&format!("The value {}.", docs::code(&wire)));
        let rename = (bare(name) != wire).then(|| quote!(#[serde(rename = #wire)]));
        let name = ident(name);
        quote!(#(#docs)* #rename #name)
    });
    quote! {
        #(#docs)*
        #derives
        pub enum #name { #(#variants),* }
    }
}

fn type_docs(ty: &TypeDef, message: Option<&Message>) -> Vec<TokenStream> {
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

fn job_attributes(topic: &Topic, message: &Message, style: &Style) -> TokenStream {
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

fn derives(style: &Style, traits: &[&str], closed: bool) -> TokenStream {
    let path = &style.crate_path;
    let serde = style.path("::private::serde");
    let traits = traits.iter().map(|name| ident(name));
    let closed = closed.then(|| quote!(, deny_unknown_fields));
    let schema = style.json_schema.then(|| {
        let schemars = style.path("::private::schemars");
        quote! {
            #[derive(#path::private::schemars::JsonSchema)]
            #[schemars(crate = #schemars)]
        }
    });
    quote! {
        #[derive(#(#traits,)* #path::private::serde::Serialize, #path::private::serde::Deserialize)]
        #schema
        #[serde(crate = #serde #closed)]
    }
}

fn member(topic: &Topic, owner: &TypeDef, field: &Field, style: &Style) -> TokenStream {
    let wire = &field.wire;
    let mut lines = field.docs.as_deref().map(docs::foreign).unwrap_or_default();
    if lines.is_empty() {
        lines = docs::lines(&format!("The member {}.", docs::code(wire)));
    }
    let rename = (bare(&field.name) != wire).then(|| quote!(rename = #wire));
    let serde: Vec<_> = rename.into_iter().chain(presence(owner, field, style)).collect();
    let serde = (!serde.is_empty()).then(|| quote!(#[serde(#(#serde),*)]));
    let schema = style.json_schema.then(|| schema_attribute(topic, field, style));
    let name = ident(&field.name);
    let ty = field_type(topic, field);
    quote!(#(#lines)* #serde #schema pub #name: #ty)
}

/// Keeps missing, null and present apart: serde alone takes a missing member and null for the same `None`.
fn presence(owner: &TypeDef, field: &Field, style: &Style) -> Option<TokenStream> {
    let nullable = field.slot.nullable;
    let optional = |helper: &str| {
        let helper = style.path(&format!("::private::decode::{helper}"));
        quote!(default, skip_serializing_if = "::core::option::Option::is_none", deserialize_with = #helper)
    };
    match &field.presence {
        Presence::Required if nullable => {
            let helper = style.path("::private::decode::nullable");
            Some(quote!(deserialize_with = #helper))
        }
        Presence::Required => None,
        Presence::Optional => Some(optional(if nullable { "maybe_nullable" } else { "present" })),
        Presence::Default(_) => {
            let function = format!("{}::default_{}", owner.name, bare(&field.name));
            Some(quote!(default = #function))
        }
    }
}

/// Tells schemars what it cannot see in `Option`: a member that may be missing but not null, or null but not missing.
fn schema_attribute(topic: &Topic, field: &Field, style: &Style) -> Option<TokenStream> {
    let written = |ty: TokenStream| ty.to_string().replace(' ', "");
    match (&field.presence, field.slot.nullable) {
        (Presence::Optional, false) => {
            let ty = written(type_tokens(topic, &field.slot.ty));
            Some(quote!(#[schemars(with = #ty)]))
        }
        (Presence::Required, true) => {
            let ty = written(slot_tokens(topic, &field.slot));
            let generator = style.path("::private::schemars::SchemaGenerator");
            let function = format!("{generator}::subschema_for::<{ty}>");
            Some(quote!(#[schemars(schema_with = #function)]))
        }
        _ => None,
    }
}

fn default(topic: &Topic, field: &Field) -> Option<TokenStream> {
    let Presence::Default(value) = &field.presence else { return None };
    let name = ident(&format!("default_{}", bare(&field.name)));
    let ty = field_type(topic, field);
    let value = values::expression(topic, value);
    Some(quote!(fn #name() -> #ty { #value }))
}

fn field_type(topic: &Topic, field: &Field) -> TokenStream {
    let mut ty = type_tokens(topic, &field.slot.ty);
    if field.boxed {
        ty = quote!(::std::boxed::Box<#ty>);
    }
    let options = usize::from(field.slot.nullable) + usize::from(field.presence == Presence::Optional);
    (0..options).fold(ty, |ty, _| quote!(::core::option::Option<#ty>))
}

fn slot_tokens(topic: &Topic, slot: &Slot) -> TokenStream {
    let ty = type_tokens(topic, &slot.ty);
    if slot.nullable { quote!(::core::option::Option<#ty>) } else { ty }
}

fn type_tokens(topic: &Topic, ty: &Type) -> TokenStream {
    match ty {
        Type::Null | Type::Json | Type::Tuple(_) | Type::Foreign(_) => quote!(()),
        Type::Bool => quote!(bool),
        Type::String => quote!(::std::string::String),
        Type::F32 => quote!(f32),
        Type::F64 => quote!(f64),
        Type::Integer(integer) => {
            let name = ident(integer.name);
            quote!(#name)
        }
        Type::List(slot) => {
            let item = slot_tokens(topic, slot);
            quote!(::std::vec::Vec<#item>)
        }
        Type::Map(slot) => {
            let value = slot_tokens(topic, slot);
            quote!(::std::collections::BTreeMap<::std::string::String, #value>)
        }
        Type::Named(id) => {
            let name = topic.types.get(*id).map(|ty| ident(&ty.name));
            quote!(#name)
        }
    }
}
