//! The attribute of the stub: takes what the generator writes, and refuses everything else.

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{DeriveInput, LitStr, Member, Token, parse_macro_input};

struct Job {
    urn: LitStr,
    topic: LitStr,
    key: Option<Punctuated<Member, Token![.]>>,
    crate_path: syn::Path,
}

impl Parse for Job {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let urn = input.parse()?;
        let (mut topic, mut key) = (None, None);
        let mut crate_path = syn::parse_str("::babelqueue")?;
        while input.parse::<Option<Token![,]>>()?.is_some() {
            if input.parse::<Option<Token![crate]>>()?.is_some() {
                input.parse::<Token![=]>()?;
                crate_path = input.parse()?;
                continue;
            }
            let name: syn::Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match name.to_string().as_str() {
                "topic" => topic = Some(input.parse()?),
                "key" => key = Some(Punctuated::parse_separated_nonempty(input)?),
                _ => return Err(syn::Error::new(name.span(), "expected `topic`, `key` or `crate`")),
            }
        }
        let topic = topic.ok_or_else(|| input.error("no topic"))?;
        Ok(Self { urn, topic, key, crate_path })
    }
}

/// Implements the stub's `Job`.
#[proc_macro_attribute]
pub fn babel_job(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let Job { urn, topic, key, crate_path } = parse_macro_input!(attributes as Job);
    let item = parse_macro_input!(item as DeriveInput);
    let name = &item.ident;
    let key = match key {
        Some(key) => quote!(::core::option::Option::Some(::std::format!("{:?}", self.#key))),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        #item
        impl #crate_path::Job for #name {
            const URN: &'static str = #urn;
            const TOPIC: &'static str = #topic;
            fn key(&self) -> ::core::option::Option<::std::string::String> { #key }
        }
    }
    .into()
}
