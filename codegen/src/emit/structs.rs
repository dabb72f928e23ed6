//! Structs: objects with known members.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, bare, debug, docs, head, ident, new, schema, types, values};
use crate::model::{Field, Message, Presence, Rest, Slot, Struct, Topic, TypeDef};

pub(super) fn item(
    topic: &Topic,
    ty: &TypeDef,
    message: Option<&Message>,
    object: &Struct,
    style: &Style,
) -> TokenStream {
    let name = ident(&ty.name);
    let docs = head::docs(ty, message);
    let constants = constants(object);
    let job = message.map(|message| head::job(topic, message, style));
    let derived: &[&str] =
        if debug::masks(object) { &["Clone", "PartialEq"] } else { &["Clone", "Debug", "PartialEq"] };
    let attributes = head::attributes(style, derived);
    let schema = schema::of_struct(ty, object, style);
    let members = object.fields.iter().map(|field| member(topic, ty, field, style));
    let rest = match &object.rest {
        Rest::Kept { name, value } => Some(rest(topic, name, value, style)),
        Rest::Closed | Rest::Dropped => None,
    };
    let constructor = new::function(topic, ty, object, style);
    let defaults = object.fields.iter().filter_map(|field| default(topic, field, style));
    let schema_of_constants = schema::constants(object, style);
    let default = new::default(ty, object);
    let debug = debug::masking(topic, ty, object, style);
    quote! {
        #(#docs)*
        #(#constants)*
        #job
        #attributes
        #schema
        pub struct #name { #(#members,)* #rest }

        impl #name {
            #constructor
            #(#defaults)*
            #schema_of_constants
        }
        #default
        #debug
    }
}

/// The documentation of the members that need no field.
fn constants(object: &Struct) -> Vec<TokenStream> {
    if object.constants.is_empty() {
        return Vec::new();
    }
    let constants = object.constants.iter();
    let constants: Vec<_> =
        constants.map(|(name, value)| format!("{} is {}", docs::code(name), docs::code(value))).collect();
    docs::lines(&format!("\nIn JSON, {}.", constants.join(", ")))
}

fn member(topic: &Topic, owner: &TypeDef, field: &Field, style: &Style) -> TokenStream {
    let mut lines = field.docs.as_deref().map(docs::foreign).unwrap_or_default();
    if lines.is_empty() {
        lines = docs::lines(&format!("The member {}.", docs::code(&field.wire)));
    }
    let schema = schema::of_field(topic, owner, field, style);
    let name = ident(&field.name);
    let ty = types::field(topic, field, style);
    quote!(#(#lines)* #schema pub #name: #ty)
}

fn rest(topic: &Topic, name: &str, value: &Slot, style: &Style) -> TokenStream {
    let lines = docs::lines("Members without a field of their own.");
    let schema = schema::of_rest(style);
    let (name, value) = (ident(name), types::slot(topic, value, style));
    quote!(#(#lines)* #schema pub #name: ::std::collections::BTreeMap<::std::string::String, #value>)
}

fn default(topic: &Topic, field: &Field, style: &Style) -> Option<TokenStream> {
    let Presence::Default(value) = &field.presence else { return None };
    let name = ident(&format!("default_{}", bare(&field.name)));
    let ty = types::field(topic, field, style);
    let value = values::expression(topic, value, style);
    Some(quote!(fn #name() -> #ty { #value }))
}
