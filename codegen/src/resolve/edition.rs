//! The edition that a `$schema` names, also through a metaschema of somebody's own.

use std::rc::Rc;

use super::uri::SchemaUri;
use super::{Dialect, Location, Resolver};
use crate::json::Json;
use crate::load::Document;

impl Resolver {
    /// The edition that the `$schema` of the schema at `at` names, or why that is none.
    pub(super) fn named_dialect(&mut self, at: &Location, schema: &Json) -> Result<Dialect, String> {
        match schema.as_str().map(|text| (text, self.edition(&at.document, text))) {
            Some((_, Some(dialect))) => Ok(dialect),
            Some((text, None)) => Err(format!(
                "the dialect `{}` is neither an edition of JSON Schema from draft-04 to 2020-12 nor a metaschema in the schema folder",
                text.escape_debug()
            )),
            None => Err("`$schema` must be a string".to_owned()),
        }
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
            let path = self.files_called(uri).first()?.clone();
            self.sources.look_into(&path)
        })
    }
}
