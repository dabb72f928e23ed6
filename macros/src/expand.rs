//! The tokens of `#[babel_job]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Item, Path, parse_quote};

use crate::{
    attr::{Args, Errors},
    model::{self, Job, Key},
    span::Place,
};

pub(crate) fn babel_job(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::read(args, &mut errors);
    let payload = match syn::parse2::<Item>(item.clone()) {
        Ok(parsed) => model::payload(parsed, &mut errors),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let implementation = payload.map(|payload| {
        let krate = model::crate_path(&args);
        let members = match model::job(args, &payload, &mut errors) {
            Some(job) => members(&krate, &job),
            None => stub(&payload),
        };
        implement(&krate, &payload, &members)
    });
    let errors = errors.into_tokens();
    quote! {
        #item
        #errors
        #implementation
    }
}

fn implement(krate: &Path, payload: &DeriveInput, members: &TokenStream) -> TokenStream {
    let cfgs = model::cfgs(&payload.attrs);
    let name = &payload.ident;
    let mut generics = payload.generics.clone();
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(parse_quote! {
            Self: #krate::private::serde::Serialize
                + #krate::private::serde::de::DeserializeOwned
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static
        });
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #krate::Job for #name #type_generics #where_clause {
            #members
        }
    }
}

fn members(krate: &Path, job: &Job) -> TokenStream {
    let Job { urn, topic, keys } = job;
    let without_key = keys.is_empty().then(|| {
        quote!(
            const HAS_KEY: ::core::primitive::bool = false;
        )
    });
    let keys = keys.iter().map(|key| key_function(krate, key));
    quote! {
        const URN: &'static ::core::primitive::str = #urn;
        const TOPIC: &'static ::core::primitive::str = #topic;
        #without_key
        #(#keys)*
    }
}

fn key_function(krate: &Path, Key { cfgs, path }: &Key) -> TokenStream {
    // A type that is no key is reported at the last field, a field that does not exist at itself. `self` resolves here.
    let place = Place::of(&path.last());
    let record_key = place.cover(quote!(#krate::private::record_key));
    let key = quote_spanned!(Span::call_site().located_at(place.last)=> #record_key(&self #(.#path)*));
    quote! {
        #(#cfgs)*
        fn key(&self) -> ::core::option::Option<::std::borrow::Cow<'_, [::core::primitive::u8]>> {
            #key
        }
    }
}

/// After a mistake: enough for the rest of the user's code, so that the mistake is reported and nothing that follows
/// from it. The URN is one that no other stub has.
fn stub(payload: &DeriveInput) -> TokenStream {
    let name = &payload.ident;
    quote! {
        const URN: &'static ::core::primitive::str =
            ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name));
        const TOPIC: &'static ::core::primitive::str = "";
    }
}
