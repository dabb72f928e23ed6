//! What the files of the schema folder call themselves; read when the first reference needs it.

use std::collections::HashMap;

use super::index::{Resource, id_keyword};
use super::uri::SchemaUri;
use super::{Dialect, Location, Resolver};
use crate::json::Json;
use crate::load::Document;
use crate::pointer::Pointer;

/// The paths of the files with each URI.
type Paths = HashMap<SchemaUri, Vec<String>>;

/// The names in the files of the schema folder.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Those of whole files.
    files: Option<Paths>,
    /// Those of schemas inside files.
    inside: Option<Paths>,
    /// A file that is no JSON, so that nobody knows what is in it.
    pub(super) unread: Option<String>,
}

impl Resolver {
    /// The files with the URI `uri`, sorted.
    pub(super) fn files_called(&mut self, uri: &SchemaUri) -> Vec<String> {
        let files = match self.ids.files.take() {
            Some(files) => files,
            None => self.read_files(),
        };
        self.ids.files.insert(files).get(uri).cloned().unwrap_or_default()
    }

    /// The files that have a schema with the URI `uri` inside, sorted.
    pub(super) fn files_with(&mut self, uri: &SchemaUri) -> Vec<String> {
        let inside = match self.ids.inside.take() {
            Some(inside) => inside,
            None => self.read_inside(),
        };
        self.ids.inside.insert(inside).get(uri).cloned().unwrap_or_default()
    }

    fn read_files(&mut self) -> Paths {
        let mut files = Paths::new();
        for path in self.sources.json_files() {
            match self.sources.look_into(&path) {
                Some(document) => {
                    if let Some(uri) = self.declared(&document) {
                        files.entry(uri).or_default().push(path);
                    }
                }
                None => self.ids.unread = self.ids.unread.take().or(Some(path)),
            }
        }
        files
    }

    fn read_inside(&mut self) -> Paths {
        let mut inside = Paths::new();
        for path in self.sources.json_files() {
            let Some(document) = self.sources.look_into(&path) else { continue };
            let resource = Resource::new(Pointer::default(), self.map.uri(&path), self.default);
            // What is wrong with the file is nobody's business before it is referred to.
            let (index, _) = self.build(&Location::root(&document), resource, None);
            for resource in index.resources.iter().skip(1) {
                let paths = inside.entry(resource.uri.clone()).or_default();
                if paths.last() != Some(&path) {
                    paths.push(path.clone());
                }
            }
        }
        inside
    }

    /// What `document` calls itself, also where draft-07 passes over an `$id` beside a `$ref`: nothing else has that name.
    pub(super) fn declared(&self, document: &Document) -> Option<SchemaUri> {
        let dialect = match document.root.get("$schema").and_then(Json::as_str) {
            Some(named) => Dialect::of(named).unwrap_or(Dialect::Draft7),
            None => self.default,
        };
        let name = document.root.get(id_keyword(dialect))?.as_str()?.split('#').next()?;
        if name.is_empty() { None } else { self.map.uri(&document.path).join(name).ok() }
    }
}
