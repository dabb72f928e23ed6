//! `$ref` and its relatives: from the text of a reference to a place in a file of the schema folder. Never over the
//! network.

mod dialect;
mod edition;
mod find;
mod ids;
mod index;
mod location;
mod map;
mod reach;
mod subschemas;
#[cfg(test)]
mod tests;
mod uri;

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Problem;
use crate::load::{Document, Failure, Sources};
use crate::pointer::Pointer;
use find::Found;
use ids::Ids;
use index::{Index, Resource, Scope};
use map::Map;
use reach::Reach;
use uri::SchemaUri;

pub use dialect::Dialect;
pub(crate) use location::Location;

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
    map: Map,
    /// What is in each file that holds a schema.
    indexes: HashMap<String, Rc<Index>>,
    /// What is at each place, by file and byte offset, that is a schema only because a reference leads there.
    added: HashMap<String, HashMap<usize, Rc<Index>>>,
    ids: Ids,
    /// The editions of the metaschemas that are not official ones.
    editions: HashMap<SchemaUri, Option<Dialect>>,
    reach: Option<Reach>,
}

impl Resolver {
    /// A resolver for the files of `sources`. Schemas without `$schema` are of the edition `default`; `map` holds URI
    /// prefixes, each with the folder inside the schema folder whose files have URIs that begin so.
    pub(crate) fn new(mut sources: Sources, default: Dialect, map: Vec<(String, String)>) -> Self {
        let (map, reasons) = Map::new(map);
        reasons.into_iter().for_each(|reason| sources.report(Problem::file("build script", reason)));
        Self {
            sources,
            default,
            map,
            indexes: HashMap::new(),
            added: HashMap::new(),
            ids: Ids::default(),
            editions: HashMap::new(),
            reach: None,
        }
    }

    /// The edition by which the schema at `at` is read.
    pub(crate) fn dialect(&mut self, at: &Location) -> Dialect {
        self.scope(at).resource().dialect
    }

    /// Where the `$ref` `text` of the schema at `at` leads.
    pub(crate) fn reference(&mut self, at: &Location, text: &str) -> Result<Target, Failure> {
        let (name, fragment) = text.split_once('#').unwrap_or((text, ""));
        let own = self.scope(at);
        let found =
            if name.is_empty() { Found::Schema(Rc::clone(&at.document), own) } else { self.find(at, &own, name)? };
        match found {
            Found::Metaschema(uri) if fragment.is_empty() => Ok(Target::Metaschema(uri)),
            Found::Metaschema(uri) => Ok(Target::Metaschema(format!("{uri}#{fragment}"))),
            Found::Schema(document, scope) => {
                let fragment = uri::decode(fragment).map_err(Failure::Unreadable)?;
                let pointer = place(&document, &scope, &fragment).map_err(Failure::Unreadable)?;
                let target = Location { document, pointer };
                self.make_schema(&target);
                Ok(Target::Schema(target))
            }
        }
    }

    /// The innermost resource around `at`.
    fn scope(&mut self, at: &Location) -> Scope {
        let document = &at.document;
        let mut scope = Scope { index: self.index(document), resource: 0 };
        let added = self.added.get(&document.path);
        let mut json = &document.root;
        for token in at.pointer.tokens() {
            let Some((_, next)) = json.step(&token) else { break };
            json = next;
            if scope.index.holds(json.at) {
                scope.resource = scope.index.begins(json.at).unwrap_or(scope.resource);
            } else if let Some(index) = added.and_then(|added| added.get(&json.at)) {
                let resource = index.begins(json.at).unwrap_or_default();
                scope = Scope { index: Rc::clone(index), resource };
            }
        }
        scope
    }

    fn index(&mut self, document: &Rc<Document>) -> Rc<Index> {
        if let Some(index) = self.indexes.get(&document.path) {
            return Rc::clone(index);
        }
        let resource = Resource::new(Pointer::default(), self.map.uri(&document.path), self.default);
        let (index, problems) = self.build(&Location::root(document), resource, None);
        problems.into_iter().for_each(|problem| self.sources.report(problem));
        self.indexes.insert(document.path.clone(), Rc::clone(&index));
        index
    }

    /// A reference may lead to a place that is no schema by itself, such as below a keyword of somebody's own. It is
    /// one then, and so is what is in it.
    fn make_schema(&mut self, at: &Location) {
        let Some(json) = at.json().filter(|json| json.as_object().is_some()) else { return };
        let scope = self.scope(at);
        let known = scope.index.holds(json.at)
            || self.added.get(&at.document.path).is_some_and(|added| added.contains_key(&json.at));
        if known {
            return;
        }
        let around = scope.resource();
        let resource = Resource::new(around.root.clone(), around.uri.clone(), around.dialect);
        let (index, problems) = self.build(at, resource, Some(scope));
        problems.into_iter().for_each(|problem| self.sources.report(problem));
        self.added.entry(at.document.path.clone()).or_default().insert(json.at, index);
    }
}

/// The place of `fragment`, a JSON Pointer or a plain name, in a resource of `document`.
fn place(document: &Document, scope: &Scope, fragment: &str) -> Result<Pointer, String> {
    let file = document.path.escape_debug();
    let root = &scope.resource().root;
    if fragment.is_empty() || fragment.starts_with('/') {
        let Some(pointer) = Pointer::parse(fragment) else {
            return Err("the reference holds a `~` that is neither `~0` nor `~1`".to_owned());
        };
        let place = root.concat(&pointer);
        return match document.root.pointer(&place) {
            Some(_) => Ok(place),
            None => Err(format!("the reference leads nowhere: `{file}` has no `{}`", place.as_str().escape_debug())),
        };
    }
    let name = fragment.escape_debug();
    match scope.anchor(fragment) {
        [place] => Ok(place.clone()),
        [first, second, ..] => {
            Err(format!("the anchor `{name}` is ambiguous: `{file}` has it at `{first}` and at `{second}`"))
        }
        [] if root.is_root() => Err(format!("the reference leads nowhere: `{file}` has no anchor `{name}`")),
        [] => Err(format!("the reference leads nowhere: `{root}` in `{file}` has no anchor `{name}`")),
    }
}
