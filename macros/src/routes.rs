//! `routes!`: job types and their handlers.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Error, Expr, Path, Token, Type,
    parse::{Parse, ParseStream, Result},
    parse_quote,
    punctuated::Punctuated,
};

use crate::{
    attr::{self, Errors},
    span::Place,
};

const USAGE: &str = "`routes![OrderCreated => on_created, …]`";

struct Input {
    krate: Path,
    state: Option<Expr>,
    entries: Vec<Entry>,
}

struct Entry {
    job: Type,
    /// The most jobs that the handler takes at once, where it takes many.
    batch: Option<Expr>,
    handler: Expr,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let krate = if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            let path = attr::krate(input, input.span())?;
            input.parse::<Token![;]>()?;
            path
        } else {
            parse_quote!(::babelqueue)
        };
        let state = if has_state(input) {
            let state: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            if let Expr::Reference(reference) = &state {
                let message = "routes own their state: give the value, or an `Arc` of it, instead of a reference";
                return Err(Error::new(reference.and_token.span, message));
            }
            Some(state)
        } else {
            None
        };
        if input.is_empty() {
            return Err(Error::new(Span::call_site(), format!("no job to handle: {USAGE}")));
        }
        let entries = Punctuated::<Entry, Token![,]>::parse_terminated(input)?.into_iter().collect();
        Ok(Self { krate, state, entries })
    }
}

/// An expression and a `;` are a state.
fn has_state(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Expr>().is_ok() && ahead.peek(Token![;])
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (job, batch) = match input.parse()? {
            Type::Array(array) => (*array.elem, Some(array.len)),
            job => (job, None),
        };
        if !input.peek(Token![=>]) {
            return Err(input.error(format!("expected `=>` and a handler: {USAGE}")));
        }
        let arrow: Token![=>] = input.parse()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(Error::new_spanned(arrow, format!("expected a handler after `=>`: {USAGE}")));
        }
        Ok(Self { job, batch, handler: input.parse()? })
    }
}

pub(crate) fn routes(input: TokenStream) -> TokenStream {
    match syn::parse2::<Input>(input) {
        Ok(input) => expand(input),
        Err(error) => {
            let error = error.into_compile_error();
            quote!({ #error })
        }
    }
}

fn expand(input: Input) -> TokenStream {
    let Input { krate, state, entries } = input;
    let mut errors = Errors::default();
    let entries = without_repeated_types(entries, &mut errors);
    let errors = errors.into_tokens();
    let distinct = distinct_urns(&krate, &entries);
    let state_name = syn::Ident::new("state", Span::mixed_site());
    let state_binding = state.as_ref().map(|state| {
        quote! {
            let #state_name = {
                #[allow(unused_imports)]
                use #krate::private::Share as _;
                #krate::private::State(#state).share()
            };
        }
    });
    // What the state's type lacks is reported where the state is given.
    let state_type = state.map(|state| quote_spanned!(Place::of(&state).first=> _));
    let routes = entries.iter().map(|Entry { job, batch, handler }| match (&state_type, batch) {
        (Some(state), None) => quote!(#krate::private::route_with::<#state, #job>(&#state_name, #handler)),
        (None, None) => quote!(#krate::private::route::<#job>(#handler)),
        (Some(state), Some(max)) => {
            quote!(#krate::private::batch_route_with::<#state, #job>(&#state_name, #max, #handler))
        }
        (None, Some(max)) => quote!(#krate::private::batch_route::<#job>(#max, #handler)),
    });
    quote! {
        {
            #errors
            #distinct
            #state_binding
            #krate::private::routes([#(#routes),*])
        }
    }
}

fn without_repeated_types(entries: Vec<Entry>, errors: &mut Errors) -> Vec<Entry> {
    let mut seen = std::collections::HashSet::new();
    let mut repeated = |entry: &Entry| {
        let fresh = seen.insert(entry.job.to_token_stream().to_string());
        if !fresh {
            let message = "this job has a handler already; a job has one handler, remove one of them";
            errors.push(Error::new_spanned(&entry.job, message));
        }
        fresh
    };
    entries.into_iter().filter(|entry| repeated(entry)).collect()
}

/// Compares the URNs at compile time: a mistake is reported at the second of two types.
fn distinct_urns(krate: &Path, entries: &[Entry]) -> TokenStream {
    let jobs = entries.iter().map(|entry| &entry.job);
    let names = entries.iter().map(|entry| readable(&entry.job));
    let checks = entries.iter().enumerate().skip(1).map(|(index, entry)| {
        let check = Place::of(&entry.job).cover(quote!(#krate::private::assert_first_of_urn(&JOBS, #index)));
        quote!(const _: () = #check;)
    });
    let count = entries.len();
    quote! {
        const _: () = {
            #[allow(deprecated)]
            const JOBS: [(::core::option::Option<&::core::primitive::str>, &::core::primitive::str); #count] = {
                #[allow(unused_imports)]
                use #krate::private::NotAJob as _;
                [#((#krate::private::UrnOf::<#jobs>::URN, #names)),*]
            };
            #(#checks)*
        };
    }
}

/// The type as people write it: its tokens are printed with a space between any two.
fn readable(job: &Type) -> String {
    let mut text = job.to_token_stream().to_string();
    for (printed, written) in [(" :: ", "::"), (":: ", "::"), (" < ", "<"), (" > ", ">"), (" >", ">"), (" ,", ",")] {
        text = text.replace(printed, written);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_named_as_people_write_it() {
        for written in ["orders::Created", "::a::B", "Page<u8>", "a::Page<u8, Vec<b::C>>"] {
            let job = syn::parse_str(written).unwrap();
            assert_eq!(readable(&job), written);
        }
    }
}
