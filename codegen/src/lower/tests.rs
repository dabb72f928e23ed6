//! What schemas become, written down in short: `{a: u64, b?: String|null, *: Json}` is a struct with a required member,
//! an optional one that may be null, and a map of others.

use std::fmt::Write as _;

use super::*;
use crate::load::{Sources, read_registry};
use crate::model::{Presence, Rest};
use crate::resolve::{Dialect, Resolver};

const OPTIONS: Options = Options {
    formats: BTreeMap::new(),
    keep_unknown: true,
    fill_defaults: false,
    exact_numbers: false,
    names: BTreeMap::new(),
};

/// The type of the member `v` of a payload, whose schema is `schema`; or the problems.
fn shape(schema: &str) -> String {
    let payload = format!(r#"{{"properties":{{"v":{schema}}},"required":["v"]}}"#);
    let (topic, problems) = run(&payload, &OPTIONS);
    if !problems.is_empty() {
        return problems;
    }
    match topic.types.first().and_then(|ty| ty.fields().first()) {
        Some(field) => slot(&topic, &field.slot, &mut Vec::new()),
        None => whole(&topic),
    }
}

/// The type of a payload whose schema is `schema`.
fn payload(schema: &str) -> String {
    let (topic, problems) = run(schema, &OPTIONS);
    if problems.is_empty() { whole(&topic) } else { problems }
}

fn whole(topic: &Topic) -> String {
    named(topic, 0, &mut Vec::new())
}

fn run(payload: &str, options: &Options) -> (Topic, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("registry.json", r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"}]}"#);
    write("x.json", payload);
    let sources = Sources::new(folder.path().to_owned(), std::path::PathBuf::new());
    let mut arena = Arena::new(Resolver::new(sources, Dialect::Draft2020, Vec::new()));
    let entries = read_registry(&mut arena.resolver.sources, "registry.json", &mut arena.problems).expect("a registry");
    arena.read_payloads(&entries);
    let topic = topic(&mut arena, options, "t", &entries);
    let mut problems = std::mem::take(&mut arena.problems);
    problems.extend(arena.resolver.sources.take_problems());
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    (topic, problems.join("\n"))
}

fn slot(topic: &Topic, slot: &Slot, open: &mut Vec<TypeId>) -> String {
    let mut text = match &slot.ty {
        Type::Null => "null".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::String => "String".to_owned(),
        Type::Integer(integer) => integer.name.to_owned(),
        Type::F32 => "f32".to_owned(),
        Type::F64 => "f64".to_owned(),
        Type::Json => "Json".to_owned(),
        Type::List(item) => format!("[{}]", self::slot(topic, item, open)),
        Type::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|item| self::slot(topic, item, open)).collect();
            format!("({})", items.join(", "))
        }
        Type::Map(value) => format!("{{*: {}}}", self::slot(topic, value, open)),
        Type::Named(id) => named(topic, *id, open),
        Type::Foreign(path) => path.clone(),
    };
    for rule in &slot.rules {
        let _ = write!(text, " {}", rule_text(rule));
    }
    if slot.nullable { text + "|null" } else { text }
}

fn rule_text(rule: &Rule) -> String {
    format!("{rule:?}").replace('"', "'").replace("\\'", "\"")
}

fn named(topic: &Topic, id: TypeId, open: &mut Vec<TypeId>) -> String {
    if open.contains(&id) {
        return format!("^{}", open.len() - open.iter().position(|other| *other == id).unwrap_or_default());
    }
    open.push(id);
    let text = match &topic.types[id].kind {
        Kind::Enum(variants) => {
            variants.iter().map(|variant| variant.json.clone()).collect::<Vec<_>>().join("|").replace('"', "'")
        }
        Kind::Union(forms) => {
            let forms = forms.iter().map(|form| {
                let tag = form.tag.as_ref().map(|(name, values)| format!("@{name}={}", values.join("|")));
                let boxed = if form.boxed { "box " } else { "" };
                let text = slot(topic, &form.slot, open);
                format!("{}{}: {boxed}{text}", form.natural, tag.unwrap_or_default().replace('"', ""))
            });
            format!("<{}>", forms.collect::<Vec<_>>().join(", "))
        }
        Kind::Struct(object) => {
            let mut parts: Vec<String> = Vec::new();
            for field in &object.fields {
                let mark = if field.presence == Presence::Required { "" } else { "?" };
                let boxed = if field.boxed { "box " } else { "" };
                parts.push(format!("{}{mark}: {boxed}{}", field.wire, slot(topic, &field.slot, open)));
            }
            parts.extend(object.constants.iter().map(|(name, json)| format!("{name} = {json}").replace('"', "'")));
            parts.extend(object.forbidden.iter().map(|name| format!("no {name}")));
            parts.extend(object.rules.iter().map(rule_text));
            match &object.rest {
                Rest::Closed => {}
                Rest::Dropped => parts.push("..".to_owned()),
                Rest::Kept { value, .. } if value.ty == Type::Json && value.rules.is_empty() => {
                    parts.push("*".to_owned());
                }
                Rest::Kept { value, .. } => parts.push(format!("*: {}", slot(topic, value, open))),
            }
            format!("{{{}}}", parts.join(", "))
        }
    };
    open.pop();
    text
}

/// Compares many schemas at once.
fn each(cases: &[(&str, &str)]) {
    let found: Vec<_> = cases.iter().map(|(schema, _)| format!("{schema} => {}", shape(schema))).collect();
    let wanted: Vec<_> = cases.iter().map(|(schema, shape)| format!("{schema} => {shape}")).collect();
    assert_eq!(found.join("\n"), wanted.join("\n"));
}

#[test]
fn kinds_decide_the_type() {
    each(&[
        (r#"{"type":"string"}"#, "String"),
        (r#"{"type":["string","null"]}"#, "String|null"),
        (r#"{"type":"null"}"#, "null"),
        (r#"{"type":"integer"}"#, "i64"),
        (r#"{"type":"integer","minimum":0}"#, "u64"),
        (
            r#"{"type":"integer","format":"uint64","minimum":0,"maximum":9223372036854775808}"#,
            "u64 Maximum('9223372036854775808')",
        ),
        (r#"{"type":"integer","minimum":1}"#, "u64 Minimum('1')"),
        (r#"{"type":"integer","maximum":1e30}"#, "Json Kinds(Kinds(4)) Maximum('1e30')"),
        (r#"{"type":"number"}"#, "f64"),
        (r#"{"type":["string","integer"]}"#, "<Integer: i64, String: String>"),
        (r#"{"type":["string","integer","null"]}"#, "<Integer: i64, String: String>|null"),
        (r#"{"type":"array"}"#, "[Json]"),
        (r#"{"type":"object"}"#, "{*: Json}"),
        ("true", "Json"),
        ("{}", "Json"),
        (r#"{"minimum":2}"#, "Json Minimum('2')"),
        (r#"{"not":{"type":"integer"}}"#, "Json Kinds(Kinds(123))"),
    ]);
}

#[test]
fn objects_are_structs_or_maps() {
    each(&[
        (r#"{"type":"object","properties":{"a":{"type":"string"}}}"#, "{a?: String, *}"),
        (r#"{"type":"object","properties":{"a":true},"additionalProperties":false,"required":["a"]}"#, "{a: Json}"),
        (r#"{"type":"object","additionalProperties":{"type":"boolean"}}"#, "{*: bool}"),
        (r#"{"type":"object","required":["b"]}"#, "{b: Json, *}"),
        (r#"{"type":"object","properties":{"a":false,"k":{"const":"x"}},"required":["k"]}"#, "{k = 'x', no a, *}"),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}"#,
            "{a?: String, *: f64}",
        ),
        (r#"{"properties":{"a":{"type":"string"}}}"#, "<Object: {a?: String, *}, Other: Json Kinds(Kinds(63))>"),
        (
            r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#,
            "{*: String}",
        ),
        (r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}}}"#, "{*: Json}"),
    ]);
}

#[test]
fn arrays_are_lists_or_tuples() {
    each(&[
        (
            r#"{"type":"array","items":{"type":"string","minLength":1},"minItems":1}"#,
            "[String MinLength(1)] MinItems(1)",
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false,"minItems":2}"#,
            "(String, null)",
        ),
        (r#"{"type":"array","prefixItems":[{"type":"string"}]}"#, "[Json]"),
        (r#"{"type":"array","items":false}"#, "[Json] MaxItems(0)"),
    ]);
}

#[test]
fn schemas_that_hold_together_are_one_type() {
    each(&[
        (
            r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}}}]}"#,
            "{a: String, b?: i64, *}",
        ),
        (
            r#"{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}],"unevaluatedProperties":false}"#,
            "{a?: String}",
        ),
        (
            r#"{"type":"object","properties":{"a":{"minimum":3}},"allOf":[{"properties":{"a":{"type":"integer"}}}]}"#,
            "{a?: u64 Minimum('3'), *}",
        ),
    ]);
}

#[test]
fn unions_are_told_apart_or_kept_as_json() {
    each(&[
        (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "String|null"),
        (
            r#"{"oneOf":[{"type":"object","properties":{"k":{"const":"x.a"},"a":{"type":"string"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"x.b"}},"required":["k"]}]}"#,
            "<x.a@k=x.a: {a?: String, k = 'x.a', *}, x.b@k=x.b: {k = 'x.b', *}>",
        ),
        (
            r##"{"$defs":{"n":{"type":"object","properties":{"a":{"type":"string"}}}},"anyOf":[{"$ref":"#/properties/v/$defs/n"},{"type":"null"}]}"##,
            "{a?: String, *}|null",
        ),
        (
            r##"{"description":"d","anyOf":[{"type":"null"},{"type":"array","items":{"anyOf":[{"enum":["x","y"]},{"type":"null"}]}}]}"##,
            "['x'|'y'|null]|null",
        ),
        (
            r##"{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/properties/v"},{"type":"null"}]}}}"##,
            "{next?: box ^1|null, *}",
        ),
        (r##"{"anyOf":[{"$ref":"#/properties/v"},{"type":"null"}]}"##, "Json Kinds(Kinds(126))|null"),
        (r#"{"anyOf":[{"type":"string","maxLength":3},{"type":"string","minLength":9}]}"#, "String"),
        (
            r#"{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}"#,
            "Json Kinds(Kinds(64))",
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}"#,
            "{a?: String, *}",
        ),
    ]);
}

#[test]
fn a_payload_of_one_branch_is_that_branch() {
    assert_eq!(payload(r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}}]}"#), "{a?: String, *}");
    assert_eq!(
        payload(
            r##"{"$defs":{"n":{"type":"object","properties":{"a":{"type":"string"}}}},"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}"##
        ),
        "{a?: String, *}"
    );
}

#[test]
fn values_are_enums() {
    each(&[
        (r#"{"enum":["a","b"]}"#, "'a'|'b'"),
        (r#"{"enum":[0,1,2,""]}"#, "0|1|2|''"),
        (r#"{"enum":[null,"on"]}"#, "'on'|null"),
        (r#"{"enum":[true,"x"]}"#, "true|'x'"),
        (r#"{"enum":[1,2,3]}"#, "u64 OneOf(['1', '2', '3'])"),
        (r#"{"type":"string","enum":["a",1]}"#, "{v = 'a', *}"),
    ]);
}

#[test]
fn what_refers_to_itself_ends() {
    each(&[
        (
            r##"{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/properties/v/$defs/n"}}}},"$ref":"#/properties/v/$defs/n"}"##,
            "{next?: box ^1, *}",
        ),
        (r##"{"type":"array","items":{"$ref":"#/properties/v"}}"##, "[Json Kinds(Kinds(32))]"),
        (
            r##"{"oneOf":[{"type":"string"},{"type":"object","properties":{"not":{"description":"d","$ref":"#/properties/v"}},"required":["not"]}]}"##,
            "<String: String, Object: box {not: box ^2, *}>",
        ),
    ]);
}

#[test]
fn what_nothing_satisfies_is_a_problem() {
    each(&[(
        r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#,
        "x.json:1:1: /: no object satisfies this schema, and a payload is an object",
    )]);
    assert_eq!(payload(r#"{"properties":{"a":false}}"#), "{no a, *}");
}

#[test]
fn a_rule_beside_a_reference_holds_at_its_place_alone() {
    let of = |definition: &str, rules: &str| {
        payload(&format!(
            r##"{{"$defs":{{"d":{definition}}},"properties":{{"a":{{"$ref":"#/$defs/d",{rules}}},"b":{{"$ref":"#/$defs/d"}},
            "c":{{"type":"array","items":{{"$ref":"#/$defs/d",{rules}}}}}}},"required":["b"]}}"##
        ))
    };
    let object = r#"{"type":"object","properties":{"x":{"type":"string"}}}"#;
    assert_eq!(
        of(object, r#""minProperties":3"#),
        "{a?: {x?: String, *} MinProperties(3), b: {x?: String, *}, c?: [{x?: String, *} MinProperties(3)], *}"
    );
    assert_eq!(
        of(object, r#""minProperties":3,"maxProperties":2"#),
        "{b: {x?: String, *}, c?: [Json] MaxItems(0), no a, *}"
    );
}
