//! Models made by hand, with everything that a schema can lead to; `tests/compiled/models.rs` compiles what they give.

use std::fs;
use std::path::Path;

use super::{Style, file};
use crate::model::{
    Alternative, Field, Integer, Kind, Kinds, Message, Origin, Presence, Rest, Rule, Slot, Struct, Topic, Type,
    TypeDef, Value, Variant,
};
use crate::pointer::Pointer;

const I32: Type = Type::Integer(Integer { name: "i32", min: i32::MIN as i128, max: i32::MAX as i128 });
const U8: Type = Type::Integer(Integer { name: "u8", min: 0, max: 255 });

fn style(crate_path: &str, json_schema: bool) -> Style {
    Style {
        crate_path: syn::parse_str(crate_path).expect("a path"),
        json_schema,
        derives: Vec::new(),
        non_exhaustive: false,
    }
}

/// Compares with the golden file, which `BABELQUEUE_UPDATE_GOLDEN=1` writes anew.
fn is_golden(name: &str, topic: Topic, style: &Style) {
    let code = file(&[topic], style).expect("Rust");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.rs"));
    if std::env::var_os("BABELQUEUE_UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, &code).expect("the golden file is written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(code == golden, "{} differs; look at it after BABELQUEUE_UPDATE_GOLDEN=1 cargo test", path.display());
}

fn slot(ty: Type) -> Slot {
    Slot { ty, nullable: false, rules: Vec::new() }
}

fn nullable(ty: Type) -> Slot {
    Slot { nullable: true, ..slot(ty) }
}

fn ruled(ty: Type, rules: Vec<Rule>) -> Slot {
    Slot { rules, ..slot(ty) }
}

fn list(item: Slot) -> Type {
    Type::List(Box::new(item))
}

fn map(value: Slot) -> Type {
    Type::Map(Box::new(value))
}

fn field(name: &str, slot: Slot, presence: Presence) -> Field {
    Field {
        wire: name.trim_start_matches("r#").to_owned(),
        name: name.to_owned(),
        asked: None,
        docs: None,
        slot,
        presence,
        boxed: false,
        sensitive: false,
    }
}

fn required(name: &str, slot: Slot) -> Field {
    field(name, slot, Presence::Required)
}

fn optional(name: &str, slot: Slot) -> Field {
    field(name, slot, Presence::Optional)
}

fn default(name: &str, slot: Slot, value: Value) -> Field {
    field(name, slot, Presence::Default(value))
}

fn object(fields: Vec<Field>) -> Struct {
    Struct { fields, ..Struct::default() }
}

fn strings(values: &[(&str, &str)]) -> Kind {
    let variant = |(name, text): &(&str, &str)| Variant { name: (*name).to_owned(), json: format!("\"{text}\"") };
    Kind::Enum(values.iter().map(variant).collect())
}

fn form(name: &str, slot: Slot, kinds: Kinds) -> Alternative {
    Alternative {
        name: name.to_owned(),
        natural: name.to_lowercase(),
        docs: None,
        slot,
        boxed: false,
        kinds,
        tag: None,
    }
}

fn tagged(name: &str, ty: usize, tag: &str, value: &str) -> Alternative {
    Alternative {
        tag: Some((tag.to_owned(), vec![format!("\"{value}\"")])),
        ..form(name, slot(Type::Named(ty)), Kinds::OBJECT)
    }
}

fn types(types: Vec<(&str, Kind)>) -> Vec<TypeDef> {
    let ty = |(name, kind): (&str, Kind)| TypeDef {
        name: name.to_owned(),
        asked: None,
        origin: Origin {
            file: "made.json".to_owned(),
            pointer: Pointer::default().join("$defs").join(name),
            file_title: "made".to_owned(),
        },
        docs: None,
        kind,
    };
    types.into_iter().map(ty).collect()
}

fn topic(name: &str, payload: usize, method: &str, types: Vec<TypeDef>) -> Topic {
    let message = Message {
        urn: format!("urn:babel:{name}:{method}"),
        payload,
        method: method.to_owned(),
        key: None,
        owner: None,
        deprecated: false,
    };
    Topic { name: name.to_owned(), module: name.to_owned(), messages: vec![message], types }
}

/// A tagged union, a union of kinds that holds itself, constants, and an enum of any values.
fn forms() -> Topic {
    let created = Struct {
        constants: vec![("event/type".to_owned(), "\"created\"".to_owned()), ("v".to_owned(), "1".to_owned())],
        rest: Rest::Closed,
        ..object(vec![required("id", slot(U8))])
    };
    let ended = Struct {
        constants: vec![("event/type".to_owned(), "\"ended\"".to_owned())],
        rest: Rest::Kept { name: "extra".to_owned(), value: ruled(I32, vec![Rule::Minimum("0".to_owned())]) },
        ..object(vec![optional("why", nullable(Type::Named(3)))])
    };
    let value = vec![
        form("Nothing", slot(Type::Null), Kinds::NULL),
        form("Flag", slot(Type::Bool), Kinds::BOOLEAN),
        form("Number", slot(Type::F64), Kinds::NUMBER),
        form("Text", ruled(Type::String, vec![Rule::MaxLength(5)]), Kinds::STRING),
        form("Pair", slot(Type::Tuple(vec![slot(U8), nullable(Type::String)])), Kinds::ARRAY),
        form("Values", ruled(list(slot(Type::Named(3))), vec![Rule::UniqueItems]), Kinds::ARRAY),
        Alternative { boxed: true, ..form("Ended", slot(Type::Named(2)), Kinds::OBJECT) },
    ];
    let level = ["null", "1", "\"1\"", "true", "{\"a\":[1.50]}"]
        .into_iter()
        .zip(["Null", "One", "Text", "True", "Object"])
        .map(|(json, name)| Variant { json: json.to_owned(), name: name.to_owned() });
    let event = vec![
        tagged("Created", 1, "event/type", "created"),
        Alternative { docs: Some("It is over.".to_owned()), ..tagged("Ended", 2, "event/type", "ended") },
    ];
    let carrier = object(vec![
        required("level", slot(Type::Named(4))),
        default("levels", slot(list(slot(Type::Named(4)))), Value::List(vec![Value::Variant(4, 3)])),
        default("value", slot(Type::Named(3)), Value::Alternative(3, 3, Box::new(Value::String("x".to_owned())))),
        optional("events", slot(list(slot(Type::Named(0))))),
    ]);
    let all = types(vec![
        ("Event", Kind::Union(event)),
        ("Created", Kind::Struct(created)),
        ("Ended", Kind::Struct(ended)),
        ("Value", Kind::Union(value)),
        ("Level", Kind::Enum(level.collect())),
        ("Carrier", Kind::Struct(carrier)),
    ]);
    let mut topic = topic("forms", 0, "event", all);
    topic.messages.push(Message {
        urn: "urn:babel:forms:carrier".to_owned(),
        payload: 5,
        method: "carrier".to_owned(),
        key: None,
        owner: None,
        deprecated: false,
    });
    topic
}

#[test]
fn unions_constants_and_values_of_any_kind() {
    is_golden("forms", forms(), &style("::babelqueue", false));
}

#[test]
fn unions_constants_and_values_of_any_kind_as_json_schema() {
    is_golden("forms_json", forms(), &style("crate::facade", true));
}

/// A value of each type, with rules, and a default of each.
fn rules() -> Topic {
    let rule = |name: fn(String) -> Rule, number: &str| name(number.to_owned());
    let strict = Struct {
        fields: vec![
            required("count", ruled(I32, vec![rule(Rule::Minimum, "1"), rule(Rule::MultipleOf, "3.0")])),
            required("ratio", ruled(Type::F64, vec![rule(Rule::ExclusiveMinimum, "0.1"), rule(Rule::Maximum, "1e3")])),
            required("price", ruled(Type::F64, vec![rule(Rule::MultipleOf, "0.01")])),
            required("text", ruled(Type::String, vec![Rule::MinLength(2), Rule::NoneOf(vec!["\"no\"".to_owned()])])),
            required(
                "list",
                ruled(
                    list(ruled(Type::String, vec![Rule::MinLength(1)])),
                    vec![Rule::MinItems(1), Rule::MaxItems(2), Rule::UniqueItems],
                ),
            ),
            required("map", ruled(map(ruled(U8, vec![rule(Rule::Maximum, "9")])), vec![Rule::MaxProperties(1)])),
            optional(
                "pair",
                slot(Type::Tuple(vec![slot(Type::Bool), ruled(Type::Json, vec![rule(Rule::Minimum, "0.5")])])),
            ),
            optional("json", ruled(Type::Json, vec![Rule::Kinds(Kinds::NUMBER.or(Kinds::NULL))])),
            optional("inner", ruled(Type::Named(1), vec![Rule::MinProperties(1)])),
        ],
        constants: Vec::new(),
        rest: Rest::Kept { name: "extra".to_owned(), value: slot(Type::Json) },
        forbidden: vec!["secret".to_owned()],
        rules: vec![Rule::DependentRequired("pair".to_owned(), vec!["json".to_owned(), "more".to_owned()])],
    };
    let json = || slot(Type::Json);
    let defaults = Struct {
        rest: Rest::Kept { name: "extra".to_owned(), value: json() },
        ..object(vec![
            default("nothing", slot(Type::Null), Value::Null),
            default("json", json(), Value::Json("{\"a\":1.50}".to_owned())),
            default(
                "pair",
                slot(Type::Tuple(vec![json(), nullable(U8)])),
                Value::Tuple(vec![Value::Json("[]".to_owned()), Value::Some(Box::new(Value::Integer(1)))]),
            ),
            default("empty", slot(Type::Tuple(Vec::new())), Value::Tuple(Vec::new())),
            Field {
                boxed: true,
                ..default(
                    "next",
                    nullable(Type::Named(1)),
                    Value::Some(Box::new(Value::Boxed(Box::new(Value::Struct(
                        1,
                        vec![
                            Value::Null,
                            Value::Json("2".to_owned()),
                            Value::Tuple(vec![Value::Json("null".to_owned()), Value::None]),
                            Value::Tuple(Vec::new()),
                            Value::None,
                        ],
                        vec![("x".to_owned(), Value::Json("1e2".to_owned()))],
                    ))))),
                )
            },
        ])
    };
    let demanding = Struct {
        rules: vec![Rule::MinProperties(1)],
        ..object(vec![optional("a", slot(U8)), optional("b", slot(U8))])
    };
    let all = types(vec![
        ("Strict", Kind::Struct(strict)),
        ("Defaults", Kind::Struct(defaults)),
        ("Demanding", Kind::Struct(demanding)),
    ]);
    topic("rules", 0, "strict", all)
}

#[test]
fn rules_and_defaults_of_every_type() {
    is_golden("rules", rules(), &style("::babelqueue", false));
}

#[test]
fn rules_and_defaults_of_every_type_as_json_schema() {
    is_golden("rules_json", rules(), &style("crate::facade", true));
}

/// Personal data in every place, types of the user's, and names that the macros use themselves.
fn user() -> Topic {
    let address = || Type::Foreign("::std::net::IpAddr".to_owned());
    let sensitive = |field: Field| Field { sensitive: true, ..field };
    let person = object(vec![
        sensitive(required("name", slot(Type::String))),
        sensitive(required("nick", nullable(Type::String))),
        sensitive(optional("mail", nullable(Type::String))),
        sensitive(optional("age", slot(U8))),
        sensitive(required("r#type", slot(Type::Named(1)))),
        sensitive(optional("mood", slot(Type::Named(1)))),
        sensitive(required("tags", slot(list(slot(Type::String))))),
        required("public", slot(Type::Bool)),
        Field { boxed: true, ..optional("friend", slot(Type::Named(0))) },
    ]);
    let machine = Struct {
        rest: Rest::Kept { name: "extra".to_owned(), value: nullable(address()) },
        ..object(vec![
            required("address", slot(address())),
            optional("others", slot(list(nullable(address())))),
            optional("by_name", slot(map(slot(list(slot(address())))))),
            optional("pair", slot(Type::Tuple(vec![slot(U8), slot(address())]))),
            required("either", slot(Type::Named(3))),
        ])
    };
    let either = vec![
        form("Count", slot(U8), Kinds::INTEGER),
        form("One", slot(address()), Kinds::STRING),
        form("Many", slot(list(slot(address()))), Kinds::ARRAY),
    ];
    let names = ["A", "D", "S", "T", "Minimum", "Whole", "Own", "Of", "Member", "Members", "Key", "Object"];
    let named = names.iter().enumerate().map(|(index, name)| {
        let rules = vec![Rule::Minimum("1".to_owned()), Rule::Maximum("2".to_owned())];
        let next = if index + 1 < names.len() { 5 + index } else { 4 };
        let ty = Field { boxed: true, ..optional("key", slot(Type::Named(next))) };
        (*name, Kind::Struct(object(vec![ty, required("members", ruled(U8, rules))])))
    });
    let first = vec![
        ("Person", Kind::Struct(person)),
        ("Mood", strings(&[("Good", "good"), ("None", "none")])),
        ("Machine", Kind::Struct(machine)),
        ("Either", Kind::Union(either)),
    ];
    topic("user", 0, "person", types(first.into_iter().chain(named).collect()))
}

#[test]
fn personal_data_foreign_types_and_names_of_the_macros() {
    is_golden("user", user(), &style("::babelqueue", false));
}

#[test]
fn further_derives_and_non_exhaustive_types() {
    let all = types(vec![
        ("Point", Kind::Struct(object(vec![required("x", slot(I32)), optional("mood", slot(Type::Named(1)))]))),
        ("Mood", strings(&[("Good", "good")])),
        ("Either", Kind::Union(vec![form("Point", slot(Type::Named(0)), Kinds::OBJECT)])),
    ]);
    let derives = ["::core::cmp::Eq", "::core::hash::Hash", "Debug", "::core::clone::Clone"];
    let style = Style {
        derives: derives.map(|path| syn::parse_str(path).expect("a path")).into(),
        non_exhaustive: true,
        ..style("::babelqueue", false)
    };
    is_golden("derives", topic("derives", 0, "point", all), &style);
}

#[test]
fn a_type_path_that_is_none_is_no_rust() {
    let all = types(vec![("X", Kind::Struct(object(vec![required("x", slot(Type::Foreign("1 +".to_owned())))])))]);
    assert!(file(&[topic("x", 0, "x", all)], &style("::babelqueue", false)).is_err());
}
