//! The rules of a slot as the runtime crate names them.

use proc_macro2::Literal;

use crate::model::{Kinds, Rule, Slot, Type};

/// The rules of a slot and of everything in it; empty if there are none.
pub(super) fn of_slot(slot: &Slot) -> String {
    let own = slot.rules.iter().map(|rule| one(rule, &slot.ty));
    let inner = match &slot.ty {
        Type::List(item) | Type::Map(item) => vec![nested(item).map(|rules| format!("Each({rules})"))],
        Type::Tuple(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| nested(item).map(|rules| format!("At({index}, {rules})"))).collect()
        }
        _ => Vec::new(),
    };
    own.chain(inner.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

fn nested(slot: &Slot) -> Option<String> {
    let rules = of_slot(slot);
    (!rules.is_empty()).then(|| format!("&[{rules}]"))
}

/// Rules of JSON values, such as those of an object as a whole; empty if there are none.
pub(super) fn of_object(rules: &[Rule]) -> String {
    rules.iter().map(|rule| one(rule, &Type::Json)).collect::<Vec<_>>().join(", ")
}

fn one(rule: &Rule, ty: &Type) -> String {
    match rule {
        Rule::Kinds(kinds) => format!("Kinds(&[{}])", self::kinds(*kinds).join(", ")),
        Rule::Minimum(number) => format!("Minimum({})", bound(number, ty)),
        Rule::Maximum(number) => format!("Maximum({})", bound(number, ty)),
        Rule::ExclusiveMinimum(number) => format!("ExclusiveMinimum({})", bound(number, ty)),
        Rule::ExclusiveMaximum(number) => format!("ExclusiveMaximum({})", bound(number, ty)),
        // Of doubles too, multiples are judged by the spelling.
        Rule::MultipleOf(number) => format!("MultipleOf({})", bound(number, &Type::Json)),
        Rule::MinLength(number) => format!("MinLength({number})"),
        Rule::MaxLength(number) => format!("MaxLength({number})"),
        Rule::MinItems(number) => format!("MinItems({number})"),
        Rule::MaxItems(number) => format!("MaxItems({number})"),
        Rule::UniqueItems => "UniqueItems".to_owned(),
        Rule::MinProperties(number) => format!("MinProperties({number})"),
        Rule::MaxProperties(number) => format!("MaxProperties({number})"),
        Rule::Required(names) => format!("Required(&[{}])", texts(names)),
        Rule::DependentRequired(name, names) => format!("DependentRequired({}, &[{}])", text(name), texts(names)),
        Rule::OneOf(values) => format!("OneOf(&[{}])", texts(values)),
        Rule::NoneOf(values) => format!("NoneOf(&[{}])", texts(values)),
        Rule::Contains(least, most, rules) => format!("Contains({least}, {most}, &[{}])", of_object(rules)),
        Rule::Names(rules) => format!("Names(&[{}])", of_object(rules)),
    }
}

fn bound(number: &str, ty: &Type) -> String {
    let whole = number.split_once('.').filter(|(_, zeros)| zeros.bytes().all(|digit| digit == b'0'));
    if let Ok(value) = whole.map_or(number, |(whole, _)| whole).parse::<i128>() {
        return format!("Whole({value})");
    }
    match number.parse::<f64>() {
        Ok(value) if matches!(ty, Type::F32 | Type::F64) && value.is_finite() => {
            let sign = if value.is_sign_negative() { "-" } else { "" };
            format!("Float({sign}{})", Literal::f64_unsuffixed(value.abs()))
        }
        _ => format!("Exact({})", text(number)),
    }
}

/// The names of kinds.
pub(super) fn kinds(kinds: Kinds) -> Vec<&'static str> {
    const NAMES: [(Kinds, &str); 7] = [
        (Kinds::NULL, "Null"),
        (Kinds::BOOLEAN, "Boolean"),
        (Kinds::INTEGER, "Integer"),
        (Kinds::FRACTION, "Fraction"),
        (Kinds::STRING, "String"),
        (Kinds::ARRAY, "Array"),
        (Kinds::OBJECT, "Object"),
    ];
    NAMES.into_iter().filter(|(kind, _)| kinds.contains(*kind)).map(|(_, name)| name).collect()
}

/// `text` as a literal.
pub(super) fn text(text: &str) -> String {
    Literal::string(text).to_string()
}

/// `texts` as literals.
pub(super) fn texts(texts: &[String]) -> String {
    texts.iter().map(|value| text(value)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(ty: Type, rules: Vec<Rule>) -> Slot {
        Slot { ty, nullable: false, rules }
    }

    #[test]
    fn bounds_are_written_as_the_type_compares_them() {
        let bounds = |ty: Type| {
            let spelled = ["5", "-5.00", "0.5", "-1e-7", "1e400", "99999999999999999999999999999999999999999"];
            of_slot(&slot(ty, spelled.map(|number| Rule::Minimum(number.to_owned())).into()))
        };
        assert_eq!(
            bounds(Type::F64),
            "Minimum(Whole(5)), Minimum(Whole(-5)), Minimum(Float(0.5)), Minimum(Float(-0.0000001)), \
             Minimum(Exact(\"1e400\")), Minimum(Float(100000000000000000000000000000000000000000.0))"
        );
        assert_eq!(
            bounds(Type::Json),
            "Minimum(Whole(5)), Minimum(Whole(-5)), Minimum(Exact(\"0.5\")), Minimum(Exact(\"-1e-7\")), \
             Minimum(Exact(\"1e400\")), Minimum(Exact(\"99999999999999999999999999999999999999999\"))"
        );
        let multiple = slot(Type::F64, vec![Rule::MultipleOf("0.01".to_owned())]);
        assert_eq!(of_slot(&multiple), "MultipleOf(Exact(\"0.01\"))");
    }

    #[test]
    fn rules_of_items_stand_inside_those_of_their_list() {
        let item = slot(Type::String, vec![Rule::MinLength(1)]);
        let tuple = slot(Type::Tuple(vec![slot(Type::Bool, Vec::new()), item.clone()]), Vec::new());
        let list = slot(Type::List(Box::new(tuple)), vec![Rule::MinItems(2), Rule::UniqueItems]);
        let map = slot(Type::Map(Box::new(list)), Vec::new());
        assert_eq!(of_slot(&map), "Each(&[MinItems(2), UniqueItems, Each(&[At(1, &[MinLength(1)])])])");
        assert_eq!(of_slot(&slot(Type::List(Box::new(slot(Type::Bool, Vec::new()))), Vec::new())), "");
    }
}
