//! What schemars must be told of types that have no attributes of serde: the tables say the same.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Style, bare, types};
use crate::model::{Field, Presence, Rest, Struct, Topic, TypeDef, Variant};

/// The derive of a type, with more to say about it.
pub(super) fn derive(style: &Style, more: &TokenStream) -> Option<TokenStream> {
    let path = &style.crate_path;
    let schemars = style.path("::private::schemars");
    style.json_schema.then(|| {
        quote! {
            #[derive(#path::private::schemars::JsonSchema)]
            #[schemars(crate = #schemars #more)]
        }
    })
}

/// The derive of a struct.
pub(super) fn of_struct(ty: &TypeDef, object: &Struct, style: &Style) -> Option<TokenStream> {
    let closed = matches!(object.rest, Rest::Closed).then(|| quote!(, deny_unknown_fields));
    let function = super::ident(&ty.name);
    let constants = (!object.constants.is_empty()).then(|| quote!(, transform = #function::add_constants));
    derive(style, &quote!(#closed #constants))
}

/// The function that adds the constants to the schema of a struct.
pub(super) fn constants(object: &Struct, style: &Style) -> Option<TokenStream> {
    if !style.json_schema || object.constants.is_empty() {
        return None;
    }
    let path = &style.crate_path;
    let constants = object.constants.iter().map(|(name, value)| quote!((#name, #value)));
    Some(quote! {
        fn add_constants(schema: &mut #path::private::schemars::Schema) {
            #path::private::add_constants(schema, &[#(#constants),*]);
        }
    })
}

/// The attribute of a field.
pub(super) fn of_field(topic: &Topic, owner: &TypeDef, field: &Field, style: &Style) -> Option<TokenStream> {
    if !style.json_schema {
        return None;
    }
    let written = |ty: TokenStream| ty.to_string().replace(' ', "");
    let wire = &field.wire;
    let rename = (bare(&field.name) != wire).then(|| quote!(rename = #wire));
    let presence = match &field.presence {
        Presence::Optional => Some(quote!(default, skip_serializing_if = "::core::option::Option::is_none")),
        Presence::Required => None,
        Presence::Default(_) => {
            let function = format!("{}::default_{}", owner.name, bare(&field.name));
            Some(quote!(default = #function))
        }
    };
    // What schemars cannot see in `Option`: a member that may be missing but not null, or null but not missing.
    let hidden = match (&field.presence, field.slot.nullable) {
        (Presence::Optional, false) => {
            let ty = written(types::named(topic, &field.slot.ty, style));
            Some(quote!(with = #ty))
        }
        (Presence::Required, true) => {
            let ty = written(types::slot(topic, &field.slot, style));
            let generator = style.path("::private::schemars::SchemaGenerator");
            let function = format!("{generator}::subschema_for::<{ty}>");
            Some(quote!(schema_with = #function))
        }
        _ => None,
    };
    let all: Vec<_> = [rename, presence, hidden].into_iter().flatten().collect();
    (!all.is_empty()).then(|| quote!(#[schemars(#(#all),*)]))
}

/// The attribute of the map of other members.
pub(super) fn of_rest(style: &Style) -> Option<TokenStream> {
    style.json_schema.then(|| quote!(#[schemars(flatten)]))
}

/// The implementation for an enum of other values than strings, which schemars cannot derive.
pub(super) fn of_values(ty: &TypeDef, variants: &[Variant], style: &Style) -> Option<TokenStream> {
    if !style.json_schema {
        return None;
    }
    let path = &style.crate_path;
    let (name, text) = (super::ident(&ty.name), bare(&ty.name));
    let values = variants.iter().map(|variant| &variant.json);
    Some(quote! {
        impl #path::private::schemars::JsonSchema for #name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#text)
            }

            fn json_schema(_: &mut #path::private::schemars::SchemaGenerator) -> #path::private::schemars::Schema {
                #path::private::schema_of_values(&[#(#values),*])
            }
        }
    })
}
