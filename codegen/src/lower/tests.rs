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
    let (topic, problems, _) = judged(payload, options);
    (topic, problems.join("\n"))
}

/// The types of a payload without problems, and the warnings.
fn warned(payload: &str, options: &Options) -> (Topic, Vec<String>) {
    let (topic, problems, warnings) = judged(payload, options);
    assert_eq!(problems, Vec::<String>::new(), "{payload}");
    (topic, warnings)
}

/// The types of a payload, the problems and the warnings.
fn judged(payload: &str, options: &Options) -> (Topic, Vec<String>, Vec<String>) {
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
    let texts = |problems: &[Problem]| problems.iter().map(ToString::to_string).collect();
    (topic, texts(&problems), texts(&arena.warnings))
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
        // B23
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

// B27
#[test]
fn a_schema_may_be_true_or_false() {
    assert_eq!(payload(r#"{"properties":{"any":true,"never":false}}"#), "{any?: Json, no never, *}");
    assert_eq!(
        payload(r#"{"properties":{"never":false},"required":["never"]}"#),
        "x.json:1:16: /properties/never: no value satisfies this schema, and the member `never` is required"
    );
}

// B02
#[test]
fn a_dynamic_reference_is_the_type_of_the_one_place_that_can_be_meant_and_json_where_there_are_more() {
    let one = r##"{"properties":{"v":{"$dynamicRef":"#n"}},"$defs":{"n":{"$dynamicAnchor":"n","type":"string"}}}"##;
    assert_eq!(payload(one), "{v?: String, *}");
    let two = r##"{"properties":{"t":{"$ref":"strict"}},"$defs":{
        "tree":{"$id":"tree","$dynamicAnchor":"node","type":"object","properties":{"child":{"$dynamicRef":"#node"}}},
        "strict":{"$id":"strict","$dynamicAnchor":"node","$ref":"tree","minProperties":1}}}"##;
    assert_eq!(payload(two), "{t?: {child?: Json, *} MinProperties(1), *}");
    assert_eq!(
        payload(r##"{"properties":{"v":{"$dynamicRef":"#none"}}}"##),
        "x.json:1:21: /properties/v/$dynamicRef: the reference leads nowhere: `x.json` has no anchor `none`"
    );
}

#[test]
fn arrays_are_lists_or_tuples() {
    each(&[
        // B27
        (
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#,
            "[Json] MaxItems(2)",
        ),
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
        (r#"{"type":"array","maxItems":2e1}"#, "[Json] MaxItems(20)"),
        (r#"{"type":"array","maxItems":2.0}"#, "[Json] MaxItems(2)"),
        (r#"{"type":"array","maxItems":1e30}"#, "[Json] MaxItems(18446744073709551615)"),
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
        // B10
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

// B11
#[test]
fn branches_that_differ_in_one_constant_are_all_kept() {
    each(&[(
        r#"{"oneOf":[{"type":"object","properties":{"streamType":{"const":"file"},"n":{"type":"integer"}},"required":["streamType"]},
            {"type":"object","properties":{"streamType":{"const":"net"},"n":{"type":"integer"}},"required":["streamType"]}]}"#,
        "<file@streamType=file: {n?: i64, streamType = 'file', *}, net@streamType=net: {n?: i64, streamType = 'net', *}>",
    )]);
}

// B12
#[test]
fn any_of_and_one_of_are_the_same_where_their_constants_differ() {
    let of = |keyword: &str| {
        payload(&format!(
            r##"{{"{keyword}":[{{"$ref":"#/$defs/EventA"}},{{"$ref":"#/$defs/EventB"}}],"$defs":{{
                "EventA":{{"type":"object","properties":{{"event_type":{{"const":"a"}},"x":{{"type":"integer"}}}},"required":["event_type","x"]}},
                "EventB":{{"type":"object","properties":{{"event_type":{{"const":"b"}},"x":{{"type":"string"}}}},"required":["event_type","x"]}}}}}}"##
        ))
    };
    let union = "<a@event_type=a: {x: i64, event_type = 'a', *}, b@event_type=b: {x: String, event_type = 'b', *}>";
    assert_eq!((of("oneOf").as_str(), of("anyOf").as_str()), (union, union));
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
        // B14
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
        // B05
        (
            r##"{"oneOf":[{"type":"string"},{"type":"object","properties":{"not":{"description":"d","$ref":"#/properties/v"}},"required":["not"]}]}"##,
            "<String: String, Object: box {not: box ^2, *}>",
        ),
    ]);
}

// B08
#[test]
fn what_nothing_satisfies_is_a_problem() {
    each(&[(
        r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#,
        "x.json:1:16: /properties/v: no value satisfies this schema, and the member `v` is required",
    )]);
    assert_eq!(
        payload(r#"{"allOf":[{"type":"object"},{"type":"string"}]}"#),
        "x.json:1:1: /: no object satisfies this schema, and a payload is an object"
    );
    // What need not be there is what must not be there.
    assert_eq!(payload(r#"{"properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}"#), "{no a, *}");
}

// B25
#[test]
fn a_default_fills_a_member_if_it_is_valid_and_is_passed_over_with_a_warning_otherwise() {
    for (schema, fits) in [
        (
            r#""type":"string","format":"date-time","default":"2026-01-31T00:00:00Z""#,
            Ok(r#"String("2026-01-31T00:00:00Z")"#),
        ),
        (r#""type":"integer","default":2.0"#, Ok("Integer(2)")),
        (
            r#""type":"integer","default":"zero""#,
            Err("/default: the default does not fit its schema: it is no integer"),
        ),
        (r#""type":"integer","default":1.5"#, Err("/default: the default does not fit its schema: it is no integer")),
        (
            r#""type":"integer","minimum":3,"default":1"#,
            Err("/default: the default does not fit its schema: it breaks `minimum`"),
        ),
        (
            r#""type":"string","minLength":1,"default":"""#,
            Err("/default: the default does not fit its schema: it breaks `minLength`"),
        ),
        (
            r#""type":"array","items":{"type":"string","minLength":1},"default":["a",""]"#,
            Err("/default/1: the default does not fit its schema: it breaks `minLength`"),
        ),
        (
            r#""type":"object","properties":{"a":true},"minProperties":1,"default":{}"#,
            Err("/default: the default does not fit its schema: it breaks `minProperties`"),
        ),
        (r#""not":{"const":1},"default":1"#, Err("/default: the default does not fit its schema: it breaks `not`")),
        (r#""enum":[1,2],"default":3"#, Err("/default: the default does not fit its schema: it breaks `enum`")),
    ] {
        let payload = format!(r#"{{"properties":{{"v":{{{schema}}}}}}}"#);
        let (topic, warnings) = warned(&payload, &Options { fill_defaults: true, ..OPTIONS });
        let found = match &topic.types[0].fields()[0].presence {
            Presence::Default(value) => Ok(format!("{value:?}")),
            _ => Err(warnings.join("\n")),
        };
        match fits {
            Ok(value) => assert_eq!((found.as_deref(), warnings.as_slice()), (Ok(value), [].as_slice()), "{schema}"),
            Err(reason) => {
                let warning = found.expect_err(schema);
                assert!(
                    warning.starts_with("x.json:1:") && warning.ends_with(&format!(": /properties/v{reason}")),
                    "{schema}: {warning}"
                );
            }
        }
    }
    let formats = BTreeMap::from([("date-time".to_owned(), "::chrono::DateTime".to_owned())]);
    let payload = r#"{"properties":{"v":{"type":"string","format":"date-time","default":"2026-01-31T00:00:00Z"}}}"#;
    let (topic, warnings) = warned(payload, &Options { fill_defaults: true, formats, ..OPTIONS });
    assert_eq!(topic.types[0].fields()[0].presence, Presence::Optional);
    assert!(warnings.len() == 1 && warnings[0].contains("a type of another crate has no default here"), "{warnings:?}");
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
