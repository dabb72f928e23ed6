//! Which schema has a URI: one of the same file, a file of the schema folder, or a metaschema.

use std::collections::HashMap;
use std::rc::Rc;

use super::index::{Scope, id_keyword};
use super::uri::{SchemaUri, encode_path};
use super::{Dialect, Location, Resolver, dialect};
use crate::json::Json;
use crate::load::{Document, Failure};

/// What a URI without a fragment names.
pub(super) enum Found {
    Schema(Rc<Document>, Scope),
    Metaschema(String),
}

/// URI prefixes and the folders that stand for them.
#[derive(Debug)]
pub(super) struct Map(Vec<(String, String)>);

impl Map {
    pub(super) fn new(mut map: Vec<(String, String)>) -> Self {
        for (prefix, _) in &mut map {
            if let Ok(uri) = SchemaUri::parse(prefix) {
                *prefix = uri.as_str().to_owned();
            }
        }
        // The longest prefix that fits is the one that is meant.
        map.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Self(map)
    }

    /// The path of the file that stands for `uri`.
    fn path(&self, uri: &SchemaUri) -> Option<Result<String, String>> {
        let found = self.0.iter().find_map(|(prefix, folder)| uri.below(prefix).map(|rest| (rest, folder)));
        found.map(|(rest, folder)| rest.map(|rest| format!("{folder}/{rest}")))
    }

    /// The URI of the file at `path` that gives itself none.
    pub(super) fn uri(&self, path: &str) -> SchemaUri {
        let below = |folder: &str| match folder.trim_matches('/') {
            "" => Some(path),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        };
        let mapped = self.0.iter().filter_map(|(prefix, folder)| Some((prefix, below(folder)?)));
        // The innermost folder is the one that is meant.
        let innermost = mapped.min_by_key(|(_, rest)| rest.len());
        innermost
            .and_then(|(prefix, rest)| {
                let between = if prefix.ends_with(['/', ':']) { "" } else { "/" };
                SchemaUri::parse(&format!("{prefix}{between}{}", encode_path(rest))).ok()
            })
            .unwrap_or_else(|| SchemaUri::of_file(path))
    }
}

/// What the files of the schema folder call themselves.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The paths of the files with each URI.
    files: HashMap<SchemaUri, Vec<String>>,
    /// A file that is no JSON, so that nobody knows what it is called.
    unread: Option<String>,
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
        let document = match (own_uri.join(name), beside) {
            (Ok(uri), beside) => {
                if let Some(scope) = own.named(&uri, &at.document).map_err(Failure::Unreadable)? {
                    return Ok(Found::Schema(Rc::clone(&at.document), scope));
                }
                if dialect::is_metaschema(uri.as_str()) {
                    return Ok(Found::Metaschema(uri.as_str().to_owned()));
                }
                self.file(&uri, name, beside)?
            }
            // Nothing is relative to a URN.
            (Err(_), Some(path)) => self.sources.open("", &path.map_err(Failure::Unreadable)?)?,
            (Err(reason), None) => return Err(Failure::Unreadable(reason)),
        };
        let index = self.index(&document);
        Ok(Found::Schema(document, Scope { index, resource: 0 }))
    }

    /// The file that has the URI `uri`, written as `name`; `beside` is the path that `name` is when read as one.
    fn file(
        &mut self,
        uri: &SchemaUri,
        name: &str,
        beside: Option<Result<String, String>>,
    ) -> Result<Rc<Document>, Failure> {
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
            return opened;
        }
        let beside = beside.and_then(|path| open(self, path));
        if let Some(Ok(document)) = &beside
            && self.declared(document).as_ref() == Some(uri)
        {
            return Ok(Rc::clone(document));
        }
        let ids = self.ids();
        match ids.files.get(uri).map(Vec::as_slice) {
            Some([path]) => {
                let path = path.clone();
                self.sources.open("", &path)
            }
            Some([first, second, ..]) => Err(Failure::Unreadable(format!(
                "`{uri}` is the `$id` of two files, `{}` and `{}`",
                first.escape_debug(),
                second.escape_debug()
            ))),
            _ => beside.unwrap_or_else(|| {
                Err(Failure::Unreadable(missing.unwrap_or_else(|| nowhere(uri, name, ids.unread.as_deref()))))
            }),
        }
    }

    /// The files of the folder by what they call themselves; read when the first reference needs it.
    fn ids(&mut self) -> &Ids {
        let ids = match self.ids.take() {
            Some(ids) => ids,
            None => {
                let mut ids = Ids::default();
                for path in self.sources.json_files() {
                    match self.sources.look_into(&path) {
                        Some(document) => {
                            if let Some(uri) = self.declared(&document) {
                                ids.files.entry(uri).or_default().push(path);
                            }
                        }
                        None => ids.unread = ids.unread.or(Some(path)),
                    }
                }
                ids
            }
        };
        self.ids.insert(ids)
    }

    /// What `document` calls itself, also where draft-07 passes over an `$id` beside a `$ref`: nothing else has that name.
    fn declared(&self, document: &Document) -> Option<SchemaUri> {
        let dialect = match document.root.get("$schema").and_then(Json::as_str) {
            Some(named) => Dialect::of(named).unwrap_or(Dialect::Draft7),
            None => self.default,
        };
        let name = document.root.get(id_keyword(dialect))?.as_str()?.split('#').next()?;
        if name.is_empty() { None } else { self.map.uri(&document.path).join(name).ok() }
    }

    /// The edition that the `$schema` of the schema at `at` names; one that is not known is reported.
    pub(super) fn named_dialect(&mut self, at: &Location, schema: &Json) -> Option<Dialect> {
        let dialect = schema.as_str().map(|text| (text, self.edition(&at.document, text)));
        let reason = match dialect {
            Some((_, Some(dialect))) => return Some(dialect),
            Some((text, None)) => format!(
                "the dialect `{}` is neither an edition of JSON Schema from draft-04 to 2020-12 nor a metaschema in the schema folder",
                text.escape_debug()
            ),
            None => "`$schema` must be a string".to_owned(),
        };
        self.sources.report(at.join("$schema").problem(reason));
        None
    }

    /// The edition whose metaschema `text` names in a file; a metaschema of somebody's own is of the edition of its own
    /// `$schema`.
    fn edition(&mut self, document: &Document, text: &str) -> Option<Dialect> {
        let mut passed = Vec::new();
        let (mut path, mut text) = (document.path.clone(), text.to_owned());
        let edition = loop {
            if let Some(dialect) = Dialect::of(&text) {
                break Some(dialect);
            }
            let name = text.split('#').next().unwrap_or_default();
            let Ok(uri) = self.map.uri(&path).join(name) else { break None };
            if let Some(known) = self.editions.get(&uri) {
                break *known;
            }
            // Until it is known otherwise: it may lead back to itself.
            self.editions.insert(uri.clone(), None);
            passed.push(uri.clone());
            let Some(metaschema) = self.metaschema(&uri) else { break None };
            match metaschema.root.get("$schema").map(Json::as_str) {
                Some(Some(next)) => next.clone_into(&mut text),
                Some(None) => break None,
                None => break Some(self.default),
            }
            path.clone_from(&metaschema.path);
        };
        self.editions.extend(passed.into_iter().map(|uri| (uri, edition)));
        edition
    }

    /// The metaschema `uri` of somebody's own. It is looked into and not opened: it is no contract.
    fn metaschema(&mut self, uri: &SchemaUri) -> Option<Rc<Document>> {
        let paths = [self.map.path(uri), uri.path()];
        let found = paths.into_iter().flatten().flatten().find_map(|path| self.sources.look_into(&path));
        found.or_else(|| {
            let path = self.ids().files.get(uri)?.first()?.clone();
            self.sources.look_into(&path)
        })
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
