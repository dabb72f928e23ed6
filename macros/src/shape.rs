//! Shapes that serde's derive writes as something other than a JSON object, which `data` has to be (contract section 1).
//!
//! Only what is certain is refused: where `Serialize` is derived below the attribute, and nothing takes its place. The
//! rest is an error when it is published.

use syn::{
    Attribute, Data, DeriveInput, Error, Fields, Path, Token, Variant, meta::ParseNestedMeta, parse::ParseStream,
    punctuated::Punctuated,
};

use crate::attr::Errors;

/// Reports what of the item can never be published.
pub(crate) fn check(item: &DeriveInput, errors: &mut Errors) {
    let serde = Serde::of(&item.attrs);
    if !derives_serialize(&item.attrs) || serde.has(&["into", "remote", "transparent"]) {
        return;
    }
    match &item.data {
        Data::Struct(data) => {
            let name = &item.ident;
            let Some(written) = written(&data.fields) else { return };
            let remedy = match data.fields {
                Fields::Unit => format!("write `struct {name} {{}}`"),
                _ => "name its fields".to_owned(),
            };
            let message = format!("`data` is a JSON object, and this struct becomes {written}: {remedy}");
            errors.push(Error::new(name.span(), message));
        }
        Data::Enum(data) if !serde.has(&["tag"]) => {
            let untagged = serde.has(&["untagged"]);
            data.variants.iter().for_each(|variant| check_variant(variant, untagged, errors));
        }
        Data::Enum(_) | Data::Union(_) => {}
    }
}

fn check_variant(variant: &Variant, untagged: bool, errors: &mut Errors) {
    let serde = Serde::of(&variant.attrs);
    if serde.has(&["skip", "skip_serializing", "serialize_with", "with"]) || is_conditional(&variant.attrs) {
        return;
    }
    let written = match &variant.fields {
        fields if untagged || serde.has(&["untagged"]) => written(fields),
        Fields::Unit => Some("a string"),
        _ => None,
    };
    let Some(written) = written else { return };
    let remedy = match variant.fields {
        Fields::Unit => format!("write `{} {{}}`, or tag the enum: `#[serde(tag = \"…\")]`", variant.ident),
        _ => "name its fields".to_owned(),
    };
    let message = format!("`data` is a JSON object, and this variant becomes {written}: {remedy}");
    errors.push(Error::new(variant.ident.span(), message));
}

/// What these fields become without a tag around them, if it is certain and no object. One field may be an object.
fn written(fields: &Fields) -> Option<&'static str> {
    match fields {
        Fields::Named(_) => None,
        Fields::Unit => Some("null"),
        Fields::Unnamed(fields) => {
            let conditional = fields.unnamed.iter().any(|field| is_conditional(&field.attrs));
            (fields.unnamed.len() != 1 && !conditional).then_some("an array")
        }
    }
}

fn derives_serialize(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives
        .filter_map(|derive| derive.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok())
        .flatten();
    paths.filter_map(|path| path.segments.last().map(|last| last.ident == "Serialize")).any(|serialize| serialize)
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr"))
}

/// The names in `#[serde(…)]`; or unknown, where they are below a `cfg_attr` or not as serde reads them.
struct Serde(Option<Vec<String>>);

impl Serde {
    fn of(attributes: &[Attribute]) -> Self {
        if attributes.iter().any(|attribute| attribute.path().is_ident("cfg_attr")) {
            return Self(None);
        }
        let mut names = Vec::new();
        let read = |attribute: &Attribute| {
            attribute.parse_nested_meta(|meta| {
                names.extend(meta.path.get_ident().map(ToString::to_string));
                skip_value(&meta)
            })
        };
        let mut serde = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
        match serde.try_for_each(read) {
            Ok(()) => Self(Some(names)),
            // Serde reports it.
            Err(_) => Self(None),
        }
    }

    /// Whether one of the names is there, or may be.
    fn has(&self, names: &[&str]) -> bool {
        self.0.as_ref().is_none_or(|found| found.iter().any(|name| names.contains(&name.as_str())))
    }
}

/// Passes over what is behind a name: `= value` or `(…)`.
fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let inside;
        syn::parenthesized!(inside in meta.input);
        let rest = |input: ParseStream<'_>| input.parse::<proc_macro2::TokenStream>();
        rest(&inside)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;

    fn refusals(item: &TokenStream) -> String {
        let mut errors = Errors::default();
        check(&syn::parse2(item.clone()).unwrap(), &mut errors);
        errors.into_tokens().unwrap_or_default().to_string()
    }

    #[track_caller]
    fn refused(item: &TokenStream, what: &str) {
        let text = refusals(item);
        assert!(text.contains(&format!("becomes {what}:")), "{item}: {text}");
    }

    #[track_caller]
    fn taken(item: &TokenStream) {
        assert_eq!(refusals(item), "", "{item}");
    }

    #[test]
    fn a_derived_shape_that_is_no_object_is_refused() {
        refused(
            &quote!(
                #[derive(Serialize)]
                struct Unit;
            ),
            "null",
        );
        refused(
            &quote!(
                #[derive(Clone, ::serde::Serialize)]
                struct None();
            ),
            "an array",
        );
        refused(
            &quote!(
                #[derive(Serialize)]
                #[serde(rename_all = "camelCase")]
                struct Pair(A, B);
            ),
            "an array",
        );
        refused(
            &quote!(
                #[derive(Serialize)]
                enum Choice {
                    One { id: u8 },
                    Two,
                }
            ),
            "a string",
        );
        refused(
            &quote!(
                #[derive(Serialize)]
                #[serde(untagged)]
                enum Choice {
                    One(A),
                    Two,
                }
            ),
            "null",
        );
        refused(
            &quote!(
                #[derive(Serialize)]
                #[serde(untagged)]
                enum Choice {
                    One(A, B),
                }
            ),
            "an array",
        );
        refused(
            &quote!(
                #[derive(Serialize)]
                enum Choice {
                    #[serde(untagged)]
                    One(A, B),
                    Two(A),
                }
            ),
            "an array",
        );
    }

    #[test]
    fn what_may_be_an_object_is_taken() {
        taken(&quote!(
            #[derive(Serialize)]
            struct Named {}
        ));
        taken(&quote!(
            #[derive(Serialize)]
            struct New(Inner);
        ));
        taken(&quote!(
            #[derive(Serialize)]
            enum Choice {
                One(A),
                Two(A, B),
                Three {},
            }
        ));
        taken(&quote!(
            #[derive(Serialize)]
            #[serde(tag = "kind", content = "of")]
            enum Choice {
                One(A, B),
                Two,
            }
        ));
        taken(&quote!(
            #[derive(Serialize)]
            #[serde(untagged)]
            enum Choice {
                One(A),
                Two { id: u8 },
            }
        ));
    }

    #[test]
    fn a_shape_that_something_else_decides_is_taken() {
        taken(&quote!(
            struct Unit;
        ));
        taken(&quote!(
            #[derive(Clone)]
            struct Unit;
        ));
        taken(&quote!(
            #[derive(Serialize)]
            #[serde(bound(serialize = ""), into = "Wire")]
            struct Unit;
        ));
        taken(&quote!(
            #[derive(Serialize)]
            #[serde(transparent)]
            struct One(A, #[serde(skip)] B);
        ));
        taken(&quote!(
            #[derive(Serialize)]
            #[cfg_attr(feature = "x", serde(into = "Wire"))]
            struct Unit;
        ));
        taken(&quote!(
            #[derive(Serialize)]
            struct Shifted(#[cfg(feature = "x")] A, B);
        ));
        taken(&quote!(
            #[derive(Serialize)]
            enum Choice {
                #[serde(skip)]
                Zero,
                #[serde(serialize_with = "f")]
                One,
            }
        ));
        taken(&quote!(
            #[derive(Serialize)]
            enum Choice {
                #[cfg(feature = "x")]
                One,
                Two {},
            }
        ));
    }
}
