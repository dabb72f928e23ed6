//! URIs (RFC 3986): the names of schemas, and of the files that have no other.

use std::fmt;

use fluent_uri::resolve::{ResolveError, Resolver};
use fluent_uri::{Uri, UriRef};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The scheme of files without a URI of their own; what it names is the path inside the schema folder.
const FOLDER: &str = "schema-folder";

/// What people write in references although a URI has it only as an escape.
const LENIENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// What must be escaped in the path of a file.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// An absolute URI without a fragment, normalized: equal ones name the same schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SchemaUri(String);

impl SchemaUri {
    /// The URI of the file at `path` in the schema folder.
    pub(super) fn of_file(path: &str) -> Self {
        Self(format!("{FOLDER}:///{}", encode_path(path)))
    }

    /// The URI `text`; a fragment is left out.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let uri = Uri::try_from(reference(text)?);
        let uri = uri.map_err(|_| format!("`{}` is no absolute URI", text.escape_debug()))?;
        Ok(Self(uri.strip_fragment().normalize().into_string()))
    }

    /// What `text` names when it stands in the schema that this URI names; a fragment is left out.
    pub(super) fn join(&self, text: &str) -> Result<Self, String> {
        let unreadable = || format!("`{}` cannot be read as relative to `{self}`", text.escape_debug());
        let reference = reference(text)?;
        let base = Uri::parse(self.as_str()).map_err(|_| unreadable())?;
        let inside = self.is_file() && !reference.has_scheme();
        match Resolver::with_base(base).allow_path_underflow(!inside).resolve(&reference) {
            Ok(uri) => Ok(Self(uri.strip_fragment().normalize().into_string())),
            Err(ResolveError::PathUnderflow) => {
                Err(format!("`{}` leads outside the schema folder", text.escape_debug()))
            }
            Err(_) => Err(unreadable()),
        }
    }

    fn is_file(&self) -> bool {
        self.scheme() == FOLDER && self.host().is_none()
    }

    /// The path inside the schema folder, if the URI is that of a file.
    pub(super) fn path(&self) -> Option<Result<String, String>> {
        self.is_file().then(|| match self.as_str().split_once(":///") {
            Some((_, path)) if !path.contains('?') => decode(path),
            _ => Err("a reference to a file takes no query".to_owned()),
        })
    }

    /// The rest of the URI, as a path, if it begins with `prefix` and a whole step follows.
    pub(super) fn below(&self, prefix: &str) -> Option<Result<String, String>> {
        let rest = self.as_str().strip_prefix(prefix)?;
        let whole = prefix.ends_with(['/', ':']) || rest.starts_with('/');
        whole.then(|| decode(rest.trim_start_matches('/')))
    }

    /// The host that a network would be asked for.
    pub(super) fn host(&self) -> Option<&str> {
        let host = Uri::parse(self.as_str()).ok()?.authority()?.host();
        Some(host).filter(|host| !host.is_empty())
    }

    pub(super) fn scheme(&self) -> &str {
        self.as_str().split(':').next().unwrap_or_default()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SchemaUri {
    /// The URI as people know it: a file is its path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(Ok(path)) => f.write_str(&path.escape_debug().to_string()),
            _ => f.write_str(self.as_str()),
        }
    }
}

/// The path of a file as the path of a URI.
pub(super) fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

/// `text` once its `%` escapes are read.
pub(super) fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| "the reference is not UTF-8 once its `%` escapes are read".to_owned())
}

fn reference(text: &str) -> Result<UriRef<String>, String> {
    let encoded = utf8_percent_encode(text, LENIENT).to_string();
    UriRef::parse(encoded).map_err(|(error, _)| format!("`{}` is no URI reference: {error}", text.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(base: &str, text: &str) -> Result<String, String> {
        SchemaUri::parse(base)?.join(text).map(|uri| uri.to_string())
    }

    #[test]
    fn references_are_read_against_their_base() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(joined("https://e.test/a/b.json", "../c.json#x"), ok("https://e.test/c.json"));
        assert_eq!(joined("https://e.test/a/b.json", "//f.test/c"), ok("https://f.test/c"));
        assert_eq!(joined("HTTPS://E.test:443/%7Ea/./b", ""), ok("https://e.test/~a/b"));
        assert_eq!(joined("urn:uuid:1", "urn:x:y?=z"), ok("urn:x:y?=z"));
        assert_eq!(joined("urn:uuid:1", "#x"), ok("urn:uuid:1"));
        assert!(joined("urn:uuid:1", "x.json").is_err_and(|error| error.contains("relative to `urn:uuid:1`")));
    }

    #[test]
    fn files_are_named_by_their_path() {
        let file = SchemaUri::of_file("a/größe 1?#%.json");
        assert_eq!(file.path(), Some(Ok("a/größe 1?#%.json".to_owned())));
        assert_eq!(file.join("../x y.json").map(|uri| uri.path()), Ok(Some(Ok("x y.json".to_owned()))));
        assert_eq!(file.join("größe 1%3F%23%25.json"), Ok(file.clone()));
        assert!(file.join("../../x.json").is_err_and(|error| error.contains("outside the schema folder")));
        assert!(file.join("100%.json").is_err_and(|error| error.contains("no URI reference")));
    }

    #[test]
    fn a_prefix_ends_with_a_whole_step() {
        let uri = SchemaUri::parse("https://e.test/schemas/a%20b.json").expect("a URI");
        assert_eq!(uri.below("https://e.test/schemas"), Some(Ok("a b.json".to_owned())));
        assert_eq!(uri.below("https://e.test/"), Some(Ok("schemas/a b.json".to_owned())));
        assert_eq!(uri.below("https://e.test/sch"), None);
        let urn = SchemaUri::parse("urn:acme:a.json").expect("a URI");
        assert_eq!(urn.below("urn:acme:"), Some(Ok("a.json".to_owned())));
        assert_eq!(urn.below("urn:ac"), None);
    }
}
