//! What a job is: arguments and item checked against each other.

use babelqueue_codegen::{topic as topic_name, urn};
use proc_macro2::Span;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, GenericParam, Item, Lifetime, LitStr, Member, Path, Type,
    parse_quote, spanned::Spanned,
};

use crate::{
    attr::{Args, Errors, Given, USAGE},
    shape,
};

/// Everything that the expansion needs, valid.
pub(crate) struct Job {
    pub(crate) urn: LitStr,
    pub(crate) topic: LitStr,
    pub(crate) keys: Vec<Key>,
}

/// The path to the key, and the `cfg`s of the field that it begins at.
pub(crate) struct Key {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) path: Vec<Member>,
}

/// The item, when it is of a kind that can be a job.
pub(crate) fn payload(item: Item, errors: &mut Errors) -> Option<DeriveInput> {
    let payload: DeriveInput = match item {
        Item::Struct(item) => item.into(),
        Item::Enum(item) => item.into(),
        other => {
            let message = "`#[babel_job]` goes on a payload type: a struct or an enum";
            errors.push(Error::new(keyword_span(&other), message));
            return None;
        }
    };
    let conditional: Vec<_> = payload.generics.params.iter().flat_map(|param| cfgs(attributes(param))).collect();
    for cfg in &conditional {
        let message = "the implementation of `Job` names all parameters, so none can come and go: write the type twice, each with its own `#[cfg]`";
        errors.push(Error::new(cfg.span(), message));
    }
    conditional.is_empty().then_some(payload)
}

/// The token that says what the item is, rather than its whole text.
fn keyword_span(item: &Item) -> Span {
    match item {
        Item::Fn(item) => item.sig.ident.span(),
        Item::Trait(item) => item.ident.span(),
        Item::Type(item) => item.ident.span(),
        Item::Union(item) => item.ident.span(),
        Item::Mod(item) => item.ident.span(),
        Item::Const(item) => item.ident.span(),
        Item::Static(item) => item.ident.span(),
        Item::Impl(item) => item.impl_token.span(),
        _ => Span::call_site(),
    }
}

/// The path of the `babelqueue` crate.
pub(crate) fn crate_path(args: &Args) -> Path {
    args.krate.value().cloned().unwrap_or_else(|| parse_quote!(::babelqueue))
}

/// Checks everything; `None` when there was a mistake here or in the arguments.
pub(crate) fn job(args: Args, item: &DeriveInput, errors: &mut Errors) -> Option<Job> {
    for place in borrows(item) {
        let message = "a job outlives the record that it was read from, so it cannot borrow: use owned types, such as `String` for `&str`";
        errors.push(Error::new(place, message));
    }
    shape::check(item, errors);
    let urn = urn(args.urn, errors);
    let topic = topic(args.topic, urn.as_ref(), errors);
    let keys = keys(args.key, item, errors);
    Some(Job { urn: urn?, topic: topic?, keys: keys? }).filter(|_| errors.is_empty())
}

/// Where the payload would borrow from the record: its lifetimes, and fields that are read into `&'static` references.
fn borrows(item: &DeriveInput) -> Vec<Span> {
    let lifetimes = item.generics.lifetimes().map(|lifetime| lifetime.lifetime.span());
    let fields = match &item.data {
        Data::Struct(data) => vec![&data.fields],
        Data::Enum(data) => data.variants.iter().map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    // Attributes may have the field skipped, or read by other code.
    let plain = |field: &&Field| field.attrs.iter().all(|attribute| attribute.path().is_ident("doc"));
    let references = fields.into_iter().flatten().filter(plain).filter_map(|field| match &field.ty {
        Type::Reference(reference) => reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static"),
        _ => None,
    });
    lifetimes.chain(references.map(Lifetime::span)).collect()
}

fn urn(given: Given<LitStr>, errors: &mut Errors) -> Option<LitStr> {
    let urn = match given {
        Given::Value(urn) => urn,
        Given::Wrong => return None,
        Given::Absent => {
            errors.push(Error::new(Span::call_site(), format!("a job needs its URN, as first argument: `{USAGE}`")));
            return None;
        }
    };
    match urn::check(&urn.value()) {
        Ok(()) => Some(urn),
        Err(error) => {
            errors.push(Error::new(urn.span(), error));
            None
        }
    }
}

fn topic(given: Given<LitStr>, urn: Option<&LitStr>, errors: &mut Errors) -> Option<LitStr> {
    let topic = match given {
        Given::Value(topic) => topic,
        Given::Wrong => return None,
        Given::Absent => {
            let urn = urn?;
            let value = urn.value();
            let Some((context, _)) = urn::convention(&value) else {
                let message = "this URN is not of the form `urn:babel:<context>:<name>`, so the topic does not follow from it: add `topic = \"…\"`";
                errors.push(Error::new(urn.span(), message));
                return None;
            };
            LitStr::new(context, urn.span())
        }
    };
    match topic_name::check(&topic.value()) {
        Ok(()) => Some(topic),
        Err(error) => {
            errors.push(Error::new(topic.span(), error));
            None
        }
    }
}

fn keys(given: Given<Vec<Member>>, item: &DeriveInput, errors: &mut Errors) -> Option<Vec<Key>> {
    let path = match given {
        Given::Absent => return Some(Vec::new()),
        Given::Wrong => return None,
        Given::Value(path) => path,
    };
    let first = path.first()?;
    let fields = match &item.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(_) | Data::Union(_) => {
            let message = "an enum has no field to be the key: remove `key`, and give the key when publishing";
            errors.push(Error::new(first.span(), message));
            return None;
        }
    };
    if matches!(fields, Fields::Unnamed(_)) && fields.iter().any(|field| !cfgs(&field.attrs).is_empty()) {
        // The numbers of the fields are known when their `cfg`s are evaluated.
        return Some(vec![Key { cfgs: Vec::new(), path }]);
    }
    let found: Vec<_> = fields.members().zip(fields).filter(|(member, _)| member == first).collect();
    if found.is_empty() {
        errors.push(Error::new(first.span(), no_such_field(&item.ident.to_string(), first, fields)));
        return None;
    }
    // One field for each of its `cfg`s, of which one is left when they are evaluated.
    Some(found.into_iter().map(|(_, field)| Key { cfgs: cfgs(&field.attrs), path: path.clone() }).collect())
}

fn no_such_field(item: &str, member: &Member, fields: &Fields) -> String {
    let name = |member: &Member| match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    let fields: Vec<_> = fields.members().map(|field| format!("`{}`", name(&field))).collect();
    let has = match fields.as_slice() {
        [] => "it has no fields".to_owned(),
        [one] => format!("its field is {one}"),
        [fields @ .., last] => format!("its fields are {} and {last}", fields.join(", ")),
    };
    format!("`{item}` has no field `{}`; {has}", name(member))
}

fn attributes(parameter: &GenericParam) -> &[Attribute] {
    match parameter {
        GenericParam::Lifetime(parameter) => &parameter.attrs,
        GenericParam::Type(parameter) => &parameter.attrs,
        GenericParam::Const(parameter) => &parameter.attrs,
    }
}

/// The `cfg`s among the attributes: what is generated for the thing they are on has to come and go with it.
pub(crate) fn cfgs(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect()
}
