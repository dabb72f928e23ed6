//! Generated code that is reported at the user's tokens.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The first and the last token of what the user wrote: what spans both spans all of it.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Place {
    pub(crate) fn of(written: &impl ToTokens) -> Self {
        let mut spans = written.to_token_stream().into_iter().map(|token| token.span());
        let first = spans.next().unwrap_or_else(Span::call_site);
        Self { first, last: spans.last().unwrap_or(first) }
    }

    /// Moves `generated` here: names in it resolve as before, mistakes are reported here.
    pub(crate) fn cover(self, generated: TokenStream) -> TokenStream {
        let mut tokens: Vec<_> = generated.into_iter().map(|token| moved(token, self.first)).collect();
        if let Some(last) = tokens.pop() {
            tokens.push(moved(last, self.last));
        }
        tokens.into_iter().collect()
    }
}

fn moved(token: TokenTree, to: Span) -> TokenTree {
    let mut token = match token {
        TokenTree::Group(group) => {
            let inside = group.stream().into_iter().map(|token| moved(token, to)).collect();
            let mut moved = Group::new(group.delimiter(), inside);
            moved.set_span(group.span());
            TokenTree::Group(moved)
        }
        token => token,
    };
    token.set_span(token.span().located_at(to));
    token
}
