//! The parts of structs and unions.

use super::Lowering;
use super::node::Node;
use super::union::Branch;
use crate::model::{Alternative, Field, Kind, Kinds, Presence, Rest, Rule, Slot, Struct, Type, TypeId};
use crate::schema::SchemaId;

impl Lowering<'_> {
    /// Gives the struct `id` the members of the object `node`.
    pub(super) fn fill_struct(&mut self, id: TypeId, node: &Node) {
        let members = self.members(node);
        let mut object = Struct::default();
        let names: Vec<String> = members.named.keys().chain(&members.required).cloned().collect();
        let mut seen = std::collections::HashSet::new();
        for wire in names.into_iter().filter(|name| seen.insert(name.clone())) {
            let roots = members.of(&wire);
            let Some(member) = self.node(&roots) else { continue };
            let required = members.required.contains(&wire);
            if self.is_never(&member) {
                object.forbidden.push(wire);
                continue;
            }
            if required && let Some([value]) = self.values(&member).as_deref() {
                object.constants.push((wire, value.json.clone()));
                continue;
            }
            let Some(slot) = self.slot(&member, 0) else { continue };
            let index = object.fields.len();
            roots.iter().for_each(|root| self.pend_default(*root, &slot, (id, index)));
            object.fields.push(self.field(wire, slot, required, &roots, &member));
        }
        object.rest = self.rest_of(node, &members);
        object.rules = self
            .all_rules(node)
            .into_iter()
            .filter(|rule| rule.kinds() == Kinds::OBJECT && !matches!(rule, Rule::Names(_)))
            .collect();
        if let Some(ty) = self.types.get_mut(id) {
            ty.kind = Kind::Struct(object);
        }
    }

    fn field(&mut self, wire: String, slot: Slot, required: bool, roots: &[SchemaId], member: &Node) -> Field {
        let described: Vec<SchemaId> = roots.iter().chain(&member.schemas).copied().collect();
        let place = self.arena.at(&member.place);
        Field {
            wire,
            name: String::new(),
            asked: roots.first().and_then(|root| self.asked(*root)),
            docs: self.docs(&described).or_else(|| self.docs(&[place])),
            sensitive: described.iter().any(|id| self.arena.get(*id).sensitive) || self.arena.get(place).sensitive,
            slot,
            presence: if required { Presence::Required } else { Presence::Optional },
            boxed: false,
        }
    }

    fn rest_of(&mut self, node: &Node, members: &super::members::Members) -> Rest {
        let rest = self.rest(node, members);
        if rest.as_ref().is_some_and(|rest| self.is_never(rest)) {
            return Rest::Closed;
        }
        let value = rest.and_then(|rest| self.slot(&rest, 0)).unwrap_or(ANY);
        let typed = value != ANY;
        // Members that have a type of their own are never passed over.
        if self.options.keep_unknown || typed { Rest::Kept { name: String::new(), value } } else { Rest::Dropped }
    }

    /// Gives the union `id` its forms.
    pub(super) fn fill_union(&mut self, id: TypeId, branches: &[Branch]) {
        let mut alternatives: Vec<Alternative> = Vec::new();
        for branch in branches {
            let Some(slot) = self.slot(&branch.node, 0) else { continue };
            let root = branch.node.roots.last().copied().filter(|_| branch.named);
            alternatives.push(Alternative {
                name: String::new(),
                natural: self.natural(branch),
                docs: root.and_then(|root| self.docs(&[root])),
                slot,
                boxed: false,
                kinds: branch.kinds,
                tag: branch
                    .tag
                    .as_ref()
                    .map(|(name, values)| (name.clone(), values.iter().map(|value| value.json.clone()).collect())),
            });
        }
        if let Some(ty) = self.types.get_mut(id) {
            ty.kind = Kind::Union(alternatives);
        }
    }

    /// What a form is called: as it asks for, by its tag, as its definition or its title, or as its kind.
    fn natural(&mut self, branch: &Branch) -> String {
        let kind = kind_name(branch.kinds).to_owned();
        if !branch.named {
            return kind;
        }
        let place = branch.node.place.clone();
        let id = self.arena.at(&place);
        if let Some(asked) = self.asked(id) {
            return asked;
        }
        let tag = branch.tag.as_ref().and_then(|(_, values)| values.first());
        if let Some(text) = tag.and_then(|value| serde_json::from_str::<String>(&value.json).ok()) {
            return text;
        }
        let tokens: Vec<String> = place.pointer.tokens().collect();
        match tokens.as_slice() {
            [.., keyword, name] if keyword == "definitions" || keyword == "$defs" => name.clone(),
            [] => super::file_title(&place.document),
            _ => self.arena.get(id).title.clone().unwrap_or(kind),
        }
    }
}

const ANY: Slot = Slot { ty: Type::Json, nullable: false, rules: Vec::new() };

fn kind_name(kinds: Kinds) -> &'static str {
    match kinds {
        Kinds::NULL => "Null",
        Kinds::BOOLEAN => "Boolean",
        Kinds::INTEGER => "Integer",
        Kinds::NUMBER | Kinds::FRACTION => "Number",
        Kinds::STRING => "String",
        Kinds::ARRAY => "Array",
        Kinds::OBJECT => "Object",
        _ => "Other",
    }
}

impl Rule {
    /// The kinds of values that the rule says something of.
    pub(super) fn kinds(&self) -> Kinds {
        match self {
            Self::Minimum(_)
            | Self::Maximum(_)
            | Self::ExclusiveMinimum(_)
            | Self::ExclusiveMaximum(_)
            | Self::MultipleOf(_) => Kinds::NUMBER,
            Self::MinLength(_) | Self::MaxLength(_) => Kinds::STRING,
            Self::MinItems(_) | Self::MaxItems(_) | Self::UniqueItems | Self::Contains(..) => Kinds::ARRAY,
            Self::MinProperties(_)
            | Self::MaxProperties(_)
            | Self::Required(_)
            | Self::DependentRequired(..)
            | Self::Names(_) => Kinds::OBJECT,
            Self::Kinds(_) | Self::OneOf(_) | Self::NoneOf(_) => Kinds::ALL,
        }
    }
}
