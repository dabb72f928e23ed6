//! Attribute and registration macros of babelqueue; use them through the `babelqueue` crate.

use proc_macro::TokenStream;

/// stub
#[proc_macro_attribute]
pub fn babel_job(_args: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// stub
#[proc_macro]
pub fn routes(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}
