//! Names of types, in three ranks: schema files by title or stem, definitions by their own name, and everything else
//! by its parent and property. A lower rank gives way to a higher one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{RESERVED_TYPES, distinct, pascal};
use crate::model::{Kind, Origin, Type, TypeDef, TypeId};
use crate::pointer::Pointer;

/// Two types, by the index of each, whose names cannot be told apart.
#[derive(Debug)]
pub(crate) struct Clash {
    pub(crate) name: String,
    pub(crate) first: usize,
    pub(crate) second: usize,
}

/// Names every type.
pub(super) fn assign(types: &mut [TypeDef]) -> Vec<Clash> {
    let mut order: Vec<usize> = (0..types.len()).collect();
    order.sort_by_cached_key(|&id| {
        let origin = &types[id].origin;
        (origin.pointer.tokens().count(), origin.file.clone(), origin.pointer.clone())
    });
    let mut names =
        Names { taken: RESERVED_TYPES.map(str::to_owned).into(), owner: BTreeMap::new(), clashes: Vec::new() };
    let (order, again) = first_of_place(types, order);
    // Whoever asks for a name gets it.
    let (asking, order): (Vec<_>, Vec<_>) = order.into_iter().partition(|&id| types[id].asked.is_some());
    for id in asking {
        let name = types[id].asked.clone().unwrap_or_default();
        types[id].name = names.claim(name, id);
    }
    let (roots, rest): (Vec<_>, Vec<_>) = order.into_iter().partition(|&id| rank(types, id) == Rank::Root);
    let (definitions, inline): (Vec<_>, Vec<_>) = rest.into_iter().partition(|&id| rank(types, id) == Rank::Definition);
    for id in roots {
        let name = type_name(&types[id].origin.file_title);
        types[id].name = names.claim(name, id);
    }
    names.definitions(types, &definitions);
    let mut parents: HashMap<(String, Pointer), String> =
        types.iter().map(|ty| ((ty.origin.file.clone(), ty.origin.pointer.clone()), ty.name.clone())).collect();
    let forms = forms(types);
    for id in inline {
        let origin = types[id].origin.clone();
        // A form of a union goes by the name of its variant, once the union has one.
        let natural = match forms.get(&id) {
            Some((union, form)) if !types[*union].name.is_empty() => join(&types[*union].name, &[form]),
            _ => inline_name(&origin, &parents),
        };
        let name = names.free(natural);
        parents.insert((origin.file, origin.pointer), name.clone());
        types[id].name = name;
    }
    for id in again {
        let origin = types[id].origin.clone();
        let first = parents.get(&(origin.file, origin.pointer)).map_or("", String::as_str);
        types[id].name = names.free(join(first, &["value"]));
    }
    names.clashes
}

/// The types that have the name of their place, and those that have another type for their place: a schema that takes
/// more than objects gives a union, and a struct where only objects are left of it.
fn first_of_place(types: &[TypeDef], order: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let mut first: HashMap<(&str, &Pointer), usize> = HashMap::new();
    for &id in &order {
        let origin = &types[id].origin;
        let best = first.entry((&origin.file, &origin.pointer)).or_insert(id);
        if !matches!(types[*best].kind, Kind::Struct(_)) && matches!(types[id].kind, Kind::Struct(_)) {
            *best = id;
        }
    }
    let is_first = |id: &usize| {
        let origin = &types[*id].origin;
        first.get(&(origin.file.as_str(), &origin.pointer)) == Some(id)
    };
    order.into_iter().partition(is_first)
}

/// The union that each form of one belongs to, and what the form is called there.
fn forms(types: &[TypeDef]) -> HashMap<TypeId, (TypeId, String)> {
    let mut forms = HashMap::new();
    for (id, ty) in types.iter().enumerate() {
        let Kind::Union(alternatives) = &ty.kind else { continue };
        for form in alternatives {
            if let Type::Named(target) = form.slot.ty {
                forms.entry(target).or_insert_with(|| (id, form.natural.clone()));
            }
        }
    }
    forms
}

#[derive(PartialEq)]
enum Rank {
    Root,
    Definition,
    Inline,
}

fn rank(types: &[TypeDef], id: usize) -> Rank {
    let tokens: Vec<_> = types[id].origin.pointer.tokens().collect();
    match tokens.as_slice() {
        [] => Rank::Root,
        [.., keyword, _] if keyword == "definitions" || keyword == "$defs" => Rank::Definition,
        _ => Rank::Inline,
    }
}

struct Names {
    taken: HashSet<String>,
    /// The type that has a name.
    owner: BTreeMap<String, usize>,
    clashes: Vec<Clash>,
}

impl Names {
    /// Gives `name` to the type `id`; a name that another type has is a clash.
    fn claim(&mut self, name: String, id: usize) -> String {
        if let Some(&first) = self.owner.get(&name) {
            self.clashes.push(Clash { name: name.clone(), first, second: id });
        } else {
            self.owner.insert(name.clone(), id);
            self.taken.insert(name.clone());
        }
        name
    }

    /// `natural`, or the first number behind it that makes it free.
    fn free(&mut self, natural: String) -> String {
        if self.taken.insert(natural.clone()) { natural } else { distinct::free(&natural, "", &mut self.taken) }
    }

    /// Definitions keep their names; where definitions of several files, or a file and a definition, would share
    /// one, the definitions get the name of their file before their own.
    fn definitions(&mut self, types: &mut [TypeDef], ids: &[usize]) {
        let mut files: HashMap<String, HashSet<String>> = HashMap::new();
        for &id in ids {
            files.entry(own_name(&types[id].origin)).or_default().insert(types[id].origin.file.clone());
        }
        for &id in ids {
            let own = own_name(&types[id].origin);
            let alone = files.get(&own).is_some_and(|files| files.len() == 1);
            let is_root = self.owner.get(&own).is_some_and(|&owner| types[owner].origin.pointer.as_str().is_empty());
            let name =
                if alone && !is_root { own } else { type_name(&format!("{} {own}", types[id].origin.file_title)) };
            types[id].name = self.claim(name, id);
        }
    }
}

fn own_name(origin: &Origin) -> String {
    type_name(&origin.pointer.tokens().last().unwrap_or_default())
}

/// The name of the nearest type or definition around the schema, and the steps from there.
fn inline_name(origin: &Origin, parents: &HashMap<(String, Pointer), String>) -> String {
    let tokens: Vec<_> = origin.pointer.tokens().collect();
    let mut steps: Vec<&str> = Vec::new();
    for (length, token) in tokens.iter().enumerate().rev() {
        let keyword = length.checked_sub(1).and_then(|index| tokens.get(index)).map(String::as_str);
        let around = tokens.iter().take(length).fold(Pointer::default(), |pointer, token| pointer.join(token));
        // A keyword after `properties` is the name of a property.
        match token.as_str() {
            _ if keyword == Some("properties") => steps.push(token),
            "properties" => {}
            "items" => steps.push("item"),
            // Which schemas a value must keep to does not name it.
            "allOf" | "anyOf" | "oneOf" => {}
            _ if matches!(keyword, Some("allOf" | "anyOf" | "oneOf")) => {}
            "additionalProperties" => steps.push("value"),
            other => steps.push(other),
        }
        if let Some(parent) = parents.get(&(origin.file.clone(), around)) {
            return join(parent, &steps);
        }
        if matches!(keyword, Some("definitions" | "$defs")) {
            // Inside a definition that is no type of its own, such as a list.
            return join("", &steps);
        }
    }
    join(&origin.file_title, &steps)
}

fn join(parent: &str, steps: &[&str]) -> String {
    let text = steps.iter().rev().fold(parent.to_owned(), |text, step| text + " " + step);
    type_name(&text)
}

fn type_name(text: &str) -> String {
    let name = pascal(text);
    if RESERVED_TYPES.contains(&name.as_str()) { name + "Type" } else { name }
}
