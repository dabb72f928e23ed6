//! The table of a type: what the macros of the runtime crate make serde's traits from.
//!
//! It is text, as `prettyplease` would run the lines of a macro call together.

use super::{Style, bare, rules, types};
use crate::model::{Alternative, Kind, Presence, Rest, Struct, TypeDef, Variant};

/// The table of a type in a module.
pub(super) fn of(ty: &TypeDef, style: &Style) -> String {
    let (name, lines) = match &ty.kind {
        Kind::Struct(object) => ("object", self::object(ty, object, style)),
        Kind::Enum(variants) => ("values", values(ty, variants)),
        Kind::Union(forms) => ("union", union(ty, forms, style)),
    };
    let lines: String = lines.into_iter().map(|line| format!("        {line}\n")).collect();
    format!("    {}! {{\n{lines}    }}\n", style.path(&format!("::private::{name}")))
}

fn object(ty: &TypeDef, object: &Struct, style: &Style) -> Vec<String> {
    let members = object.fields.iter().map(|field| {
        let presence = match field.presence {
            Presence::Required => "required",
            Presence::Optional => "optional",
            Presence::Default(_) => "default",
        };
        let default = match field.presence {
            Presence::Default(_) => format!(" = {}::default_{}", ty.name, bare(&field.name)),
            _ => String::new(),
        };
        let way = way(types::way(&field.slot, field.boxed, style));
        let rules = in_brackets(&rules::of_slot(&field.slot));
        format!("{}: {presence} {}{default}{way}{rules}", field.name, rules::text(&field.wire))
    });
    let mut lines = block(&ty.name, members);
    if !object.constants.is_empty() {
        let constants = object.constants.iter();
        let constants = constants.map(|(name, value)| format!("{} = {}", rules::text(name), rules::text(value)));
        lines.extend(block("constants", constants));
    }
    if !object.forbidden.is_empty() {
        lines.extend(block("forbidden", object.forbidden.iter().map(|name| rules::text(name))));
    }
    if !object.rules.is_empty() {
        lines.push(format!("rules{}", in_brackets(&rules::of_object(&object.rules))));
    }
    lines.push(match &object.rest {
        Rest::Closed => "others refused".to_owned(),
        Rest::Dropped => "others dropped".to_owned(),
        Rest::Kept { name, value } => {
            let way = way(types::way(value, false, style));
            format!("others kept in {name}{way}{}", in_brackets(&rules::of_slot(value)))
        }
    });
    lines
}

fn values(ty: &TypeDef, variants: &[Variant]) -> Vec<String> {
    match super::enums::strings(variants) {
        Some(texts) => block(
            &format!("{} strings", ty.name),
            variants.iter().zip(texts).map(|(variant, text)| format!("{} = {}", variant.name, rules::text(&text))),
        ),
        None => block(
            &format!("{} json", ty.name),
            variants.iter().map(|variant| format!("{} = {}", variant.name, rules::text(&variant.json))),
        ),
    }
}

fn union(ty: &TypeDef, forms: &[Alternative], style: &Style) -> Vec<String> {
    let forms = forms.iter().map(|form| {
        let kinds = rules::kinds(form.kinds).join(" | ");
        let tag = form
            .tag
            .as_ref()
            .map(|(name, values)| format!(" where {} in [{}]", rules::text(name), rules::texts(values)));
        let way = way(types::way(&form.slot, form.boxed, style));
        let rules = in_brackets(&rules::of_slot(&form.slot));
        format!("{}: {kinds}{}{way}{rules}", form.name, tag.unwrap_or_default())
    });
    block(&ty.name, forms)
}

fn block(head: &str, lines: impl Iterator<Item = String>) -> Vec<String> {
    let lines: Vec<_> = lines.map(|line| format!("    {line},")).collect();
    if lines.is_empty() {
        return vec![format!("{head} {{}}")];
    }
    [format!("{head} {{")].into_iter().chain(lines).chain(["}".to_owned()]).collect()
}

fn way(way: Option<String>) -> String {
    way.map(|way| format!(" as {way}")).unwrap_or_default()
}

fn in_brackets(rules: &str) -> String {
    if rules.is_empty() { String::new() } else { format!(" [{rules}]") }
}
