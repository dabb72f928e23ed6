//! What a topic's module holds beside its types: publisher, handlers and routes.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Style, docs, ident};
use crate::model::{Message, Topic};

pub(super) fn items(topic: &Topic, style: &Style) -> TokenStream {
    let publisher = publisher(topic, style);
    let handlers = handlers(topic, style);
    let routes = routes(topic, style);
    quote!(#publisher #handlers #routes)
}

fn names(topic: &Topic) -> impl Iterator<Item = (&Message, Ident, Ident)> {
    topic.messages.iter().filter_map(|message| {
        let ty = topic.types.get(message.payload)?;
        Some((message, ident(&message.method), ident(&ty.name)))
    })
}

fn publisher(topic: &Topic, style: &Style) -> TokenStream {
    let path = &style.crate_path;
    let docs = docs::lines(&format!("Publishes every message of the topic `{}`.", topic.name));
    let new_docs = docs::lines(&format!("A publisher of the topic `{}`.", topic.name));
    let fields = names(topic).map(|(_, method, ty)| quote!(#method: #path::Publisher<#ty>));
    let values = names(topic).map(|(_, method, _)| quote!(#method: #path::Publisher::new(kafka)));
    let retry_docs = docs::lines("The retry topics of the topic, on which delayed messages wait.");
    let with_retry_topics =
        names(topic).map(|(_, method, _)| quote!(#method: self.#method.retry_topics(topics.clone())));
    let methods = names(topic).map(|(message, method, ty)| {
        let docs = docs::lines(&format!(
            "Publishes {}.\n\n`.await` sends it and gives its `meta.id` once the broker has acknowledged it; options, such as record\n\
             key and trace id, can be set before.",
            docs::code(&message.urn)
        ));
        quote! {
            #(#docs)*
            pub fn #method<'a>(&'a self, job: &'a #ty) -> #path::Message<'a, #ty> {
                self.#method.message(job)
            }
        }
    });
    quote! {
        #(#docs)*
        #[derive(Clone, Debug)]
        pub struct Publisher { #(#fields),* }

        impl Publisher {
            #(#new_docs)*
            #[must_use]
            pub fn new(kafka: &#path::Kafka) -> Self {
                Self { #(#values),* }
            }
            #(#retry_docs)*
            #[must_use]
            pub fn retry_topics(self, topics: &#path::RetryTopics) -> Self {
                Self { #(#with_retry_topics),* }
            }
            #(#methods)*
        }
    }
}

fn handlers(topic: &Topic, style: &Style) -> TokenStream {
    let path = &style.crate_path;
    let docs = docs::lines(&format!(
        "One method for every message of the topic `{}`: a missing or mistyped one does not compile.",
        topic.name
    ));
    let methods = names(topic).map(|(message, method, ty)| {
        let docs = docs::lines(&format!("Handles {}.", docs::code(&message.urn)));
        quote! {
            #(#docs)*
            fn #method(
                &self,
                job: #ty,
                cx: &#path::Delivery,
            ) -> impl ::core::future::Future<Output = ::core::result::Result<(), #path::HandlerError>> + ::core::marker::Send;
        }
    });
    let shared = names(topic).map(|(_, method, ty)| {
        quote! {
            fn #method(
                &self,
                job: #ty,
                cx: &#path::Delivery,
            ) -> impl ::core::future::Future<Output = ::core::result::Result<(), #path::HandlerError>> + ::core::marker::Send {
                H::#method(self, job, cx)
            }
        }
    });
    quote! {
        #(#docs)*
        pub trait Handlers: ::core::marker::Send + ::core::marker::Sync + 'static {
            #(#methods)*
        }

        impl<H: Handlers> Handlers for ::std::sync::Arc<H> {
            #(#shared)*
        }
    }
}

fn routes(topic: &Topic, style: &Style) -> TokenStream {
    let path = &style.crate_path;
    let docs = docs::lines(&format!("Registers `handlers` for every message of the topic `{}`.", topic.name));
    let renamed = (!style.is_default_crate()).then(|| quote!(crate = #path;));
    let routes = names(topic).map(|(_, method, ty)| quote!(#ty => H::#method));
    quote! {
        #(#docs)*
        pub fn routes<H: Handlers>(handlers: H) -> #path::Routes {
            #path::routes![#renamed handlers; #(#routes),*]
        }
    }
}
