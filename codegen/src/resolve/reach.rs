//! `$dynamicRef` and `$recursiveRef`: where they lead depends on the schemas that were passed on the way to them.
//!
//! Such a reference leads to the outermost schema on the way that declares its name, and only if the place that it
//! names as an ordinary reference declares it, too. Which ways there are is known once everything is opened that the
//! payloads lead to: a way begins at a payload and passes nothing else. So the place is certain where
//!
//! - only one schema among all those that a payload leads to declares the name: no other one can be further out; or
//! - the payload's own root declares it: nothing is further out than that;
//!
//! and it is the same place for each payload that leads to the reference. More is taken to be passed than is (each
//! branch of a `oneOf`, say), so the mistake that is left is to call a certain place uncertain. A metaschema is passed
//! by, as it leads to no schema of the folder by itself.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::{Dialect, Location, Resolver, Target, subschemas};
use crate::json::Json;
use crate::load::Failure;
use crate::pointer::Pointer;

/// What the payloads of a run lead to.
#[derive(Debug)]
pub(super) struct Reach {
    roots: Vec<Location>,
    all: Passed,
    /// For each of the roots; only a name that is declared more than once needs it.
    each: Option<Rc<Vec<Passed>>>,
}

/// What is passed on the ways from some roots.
#[derive(Debug, Default)]
struct Passed {
    /// The places that declare each name.
    declared: HashMap<String, BTreeMap<(String, Pointer), Location>>,
    /// The schemas with a reference that depends on the way.
    references: BTreeSet<(String, Pointer)>,
}

/// A walk that goes on until nothing new is found.
#[derive(Default)]
struct Walk {
    passed: Passed,
    /// The byte offsets of the schemas that were passed, by file.
    seen: HashMap<String, HashSet<usize>>,
    waiting: Vec<Location>,
    /// The names that references look for on the way.
    wanted: BTreeSet<String>,
}

impl Resolver {
    /// Opens every file that the schemas at `roots`, those of all payloads of the run, lead to.
    pub(crate) fn open_reachable(&mut self, roots: &[Location]) {
        let all = self.walk(roots);
        self.reach = Some(Reach { roots: roots.to_vec(), all, each: None });
    }

    /// Where the `$dynamicRef` (2020-12) or `$recursiveRef` (2019-09) `text` of the schema at `at` leads.
    ///
    /// Before `open_reachable` nothing is known about the ways that lead there, and the answer is `Dynamic`.
    pub(crate) fn dynamic_reference(&mut self, at: &Location, text: &str) -> Result<Target, Failure> {
        let (initial, name) = self.initial(at, text)?;
        let Some(name) = name else { return Ok(initial) };
        let Some(reach) = &self.reach else { return Ok(Target::Dynamic) };
        let places = reach.all.declared.get(&name);
        let only = |id| places.is_none_or(|places| places.keys().all(|place| *place == id));
        match &initial {
            Target::Schema(initial) if only(initial.id()) => return Ok(Target::Schema(initial.clone())),
            Target::Metaschema(_) if places.is_none() => return Ok(initial),
            Target::Schema(_) => {}
            Target::Metaschema(_) | Target::Dynamic => return Ok(Target::Dynamic),
        }
        let roots = reach.roots.clone();
        let each = self.each(&roots);
        let mut answer: Option<Location> = None;
        for (root, passed) in roots.iter().zip(each.iter()) {
            if !passed.references.contains(&at.id()) {
                continue;
            }
            let place = self.outermost(root, &name, passed);
            match (place, &answer) {
                (Some(place), None) => answer = Some(place),
                (Some(place), Some(answer)) if place.id() == answer.id() => {}
                _ => return Ok(Target::Dynamic),
            }
        }
        Ok(answer.map_or(Target::Dynamic, Target::Schema))
    }

    /// The place that declares `name` first on every way from `root`, if that is certain.
    fn outermost(&mut self, root: &Location, name: &str, passed: &Passed) -> Option<Location> {
        let own = self.scope(root).parts().find_map(|resource| resource.dynamic.get(name).cloned());
        if let Some(pointer) = own {
            return Some(Location { document: Rc::clone(&root.document), pointer });
        }
        let places = passed.declared.get(name)?;
        places.values().next().filter(|_| places.len() == 1).cloned()
    }

    fn each(&mut self, roots: &[Location]) -> Rc<Vec<Passed>> {
        if let Some(each) = self.reach.as_ref().and_then(|reach| reach.each.as_ref()) {
            return Rc::clone(each);
        }
        let each: Rc<Vec<_>> = Rc::new(roots.iter().map(|root| self.walk(std::slice::from_ref(root))).collect());
        if let Some(reach) = &mut self.reach {
            reach.each = Some(Rc::clone(&each));
        }
        each
    }

    /// Where a dynamic reference leads as an ordinary one, and the name that the way to it may give another place.
    fn initial(&mut self, at: &Location, text: &str) -> Result<(Target, Option<String>), Failure> {
        let recursive = self.dialect(at) == Dialect::Draft2019;
        if recursive && text != "#" {
            return Err(Failure::Unreadable("`$recursiveRef` must be `#`".to_owned()));
        }
        let target = self.reference(at, text)?;
        let fragment = text.split_once('#').map_or("", |(_, fragment)| fragment);
        let name = super::uri::decode(fragment).map_err(Failure::Unreadable)?;
        let declares = match &target {
            // A JSON Pointer, or no fragment at all, is no name; the empty one is that of `$recursiveAnchor`.
            _ if !recursive && name.is_empty() || name.starts_with('/') => false,
            Target::Schema(place) => {
                self.scope(place).parts().any(|resource| resource.dynamic.get(&name) == Some(&place.pointer))
            }
            _ => true,
        };
        Ok((target, declares.then_some(name)))
    }

    fn walk(&mut self, roots: &[Location]) -> Passed {
        let mut walk = Walk { waiting: roots.to_vec(), ..Walk::default() };
        while let Some(at) = walk.waiting.pop() {
            let Some(json) = at.json().filter(|json| walk.enter(&at, json)) else { continue };
            let scope = self.scope(&at);
            for (name, pointer) in scope.parts().flat_map(|resource| &resource.dynamic) {
                walk.declare(name, Location { document: Rc::clone(&at.document), pointer: pointer.clone() });
            }
            let dialect = scope.resource().dialect;
            let text = |keyword| json.get(keyword).and_then(Json::as_str);
            if let Some(text) = text("$ref") {
                if let Ok(Target::Schema(target)) = self.reference(&at, text) {
                    walk.waiting.push(target);
                }
                if dialect <= Dialect::Draft7 {
                    continue;
                }
            }
            let dynamic = match dialect {
                Dialect::Draft2019 => text("$recursiveRef"),
                Dialect::Draft2020 => text("$dynamicRef"),
                _ => None,
            };
            if let Some((target, name)) = dynamic.and_then(|text| self.initial(&at, text).ok()) {
                if let Target::Schema(target) = target {
                    walk.waiting.push(target);
                }
                if let Some(name) = name {
                    walk.passed.references.insert(at.id());
                    walk.want(name);
                }
            }
            let below = subschemas::applied(dialect, &at.pointer, json).into_iter();
            walk.waiting.extend(below.map(|(pointer, _)| Location { document: Rc::clone(&at.document), pointer }));
        }
        walk.passed
    }
}

impl Walk {
    /// Whether the schema `json` at `at` is passed for the first time.
    fn enter(&mut self, at: &Location, json: &Json) -> bool {
        match self.seen.get_mut(&at.document.path) {
            Some(seen) => seen.insert(json.at),
            None => self.seen.entry(at.document.path.clone()).or_default().insert(json.at),
        }
    }

    fn declare(&mut self, name: &str, place: Location) {
        let places = self.passed.declared.entry(name.to_owned()).or_default();
        if places.insert(place.id(), place.clone()).is_none() && self.wanted.contains(name) {
            self.waiting.push(place);
        }
    }

    /// A reference looks for `name`: it may lead to every place that declares it.
    fn want(&mut self, name: String) {
        self.waiting.extend(self.passed.declared.get(&name).into_iter().flat_map(|places| places.values().cloned()));
        self.wanted.insert(name);
    }
}
