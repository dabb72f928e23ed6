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
            if self.urn.value().is_some() {
                return Err(Error::new(urn.span(), "the URN is given twice; keep one of them"));
            }
            return self.urn.set(Ok(urn));
        }
        if !(input.peek(Ident::peek_any) && input.peek2(Token![=])) {
            return Err(self.no_argument(token_span(input, Span::call_site()), &first_word(input)));
        }
        let name = Ident::parse_any(input)?;
        input.parse::<Token![=]>()?;
        let twice = |absent: bool| match absent {
            true => Ok(()),
            false => Err(Error::new(name.span(), format!("`{name}` is given twice; keep one of them"))),
        };
        let at = token_span(input, name.span());
        match name.to_string().as_str() {
            "topic" => twice(self.topic.is_absent()).and_then(|()| self.topic.set(topic(input, at))),
            "key" => twice(self.key.is_absent()).and_then(|()| self.key.set(key(input, at))),
            "crate" => twice(self.krate.is_absent()).and_then(|()| self.krate.set(krate(input, at))),
            "urn" => Err(self.no_argument(name.span(), "urn")),
            other => Err(Error::new(name.span(), format!("unknown argument `{other}`; {ACCEPTED}"))),
        }
    }

    /// What to do about something that is no argument. It stands in for a missing URN, which is not asked for as well.
    fn no_argument(&mut self, at: Span, written: &str) -> Error {
        let needs_urn = self.urn.is_absent();
        if needs_urn {
            self.urn = Given::Wrong;
        }
        let message = match written {
            "topic" => "`topic` needs a value: `topic = \"orders\"`".to_owned(),
            "key" => "`key` needs a field: `key = order_id`".to_owned(),
            "crate" => "`crate` needs a path: `crate = my_facade::babelqueue`".to_owned(),
            _ if needs_urn => format!("the first argument is the URN, a string literal without a name: `{USAGE}`"),
            _ => format!("not an argument; {ACCEPTED}"),
        };
        Error::new(at, message)
    }
}

/// The identifier that comes next, or nothing.
fn first_word(input: ParseStream<'_>) -> String {
    input.fork().call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default()
}

fn topic(input: ParseStream<'_>, at: Span) -> Result<LitStr> {
    input.parse().map_err(|_| Error::new(at, "the topic is a string literal: `topic = \"orders\"`"))
}

/// The path of the `babelqueue` crate; `at` is where a mistake is reported.
pub(crate) fn krate(input: ParseStream<'_>, at: Span) -> Result<Path> {
    let message = "`crate` is a path without quotes: `crate = my_facade::babelqueue`";
    input.call(Path::parse_mod_style).map_err(|_| Error::new(at, message))
}

/// A field, or a field of a field: `order_id`, `customer.id`, `0`, `0.1.id`.
fn key(input: ParseStream<'_>, at: Span) -> Result<Vec<Member>> {
    let mut path = Vec::new();
    loop {
        segment(input, token_span(input, at), &mut path)?;
        if input.is_empty() || input.peek(Token![,]) || input.peek(Ident::peek_any) {
            return Ok(path);
        }
        if input.parse::<Option<Token![.]>>()?.is_none() {
            return Err(not_a_field(input, token_span(input, at)));
        }
    }
}

fn segment(input: ParseStream<'_>, span: Span, path: &mut Vec<Member>) -> Result<()> {
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
    Err(Error::new(token_span(input, Span::call_site()), format!("expected `,` here; {ACCEPTED}")))
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // A token tree can always be read where the input is not empty.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// The span of the next token, or `end` where there is none.
fn token_span(input: ParseStream<'_>, end: Span) -> Span {
    input.cursor().token_tree().map_or(end, |(token, _)| token.span())
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn read(tokens: TokenStream) -> (Args, Vec<String>) {
        let mut errors = Errors::default();
        let args = Args::read(tokens, &mut errors);
        let messages = errors.0.into_iter().flatten().map(|error| error.to_string()).collect();
        (args, messages)
    }

    fn path(tokens: &TokenStream) -> Vec<String> {
        let (args, errors) = read(quote!("urn", key = #tokens, topic = "orders"));
        assert_eq!(errors, [""; 0]);
        assert!(args.topic.value().is_some());
        let name = |member: &Member| match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        args.key.value().map(|path| path.iter().map(name).collect()).unwrap_or_default()
    }

    #[test]
    fn a_key_is_read_field_by_field_however_the_lexer_sees_its_numbers() {
        assert_eq!(path(&quote!(id)), ["id"]);
        assert_eq!(path(&quote!(customer.r#type.id)), ["customer", "r#type", "id"]);
        assert_eq!(path(&quote!(0)), ["0"]);
        assert_eq!(path(&quote!(0.1)), ["0", "1"]);
        assert_eq!(path(&quote!(0.1.2)), ["0", "1", "2"]);
        assert_eq!(path(&quote!(0.1.2.3)), ["0", "1", "2", "3"]);
        assert_eq!(path(&quote!(customer.0.id)), ["customer", "0", "id"]);
        assert_eq!(path(&quote!(customer.0.1.id)), ["customer", "0", "1", "id"]);
    }

    #[test]
    fn what_is_no_field_is_no_key() {
        for tokens in [quote!(0.), quote!(1e3), quote!(0x1), quote!(-1), quote!(id()), quote!(id.), quote!(4294967296)]
        {
            let (args, errors) = read(quote!("urn", key = #tokens));
            assert_eq!((args.key.value().is_some(), errors.len()), (false, 1), "{tokens}: {errors:?}");
        }
    }

    #[test]
    fn a_mistake_in_one_argument_does_not_hide_the_others() {
        let (args, errors) = read(quote!(topic = 3, colour = ("red", "green"), key = id, "urn", key = id, crate = "x"));
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert_eq!(args.urn.value().map(LitStr::value).as_deref(), Some("urn"));
        assert!(args.key.value().is_some());
    }

    #[test]
    fn a_trailing_comma_is_no_argument_and_two_commas_are_a_mistake() {
        assert_eq!(read(quote!("urn",)).1, [""; 0]);
        assert_eq!(read(quote!("urn", , topic = "orders")).1.len(), 1);
    }
}
