//! The schemas of a document that have names: a URI of their own (`$id`), or a plain name inside such a schema.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::location::Location;
use super::uri::SchemaUri;
use super::{Dialect, Resolver, subschemas};
use crate::error::Problem;
use crate::json::{Json, Value};
use crate::load::Document;
use crate::pointer::Pointer;

/// A schema with a URI, and what is inside it up to the next one.
#[derive(Debug)]
pub(super) struct Resource {
    /// Where JSON Pointers begin.
    pub(super) root: Pointer,
    pub(super) uri: SchemaUri,
    pub(super) dialect: Dialect,
    /// The places of each plain name (`$anchor`, `$dynamicAnchor`, and `$id` with only a fragment).
    pub(super) anchors: HashMap<String, Vec<Pointer>>,
    /// The place of each `$dynamicAnchor`; `$recursiveAnchor` has the empty name, which no anchor has.
    pub(super) dynamic: HashMap<String, Pointer>,
}

impl Resource {
    pub(super) fn new(root: Pointer, uri: SchemaUri, dialect: Dialect) -> Self {
        Self { root, uri, dialect, anchors: HashMap::new(), dynamic: HashMap::new() }
    }
}

/// The resources of a document, or of a place in it that is a schema only because a reference leads there.
#[derive(Debug)]
pub(super) struct Index {
    /// The first is what the index begins with.
    pub(super) resources: Vec<Resource>,
    /// Those that have each URI; more than one is a mistake that does no harm until the URI is used.
    pub(super) by_uri: HashMap<SchemaUri, Vec<usize>>,
    /// The resource that begins at a byte offset.
    begins: HashMap<usize, usize>,
    /// The byte offset of every schema.
    schemas: HashSet<usize>,
    /// The resource around the place that a reference has made a schema.
    pub(super) outer: Option<Scope>,
}

/// A resource.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) index: Rc<Index>,
    pub(super) resource: usize,
}

impl Scope {
    pub(super) fn resource(&self) -> &Resource {
        &self.index.resources[self.resource]
    }

    /// The places of the plain name `name`.
    ///
    /// The names around a place that only a reference has made a schema hold there, but not the other way round: no
    /// answer depends on an earlier question. The same is true of URIs.
    pub(super) fn anchor(&self, name: &str) -> &[Pointer] {
        self.parts().find_map(|resource| resource.anchors.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The resource, and what of it is around the place that a reference has made a schema.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Resource> {
        std::iter::successors(Some(self), |scope| (*scope).around()).map(Self::resource)
    }

    fn around(&self) -> Option<&Self> {
        if self.resource == 0 { self.index.outer.as_ref() } else { None }
    }

    /// The resource with the URI `uri` in the same document.
    pub(super) fn named(&self, uri: &SchemaUri, document: &Document) -> Result<Option<Self>, String> {
        let mut indexes =
            std::iter::successors(Some(&self.index), |index| index.outer.as_ref().map(|outer| &outer.index));
        let Some((index, found)) = indexes.find_map(|index| Some((index, index.by_uri.get(uri)?))) else {
            return Ok(None);
        };
        match found.as_slice() {
            [] => Ok(None),
            [resource] => Ok(Some(Self { index: Rc::clone(index), resource: *resource })),
            [first, second, ..] => Err(format!(
                "`{uri}` is the `$id` of two schemas in `{}`, at `{}` and at `{}`",
                document.path.escape_debug(),
                index.resources[*first].root,
                index.resources[*second].root
            )),
        }
    }
}

impl Index {
    /// Whether the value that begins at the byte offset `at` is a schema.
    pub(super) fn holds(&self, at: usize) -> bool {
        self.schemas.contains(&at)
    }

    /// The resource that begins at the byte offset `at`.
    pub(super) fn begins(&self, at: usize) -> Option<usize> {
        self.begins.get(&at).copied()
    }
}

impl Resolver {
    /// Finds the resources at and below `from`, which belongs to `resource` if it has no URI of its own; and what is
    /// wrong with their names.
    pub(super) fn build(
        &mut self,
        from: &Location,
        resource: Resource,
        outer: Option<Scope>,
    ) -> (Rc<Index>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut index = Index {
            resources: vec![resource],
            by_uri: HashMap::new(),
            begins: HashMap::new(),
            schemas: HashSet::new(),
            outer,
        };
        let mut waiting: Vec<_> = from.json().map(|json| (from.clone(), json, 0)).into_iter().collect();
        while let Some((at, json, around)) = waiting.pop() {
            index.schemas.insert(json.at);
            if json.as_object().is_none() {
                continue;
            }
            let resource = self.identify(&mut index, &at, json, around, &mut problems);
            anchors(&mut index.resources[resource], &at.pointer, json);
            let below = subschemas::all(index.resources[resource].dialect, &at.pointer, json).into_iter().rev();
            waiting.extend(
                below.map(|(pointer, json)| (Location { document: Rc::clone(&at.document), pointer }, json, resource)),
            );
        }
        for (number, resource) in index.resources.iter().enumerate() {
            // What a reference has made a schema has no URI by that.
            if number > 0 || index.outer.is_none() {
                index.by_uri.entry(resource.uri.clone()).or_default().push(number);
            }
        }
        (Rc::new(index), problems)
    }

    /// The resource of the schema `json` at `at`: that `around` it, or a new one.
    fn identify(
        &mut self,
        index: &mut Index,
        at: &Location,
        json: &Json,
        around: usize,
        problems: &mut Vec<Problem>,
    ) -> usize {
        let is_file = at.pointer.is_root();
        let inherited = index.resources[around].dialect;
        // An edition is named by a file, or by a schema inside it that has a URI of its own.
        let may_name = is_file || ["$id", "id"].iter().any(|keyword| json.get(keyword).is_some());
        let named = json.get("$schema").filter(|_| may_name).map(|schema| self.named_dialect(at, schema));
        let dialect = named.unwrap_or(Ok(inherited)).unwrap_or_else(|reason| {
            problems.push(at.join("$schema").problem(reason));
            inherited
        });
        if is_file {
            index.resources[around].dialect = dialect;
        }
        let keyword = id_keyword(dialect);
        let Some(id) = json.get(keyword) else { return around };
        if dialect <= Dialect::Draft7 && json.get("$ref").is_some() {
            return around;
        }
        let Some(text) = id.as_str() else {
            problems.push(at.join(keyword).problem(format!("`{keyword}` must be a string")));
            return around;
        };
        let (name, fragment) = text.split_once('#').unwrap_or((text, ""));
        let resource = match index.resources[around].uri.join(name) {
            Ok(uri) if uri == index.resources[around].uri => around,
            Ok(uri) if is_file => {
                index.resources[around].uri = uri;
                around
            }
            Ok(uri) => {
                index.resources.push(Resource::new(at.pointer.clone(), uri, dialect));
                index.begins.insert(json.at, index.resources.len() - 1);
                index.resources.len() - 1
            }
            Err(reason) => {
                problems.push(at.join(keyword).problem(reason));
                around
            }
        };
        // Some editors write the place of each schema there; that is no name.
        if dialect <= Dialect::Draft7 && !fragment.is_empty() && !fragment.starts_with('/') {
            let places = index.resources[resource].anchors.entry(fragment.to_owned()).or_default();
            places.push(at.pointer.clone());
        }
        resource
    }
}

/// The keyword that gives a schema its URI.
pub(super) fn id_keyword(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Draft4 { "id" } else { "$id" }
}

/// Notes the plain names of the schema `json` at `at`.
fn anchors(resource: &mut Resource, at: &Pointer, json: &Json) {
    if resource.dialect < Dialect::Draft2019 {
        return;
    }
    let name = |keyword| json.get(keyword).and_then(Json::as_str);
    let mut note = |name: &str| resource.anchors.entry(name.to_owned()).or_default().push(at.clone());
    if let Some(name) = name("$anchor") {
        note(name);
    }
    if resource.dialect == Dialect::Draft2020
        && let Some(name) = name("$dynamicAnchor")
    {
        note(name);
        resource.dynamic.entry(name.to_owned()).or_insert_with(|| at.clone());
    }
    if resource.dialect == Dialect::Draft2019
        && *at == resource.root
        && matches!(json.get("$recursiveAnchor").map(|json| &json.value), Some(Value::Bool(true)))
    {
        resource.dynamic.insert(String::new(), at.clone());
    }
}
