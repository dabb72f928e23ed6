//! Which form in Rust a node takes. Only decisions: types are made where they are used.

use super::Lowering;
use super::node::Node;
use super::scalar;
use super::union::Branch;
use crate::model::{Kinds, Rule, Type};
use crate::schema::Literal;

/// How many kinds a value may have to be a union of all of them; beyond that the kinds without a type of their own
/// are one.
const MAX_KINDS: usize = 3;

/// A form, and what stands beside it.
#[derive(Debug)]
pub(super) struct Formed {
    pub(super) form: Form,
    pub(super) nullable: bool,
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug)]
pub(super) enum Form {
    /// A type without parts.
    Plain(Type),
    List(Node),
    Tuple(Vec<Node>),
    Map(Node),
    Struct,
    Enum(Vec<Literal>),
    Union(Vec<Branch>),
    /// The form of the only branch that is left of a union.
    Same(Node),
}

impl Lowering<'_> {
    /// The form of `node`, whose values have the kinds `kinds`, not none.
    pub(super) fn form(&mut self, node: &Node, kinds: Kinds) -> Formed {
        let nullable = kinds.meets(Kinds::NULL) && kinds != Kinds::NULL;
        let rules = self.all_rules(node);
        let plain = |ty, nullable, rules| Formed { form: Form::Plain(ty), nullable, rules };
        if let Some(path) = self.rust_type(node) {
            return plain(Type::Foreign(path), nullable, Vec::new());
        }
        if kinds == Kinds::NULL {
            return plain(Type::Null, false, Vec::new());
        }
        if let Some(values) = self.values(node) {
            return self.value_form(node, &values, kinds, rules);
        }
        if let Some(mut branches) = self.branches(node, kinds) {
            return match branches.pop() {
                Some(only) if branches.is_empty() => {
                    Formed { form: Form::Same(only.node), nullable, rules: Vec::new() }
                }
                last => {
                    branches.extend(last);
                    Formed { form: Form::Union(branches), nullable, rules: Vec::new() }
                }
            };
        }
        self.kind_form(node, kinds, rules)
    }

    fn rust_type(&mut self, node: &Node) -> Option<String> {
        node.schemas.iter().find_map(|id| self.arena.get(*id).rust_type.clone())
    }

    /// The form of values that are listed.
    fn value_form(&mut self, node: &Node, values: &[Literal], kinds: Kinds, mut rules: Vec<Rule>) -> Formed {
        let nullable = kinds.meets(Kinds::NULL);
        let others: Vec<_> = values.iter().filter(|value| value.kind != Kinds::NULL).cloned().collect();
        let rest = kinds.without(Kinds::NULL);
        if rest.meets(Kinds::STRING) && !rest.meets(Kinds::ARRAY.or(Kinds::OBJECT)) {
            return Formed { form: Form::Enum(others), nullable, rules: Vec::new() };
        }
        rules.push(Rule::OneOf(others.into_iter().map(|value| value.json).collect()));
        if rest == Kinds::BOOLEAN && values.iter().filter(|value| value.kind == Kinds::BOOLEAN).count() == 2 {
            rules.clear();
        }
        match self.number_or_bool(node, rest, &rules) {
            Some((ty, rules)) => Formed { form: Form::Plain(ty), nullable, rules },
            None => Formed {
                form: Form::Plain(Type::Json),
                nullable,
                rules: rules.into_iter().filter(|rule| matches!(rule, Rule::OneOf(_))).collect(),
            },
        }
    }

    fn number_or_bool(&mut self, node: &Node, kinds: Kinds, rules: &[Rule]) -> Option<(Type, Vec<Rule>)> {
        if kinds == Kinds::BOOLEAN {
            return Some((Type::Bool, of_kinds(rules, kinds)));
        }
        (kinds.meets(Kinds::NUMBER) && Kinds::NUMBER.contains(kinds)).then(|| self.number(node, kinds, rules))
    }

    fn number(&mut self, node: &Node, kinds: Kinds, rules: &[Rule]) -> (Type, Vec<Rule>) {
        let formats: Vec<_> = node.schemas.iter().filter_map(|id| self.arena.get(*id).format.clone()).collect();
        let rules = of_kinds(rules, Kinds::NUMBER);
        let ty = scalar::number(kinds, &formats, &rules, self.options.exact_numbers);
        scalar::trim(ty, rules, kinds)
    }

    /// The form by kinds alone: the unions of `node` are decided, or cannot be.
    fn kind_form(&mut self, node: &Node, kinds: Kinds, rules: Vec<Rule>) -> Formed {
        let node = node.decided(self.arena);
        let nullable = kinds.meets(Kinds::NULL);
        let groups = groups(kinds);
        if let [kind] = groups.as_slice() {
            let (form, rules) = self.one_kind(&node, *kind, &rules);
            return Formed { form, nullable, rules };
        }
        let shaped: Vec<_> = groups.iter().copied().filter(|kind| self.is_shaped(&node, *kind)).collect();
        let written = node.schemas.iter().any(|id| self.arena.get(*id).typed);
        if shaped.is_empty() && !(written && groups.len() <= MAX_KINDS) {
            let mut rules = rules;
            if kinds != Kinds::ALL {
                rules.insert(0, Rule::Kinds(kinds));
            }
            return Formed { form: Form::Plain(Type::Json), nullable: false, rules };
        }
        let mut branches = Vec::new();
        let mut others = Kinds::NONE;
        for kind in &groups {
            if shaped.contains(kind) || groups.len() <= MAX_KINDS {
                branches.push(Branch::of_kind(node.of_kinds(*kind), *kind));
            } else {
                others = others.or(*kind);
            }
        }
        if !others.is_empty() {
            // Null is one value among them.
            let others = others.or(kinds.and(Kinds::NULL));
            branches.push(Branch::of_kind(node.of_kinds(others), others));
            return Formed { form: Form::Union(branches), nullable: false, rules: Vec::new() };
        }
        Formed { form: Form::Union(branches), nullable, rules: Vec::new() }
    }

    /// Whether values of a kind have a type that says more than the kind.
    fn is_shaped(&mut self, node: &Node, kind: Kinds) -> bool {
        if kind == Kinds::OBJECT {
            let node = node.of_kinds(kind);
            !matches!(self.object_form(&node), Form::Plain(Type::Json))
        } else if kind == Kinds::ARRAY {
            let elements = self.elements(node);
            !elements.prefix.is_empty() || self.node(&elements.rest).is_some_and(|node| !node.schemas.is_empty())
        } else {
            kind == Kinds::STRING && self.string_type(node) != Type::String
        }
    }

    fn string_type(&mut self, node: &Node) -> Type {
        let formats = node.schemas.iter().filter_map(|id| self.arena.get(*id).format.clone());
        let known = formats.collect::<Vec<_>>().into_iter().find_map(|format| self.options.formats.get(&format));
        known.map_or(Type::String, |path| Type::Foreign(path.clone()))
    }

    fn one_kind(&mut self, node: &Node, kind: Kinds, rules: &[Rule]) -> (Form, Vec<Rule>) {
        let own = of_kinds(rules, kind);
        if let Some((ty, rules)) = self.number_or_bool(node, kind, rules) {
            return (Form::Plain(ty), rules);
        }
        if kind == Kinds::STRING {
            let ty = self.string_type(node);
            // Rules of strings say nothing of what another type makes of one.
            let own = if ty == Type::String { own } else { Vec::new() };
            return (Form::Plain(ty), own);
        }
        if kind == Kinds::ARRAY {
            return self.array_form(node, own);
        }
        match self.object_form(node) {
            Form::Struct => (Form::Struct, Vec::new()),
            Form::Plain(ty) => {
                let mut rules = own;
                rules.insert(0, Rule::Kinds(Kinds::OBJECT));
                rules.extend(self.required_rule(node));
                (Form::Plain(ty), rules)
            }
            map => {
                let required = self.required_rule(node);
                (map, own.into_iter().chain(required).collect())
            }
        }
    }

    fn required_rule(&mut self, node: &Node) -> Option<Rule> {
        let required = self.members(node).required;
        (!required.is_empty()).then_some(Rule::Required(required))
    }

    /// A struct, a map, or (for objects of which little is known) JSON.
    pub(super) fn object_form(&mut self, node: &Node) -> Form {
        let members = self.members(node);
        let typed = node.schemas.iter().any(|id| {
            let schema = self.arena.get(*id);
            schema.typed && schema.kinds == Kinds::OBJECT
        });
        if !members.named.is_empty() || (typed && !members.required.is_empty()) {
            return Form::Struct;
        }
        let Some(rest) = self.rest(node, &members) else { return Form::Plain(Type::Json) };
        if self.is_never(&rest) {
            return Form::Struct;
        }
        if typed || !rest.schemas.is_empty() { Form::Map(rest) } else { Form::Plain(Type::Json) }
    }

    /// The members that are not named, as one node.
    pub(super) fn rest(&mut self, node: &Node, members: &super::members::Members) -> Option<Node> {
        if !members.patterned {
            return self.node(&members.rest);
        }
        // One pattern, and no other name allowed: then it describes every member.
        let mut patterns = Vec::new();
        for id in &node.schemas {
            patterns.extend(self.arena.get(*id).object.patterns.iter().map(|(_, root)| *root));
        }
        let closed = self.node(&members.rest).is_some_and(|rest| self.is_never(&rest));
        let roots = match patterns.as_slice() {
            [one] if closed && members.rest.len() == 1 => vec![*one],
            _ => Vec::new(),
        };
        let rest = self.node(&roots)?;
        if self.is_never(&rest) { self.node(&[]) } else { Some(rest) }
    }

    fn array_form(&mut self, node: &Node, mut rules: Vec<Rule>) -> (Form, Vec<Rule>) {
        let elements = self.elements(node);
        let count = |rules: &[Rule], pick: fn(&Rule) -> Option<u64>| rules.iter().filter_map(pick).collect::<Vec<_>>();
        let least = count(&rules, |rule| if let Rule::MinItems(count) = rule { Some(*count) } else { None });
        let most = count(&rules, |rule| if let Rule::MaxItems(count) = rule { Some(*count) } else { None });
        let length = u64::try_from(elements.prefix.len()).unwrap_or(u64::MAX);
        let never = self.node(&elements.rest).is_some_and(|rest| self.is_never(&rest));
        if never && !most.contains(&length) {
            rules.push(Rule::MaxItems(length));
        }
        let any = |lowering: &mut Self| lowering.node(&[]);
        if length == 0 {
            let rest = if never { any(self) } else { self.node(&elements.rest) };
            return match rest {
                Some(rest) => (Form::List(rest), rules),
                None => (Form::Plain(Type::Json), vec![Rule::Kinds(Kinds::ARRAY)]),
            };
        }
        let exact = least.iter().any(|least| *least >= length) && (never || most.iter().any(|most| *most <= length));
        let nodes: Option<Vec<Node>> = elements.prefix.iter().map(|roots| self.node(roots)).collect();
        match nodes {
            Some(nodes) if exact && nodes.len() <= MAX_TUPLE => {
                rules.retain(|rule| matches!(rule, Rule::UniqueItems));
                (Form::Tuple(nodes), rules)
            }
            _ => match any(self) {
                Some(any) => (Form::List(any), rules),
                None => (Form::Plain(Type::Json), vec![Rule::Kinds(Kinds::ARRAY)]),
            },
        }
    }
}

/// The longest tuple for which the standard library and serde have implementations.
const MAX_TUPLE: usize = 12;

/// The kinds beside null that Rust tells apart.
pub(super) fn groups(kinds: Kinds) -> Vec<Kinds> {
    [Kinds::BOOLEAN, Kinds::NUMBER, Kinds::STRING, Kinds::ARRAY, Kinds::OBJECT]
        .into_iter()
        .map(|group| kinds.and(group))
        .filter(|group| !group.is_empty())
        .collect()
}

/// The rules that say something of values of these kinds.
fn of_kinds(rules: &[Rule], kinds: Kinds) -> Vec<Rule> {
    rules.iter().filter(|rule| rule.kinds().meets(kinds)).cloned().collect()
}
