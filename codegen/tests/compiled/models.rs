//! Golden files of models made by hand, for what no schema leads to: payloads behave as their tables say.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

use crate::forms::forms::{Carrier, Created, Ended, Event, Level, Value};
use crate::rules::rules::{Defaults, Demanding, Strict};
use crate::user::user::{Either, Machine, Mood, Person};
use babelqueue::Json;
use babelqueue::private::serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text)
        .map_err(|error| error.to_string().split(" at line").next().unwrap_or_default().to_owned())
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

/// Reads `text` and writes it as it was.
fn comes_back<T: DeserializeOwned + Serialize>(text: &str) -> T {
    let value = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(written(&value), text);
    value
}

#[test]
fn a_tagged_union_is_read_and_written_by_its_tag() {
    let created: Event = comes_back(r#"{"id":7,"event/type":"created","v":1}"#);
    assert_eq!(created, Created::new(7).into());
    let ended: Event = comes_back(r#"{"why":[1,null],"event/type":"ended","more":1}"#);
    let Event::Ended(ended) = ended else { panic!("{ended:?}") };
    assert_eq!(ended.extra, BTreeMap::from([("more".to_owned(), 1)]));
    assert_eq!(written(&Event::from(Ended::default())), r#"{"event/type":"ended"}"#);
    for (text, error) in [
        (r#"{"id":7,"v":1}"#, r#"missing member `event/type`, expected one of `"created"`, `"ended"`"#),
        (r#"{"event/type":"lost"}"#, r#"the member `event/type` is `"lost"`, expected one of `"created"`, `"ended"`"#),
        (r#"{"event/type":"created","id":7}"#, "missing member `v`"),
        (r#"{"event/type":"created","id":7,"v":2}"#, "the value is not `1`"),
        (r#"{"event/type":"created","id":7,"v":1,"x":1}"#, "unknown member `x`"),
        (r#"{"event/type":"ended","x":-1}"#, "below the minimum 0"),
        (r#"["created"]"#, "found an array, expected an object"),
    ] {
        assert_eq!(read::<Event>(text).expect_err("refused"), error, "{text}");
    }
}

#[test]
fn a_union_of_kinds_takes_each_kind() {
    assert_eq!(comes_back::<Value>("null"), ().into());
    assert_eq!(comes_back::<Value>("true"), true.into());
    assert_eq!(comes_back::<Value>("0.5"), 0.5.into());
    assert_eq!(comes_back::<Value>(r#""text""#), "text".to_owned().into());
    assert_eq!(comes_back::<Value>("[1,null]"), (1, None).into());
    assert_eq!(
        comes_back::<Value>(r#"[[true,false],"x",null]"#),
        vec![vec![true.into(), false.into()].into(), "x".to_owned().into(), ().into()].into()
    );
    comes_back::<Value>(r#"{"why":{"why":null,"event/type":"ended"},"event/type":"ended"}"#);
    assert_eq!(read::<Value>("1").expect("a number"), Value::Number(1.0));
    assert!(read::<Value>("[1,1]").expect_err("a pair wants null or a string").contains("items have to be unique"));
}

#[test]
fn values_of_any_kind_are_told_apart() {
    for (text, level) in [
        ("null", Level::Null),
        ("1", Level::One),
        ("\"1\"", Level::Text),
        ("true", Level::True),
        (r#"{"a":[1.50]}"#, Level::Object),
    ] {
        assert_eq!(comes_back::<Level>(text), level);
    }
    assert_eq!(read::<Level>("1.0"), Ok(Level::One));
    assert!(read::<Level>("false").is_err());
    let carrier: Carrier = read(r#"{"level":null}"#).expect("a carrier");
    assert_eq!(carrier, Carrier::new(Level::Null));
    assert_eq!(written(&carrier), r#"{"level":null,"levels":[true],"value":"x"}"#);
}

const STRICT: &str = r#"{"count":3,"ratio":0.2,"price":19.99,"text":"ok","list":["a"],"map":{}}"#;

fn strict(name: &str, value: &str) -> Result<Strict, String> {
    let text = STRICT.strip_suffix('}').expect("an object");
    let present = serde_json::from_str::<BTreeMap<String, Json>>(STRICT).expect("an object");
    match present.get(name) {
        Some(now) => read(&STRICT.replace(&format!("\"{name}\":{now}"), &format!("\"{name}\":{value}"))),
        None => read(&format!("{text},\"{name}\":{value}}}")),
    }
}

#[test]
fn every_rule_is_kept_when_a_payload_is_read() {
    comes_back::<Strict>(STRICT);
    for (name, taken, refused, error) in [
        ("count", "3.0", "0", "below the minimum 1"),
        ("count", "6e0", "4", "no multiple of 3"),
        ("ratio", "1000", "0.1", "not above the exclusive minimum 0.1"),
        ("ratio", "0.11", "1000.5", "above the maximum 1000"),
        ("price", "4.35", "4.355", "no multiple of 0.01"),
        ("text", "\"éé\"", "\"é\"", "shorter than 2 characters"),
        ("text", "\"yes\"", "\"n\\u006f\"", "the value is one of those that are not allowed"),
        ("list", r#"["a","b"]"#, "[]", "fewer than 1 item"),
        ("list", r#"["b"]"#, r#"["a","b","c"]"#, "more than 2 items"),
        ("list", r#"["c"]"#, r#"["a","\u0061"]"#, "the items 0 and 1 are equal, and items have to be unique"),
        ("list", r#"["d"]"#, r#"[""]"#, "shorter than 1 character"),
        ("map", r#"{"a":9}"#, r#"{"a":10}"#, "above the maximum 9"),
        ("map", r#"{"b":1}"#, r#"{"a":1,"b":1}"#, "more than 1 member"),
        ("json", "null", "\"x\"", "found a string, expected null or a number"),
        ("inner", r#"{"x":1}"#, "{}", "fewer than 1 member"),
        ("other", "[1.50]", "1", ""),
    ] {
        strict(name, taken).unwrap_or_else(|error| panic!("{name}: {taken}: {error}"));
        if !error.is_empty() {
            assert_eq!(strict(name, refused).expect_err(name), error, "{refused}");
        }
    }
    assert_eq!(strict("secret", "1").expect_err("forbidden"), "forbidden member `secret`");
    assert_eq!(strict("pair", "[true,1]").expect_err("alone"), "missing member `json`, which belongs to `pair`");
    assert_eq!(
        strict("pair", "[true,1],\"json\":1").expect_err("alone"),
        "missing member `more`, which belongs to `pair`"
    );
    assert!(strict("pair", "[true,\"a rule says nothing of strings\"],\"json\":1,\"more\":1").is_ok());
    assert_eq!(strict("pair", "[true,0.4999],\"json\":1,\"more\":1").expect_err("small"), "below the minimum 0.5");
}

#[test]
fn unknown_members_survive_as_they_are_spelled() {
    let open = STRICT.strip_suffix('}').expect("an object");
    let text = format!(r#"{open},"deep":{{"a":[1.50,1e2]}}}}"#);
    assert_eq!(comes_back::<Strict>(&text).extra["deep"].as_str(), r#"{"a":[1.50,1e2]}"#);
}

#[test]
fn defaults_of_every_type_are_written_as_the_schema_spells_them() {
    let text = r#"{"nothing":null,"json":{"a":1.50},"pair":[[],1],"empty":[],"next":{"nothing":null,"json":2,"pair":[null,null],"empty":[],"next":null,"x":1e2}}"#;
    assert_eq!(written(&Defaults::default()), text);
    assert_eq!(read::<Defaults>("{}"), Ok(Defaults::default()));
    assert_eq!(comes_back::<Defaults>(text), Defaults::new());
}

#[test]
fn what_breaks_its_own_rules_has_no_default() {
    /// Whether a type has `Default`: the one of the trait, unless the type has it.
    struct Probe<T>(std::marker::PhantomData<T>);
    trait Without {
        const DEFAULT: bool = false;
    }
    impl<T> Without for Probe<T> {}
    impl<T: Default> Probe<T> {
        const DEFAULT: bool = true;
    }
    let has =
        [Probe::<Defaults>::DEFAULT, Probe::<Ended>::DEFAULT, Probe::<Demanding>::DEFAULT, Probe::<Strict>::DEFAULT];
    assert_eq!(has, [true, true, false, false]);
    assert!(read::<Demanding>("{}").is_err() && read::<Demanding>(r#"{"x":1}"#).is_ok());
}

#[test]
fn personal_data_is_masked_in_debug_and_nowhere_else() {
    let mut ada = Person::new("Ada", Some("ad".to_owned()), Mood::Good, vec!["x".to_owned()], true);
    let shown = r#"Person { name: "A***", nick: Some("a***"), mail: None, age: None, type: "g***", mood: None, tags: "***", public: true, friend: None }"#;
    assert_eq!(format!("{ada:?}"), shown);
    (ada.nick, ada.mail, ada.age, ada.mood) = (None, Some(None), Some(36), Some(Mood::None));
    let mut bob = Person::new("", None, Mood::None, Vec::new(), false);
    (bob.mail, bob.friend) = (Some(Some("é@x".to_owned())), Some(Box::new(ada.clone())));
    let shown = r#"Person { name: "***", nick: None, mail: Some(Some("é***")), age: None, type: "n***", mood: None, tags: "***", public: false, friend: Some(Person { name: "A***", nick: None, mail: Some(None), age: Some("***"), type: "g***", mood: Some("n***"), tags: "***", public: true, friend: None }) }"#;
    assert_eq!(format!("{bob:?}"), shown);
    assert_eq!(read::<Person>(&written(&bob)), Ok(bob));
    let pretty = format!("{ada:#?}");
    assert!(pretty.contains("    name: \"A***\",\n"), "{pretty}");
}

#[test]
fn types_of_the_user_stand_wherever_others_do() {
    let text = r#"{"address":"::1","others":["10.0.0.1",null],"by_name":{"a":["::1"]},"pair":[1,"::1"],"either":["::1"],"more":null,"most":"::1"}"#;
    let machine: Machine = comes_back(text);
    let localhost: IpAddr = "::1".parse().expect("an address");
    assert_eq!((machine.address, machine.either), (localhost, Either::Many(vec![localhost])));
    assert_eq!(machine.extra["most"], Some(localhost));
    assert_eq!(Either::from(3), Either::Count(3));
    assert!(read::<Machine>(&text.replace("10.0.0.1", "10.0.0.256")).is_err());
}

#[test]
fn a_type_may_have_any_name() {
    let text = r#"{"key":{"key":{"members":1},"members":2},"members":1}"#;
    let d: crate::user::user::D = comes_back(text);
    assert_eq!(d.key.and_then(|s| s.key).map(|t| t.members), Some(1));
    assert_eq!(read::<crate::user::user::A>(r#"{"members":3}"#).expect_err("large"), "above the maximum 2");
}

#[test]
fn derives_of_the_user_are_derived() {
    let points = HashSet::from([crate::derives::derives::Point::new(1), crate::derives::derives::Point::new(1)]);
    assert_eq!(points.len(), 1);
    assert_eq!(crate::derives::derives::Mood::Good.to_string(), "good");
}

#[test]
fn the_derived_schema_says_what_the_tables_say() {
    let schema = schemars::schema_for!(crate::forms_json::forms::Event).to_value();
    assert_eq!(schema["anyOf"].as_array().map(Vec::len), Some(2));
    assert_eq!(schema["$defs"]["Created"]["properties"]["event/type"], json!({"const": "created"}));
    assert_eq!(schema["$defs"]["Created"]["required"], json!(["id", "event/type", "v"]));
    assert_eq!(schema["$defs"]["Created"]["additionalProperties"], json!(false));
    assert_eq!(schema["$defs"]["Ended"]["additionalProperties"]["type"], json!("integer"));
    let schema = schemars::schema_for!(crate::forms_json::forms::Level).to_value();
    assert_eq!(schema["enum"], json!([null, 1, "1", true, {"a": [1.5]}]));
    let schema = schemars::schema_for!(crate::rules_json::rules::Defaults).to_value();
    assert_eq!(schema["properties"]["json"]["default"], json!({"a": 1.5}));
    assert!(schema.get("required").is_none(), "{schema}");
}
