//! Which schema has a URI: one of the same file, a file of the schema folder, or a metaschema.

use std::rc::Rc;

use super::index::Scope;
use super::uri::SchemaUri;
use super::{Location, Resolver, dialect};
use crate::load::{Document, Failure};

/// What a URI without a fragment names.
pub(super) enum Found {
    Schema(Rc<Document>, Scope),
    Metaschema(String),
}

impl Resolver {
    /// What the reference `name`, without a fragment, means in the schema at `at`, which belongs to the resource `own`.
    pub(super) fn find(&mut self, at: &Location, own: &Scope, name: &str) -> Result<Found, Failure> {
        let own_uri = &own.resource().uri;
        let index = self.index(&at.document);
        let file = SchemaUri::of_file(&at.document.path);
        // A file with a URI of its own need not lie where the URI says; its neighbours lie beside it all the same.
        let of_file = index.resources.first().is_some_and(|root| root.uri == *own_uri) && file != *own_uri;
        let relative = !name.starts_with('/') && SchemaUri::parse(name).is_err();
        let beside = (of_file && relative).then(|| file.join(name)).and_then(|uri| uri.ok()?.path());
        match (own_uri.join(name), beside) {
            (Ok(uri), beside) => {
                if let Some(scope) = own.named(&uri, &at.document).map_err(Failure::Unreadable)? {
                    return Ok(Found::Schema(Rc::clone(&at.document), scope));
                }
                if dialect::is_metaschema(uri.as_str()) {
                    return Ok(Found::Metaschema(uri.as_str().to_owned()));
                }
                self.file(&uri, name, beside)
            }
            // Nothing is relative to a URN.
            (Err(_), Some(path)) => {
                let document = self.sources.open("", &path.map_err(Failure::Unreadable)?)?;
                Ok(self.whole(document))
            }
            (Err(reason), None) => Err(Failure::Unreadable(reason)),
        }
    }

    fn whole(&mut self, document: Rc<Document>) -> Found {
        let index = self.index(&document);
        Found::Schema(document, Scope { index, resource: 0 })
    }

    /// The schema in another file that has the URI `uri`, written as `name`; `beside` is the path that `name` is when read
    /// as one.
    fn file(&mut self, uri: &SchemaUri, name: &str, beside: Option<Result<String, String>>) -> Result<Found, Failure> {
        let mut missing = None;
        let mut open = |resolver: &mut Self, path: Result<String, String>| match path
            .map_err(Failure::Unreadable)
            .and_then(|path| resolver.sources.open("", &path))
        {
            Err(Failure::Unreadable(reason)) => {
                missing.get_or_insert(reason);
                None
            }
            opened => Some(opened),
        };
        // A path from the root is no path inside the folder; it may be the `$id` of a file.
        let path = self.map.path(uri).or_else(|| if name.starts_with('/') { None } else { uri.path() });
        if let Some(opened) = path.and_then(|path| open(self, path)) {
            return Ok(self.whole(opened?));
        }
        let beside = beside.and_then(|path| open(self, path));
        if let Some(Ok(document)) = &beside
            && self.declared(document).as_ref() == Some(uri)
        {
            return Ok(self.whole(Rc::clone(document)));
        }
        let mut paths = self.files_called(uri);
        if paths.is_empty() {
            paths = self.files_with(uri);
        }
        match (paths.as_slice(), beside) {
            ([path], _) => {
                let document = self.sources.open("", path)?;
                let whole = Scope { index: self.index(&document), resource: 0 };
                let scope = whole.named(uri, &document).map_err(Failure::Unreadable)?;
                Ok(Found::Schema(document, scope.unwrap_or(whole)))
            }
            ([first, second, ..], _) => Err(Failure::Unreadable(format!(
                "`{uri}` is an `$id` in two files, `{}` and `{}`",
                first.escape_debug(),
                second.escape_debug()
            ))),
            ([], Some(opened)) => Ok(self.whole(opened?)),
            ([], None) => {
                let reason = missing.unwrap_or_else(|| nowhere(uri, name, self.ids.unread.as_deref()));
                Err(Failure::Unreadable(reason))
            }
        }
    }
}

/// Why no file is found for `uri`, written as `name`.
fn nowhere(uri: &SchemaUri, name: &str, unread: Option<&str>) -> String {
    let name = name.escape_debug();
    let drive = name.clone().nth(1) == Some(':');
    let reason = match uri.host() {
        _ if uri.path().is_some() || drive => {
            format!(
                "`{name}` is not a relative path with `/` between folders, nor the `$id` of a file of the schema folder"
            )
        }
        Some(host) if uri.scheme() != "file" => format!(
            "`{uri}` is on the host `{host}`, and the network is never asked; no file of the schema folder has this `$id`"
        ),
        _ if uri.scheme() == "file" => {
            format!("`{uri}` leads outside the schema folder, and no file of the folder has this `$id`")
        }
        _ => format!("the reference leads nowhere: no file of the schema folder has the `$id` `{uri}`"),
    };
    match unread {
        Some(path) => format!("{reason} (`{}` is no JSON and was passed over)", path.escape_debug()),
        None => reason,
    }
}
