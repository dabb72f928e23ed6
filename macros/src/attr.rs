//! The arguments of `#[babel_job]` as they are written; every value keeps its span.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{
    Error, Ident, Index, LitFloat, LitInt, LitStr, Member, Path, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser, Result},
};

pub(crate) const USAGE: &str = "#[babel_job(\"urn:babel:<context>:<name>\")]";
const ACCEPTED: &str = "accepted are the URN and after it `topic`, `key` and `crate`";

/// What stands between the parentheses. `None` is absent, or present with a mistake that is already reported.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) urn: Given<LitStr>,
    pub(crate) topic: Given<LitStr>,
    pub(crate) key: Given<Vec<Member>>,
    pub(crate) krate: Given<Path>,
}

/// An argument that may be absent, or be there and wrong.
#[derive(Default)]
pub(crate) enum Given<T> {
    #[default]
    Absent,
    /// Reported where it was read.
    Wrong,
    Value(T),
}

impl<T> Given<T> {
    pub(crate) fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Wrong => None,
        }
    }

    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    fn set(&mut self, read: Result<T>) -> Result<()> {
        match read {
            Ok(value) => {
                *self = Self::Value(value);
                Ok(())
            }
            Err(error) => {
                *self = Self::Wrong;
                Err(error)
            }
        }
    }
}

/// Mistakes found so far; all of them are reported in one go.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn into_tokens(self) -> Option<TokenStream> {
        self.0.map(Error::into_compile_error)
    }
}

impl Args {
    /// Reads the arguments; one with a mistake does not hide those after it.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let read = |input: ParseStream<'_>| {
            while !input.is_empty() {
                let argument = args.argument(input).and_then(|()| end_of_argument(input));
                if let Err(error) = argument {
                    errors.push(error);
                    skip_to_comma(input);
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        };
        if let Err(error) = read.parse2(tokens) {
            errors.push(error);
        }
        args
    }

    fn argument(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(LitStr) {
            let urn: LitStr = input.parse()?;
            if !self.urn.is_absent() {
                return Err(Error::new(urn.span(), "the URN is given twice; keep one of them"));
            }
            return self.urn.set(Ok(urn));
        }
        if !(input.peek(Ident::peek_any) && input.peek2(Token![=])) {
            let message = format!("not an argument of `#[babel_job]`; {ACCEPTED}: `{USAGE}`");
            let error = Error::new(token_span(input), message);
            // Most likely meant as the URN, so do not ask for that as well.
            return if self.urn.is_absent() { self.urn.set(Err(error)) } else { Err(error) };
        }
        let name = Ident::parse_any(input)?;
        input.parse::<Token![=]>()?;
        let twice = |absent: bool| match absent {
            true => Ok(()),
            false => Err(Error::new(name.span(), format!("`{name}` is given twice; keep one of them"))),
        };
        match name.to_string().as_str() {
            "topic" => twice(self.topic.is_absent()).and_then(|()| self.topic.set(topic(input))),
            "key" => twice(self.key.is_absent()).and_then(|()| self.key.set(key(input))),
            "crate" => twice(self.krate.is_absent()).and_then(|()| self.krate.set(krate(input))),
            "urn" => {
                let message = format!("the URN has no name, it stands first: `{USAGE}`");
                let error = Error::new(name.span(), message);
                if self.urn.is_absent() { self.urn.set(Err(error)) } else { Err(error) }
            }
            _ => Err(Error::new(name.span(), format!("unknown argument `{name}`; {ACCEPTED}"))),
        }
    }
}

fn topic(input: ParseStream<'_>) -> Result<LitStr> {
    if input.peek(LitStr) {
        return input.parse();
    }
    Err(Error::new(token_span(input), "the topic is a string literal: `topic = \"orders\"`"))
}

fn krate(input: ParseStream<'_>) -> Result<Path> {
    let span = token_span(input);
    input
        .call(Path::parse_mod_style)
        .map_err(|_| Error::new(span, "`crate` is a path without quotes: `crate = my_facade::babelqueue`"))
}

/// A field, or a field of a field: `order_id`, `customer.id`, `0`, `0.1.id`.
fn key(input: ParseStream<'_>) -> Result<Vec<Member>> {
    let mut path = Vec::new();
    loop {
        segment(input, &mut path)?;
        if input.parse::<Option<Token![.]>>()?.is_none() {
            return Ok(path);
        }
    }
}

fn segment(input: ParseStream<'_>, path: &mut Vec<Member>) -> Result<()> {
    let span = token_span(input);
    if input.peek(Ident) {
        path.push(Member::Named(input.parse()?));
    } else if input.peek(LitInt) {
        let literal: LitInt = input.parse()?;
        path.push(index(&literal.to_string(), span)?);
    } else if input.peek(LitFloat) {
        // `0.1` is one number to the lexer and two indices here.
        let literal: LitFloat = input.parse()?;
        for part in literal.to_string().split('.') {
            path.push(index(part, span)?);
        }
    } else {
        return Err(not_a_field(input, span));
    }
    Ok(())
}

fn index(digits: &str, span: Span) -> Result<Member> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(index) if plain => Ok(Member::Unnamed(Index { index, span })),
        _ => Err(Error::new(span, format!("`{digits}` is not the number of a tuple field: write `key = 0`"))),
    }
}

fn not_a_field(input: ParseStream<'_>, span: Span) -> Error {
    if input.peek(Token![self]) {
        return Error::new(span, "`key` is a field without `self`: `key = order_id`");
    }
    if input.peek(LitStr) {
        return Error::new(span, "`key` is a field without quotes: `key = order_id`");
    }
    if let Ok(keyword) = input.fork().call(Ident::parse_any) {
        return Error::new(span, format!("`{keyword}` is a keyword: write the field as `r#{keyword}`"));
    }
    Error::new(span, "`key` is a field, or a field of a field: `key = order_id` or `key = customer.id`")
}

fn end_of_argument(input: ParseStream<'_>) -> Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(Error::new(token_span(input), "expected `,` after the argument"))
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // A token tree can always be read where the input is not empty.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// The span of the next token, or of the closing parenthesis.
fn token_span(input: ParseStream<'_>) -> Span {
    match input.cursor().token_tree() {
        Some((token, _)) => token.span(),
        None => input.span(),
    }
}
