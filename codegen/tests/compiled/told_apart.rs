//! Golden files of schemas: unions are told apart by their constants, and values of any kind come back as they were.

use crate::unions::unions::{
    Event, EventA, Logic, LogicObject, Rule, Stream, StreamFrom, StreamFromFile, Tagged, TaggedXA, Values, ValuesMixed,
};
use serde_json::{Value, from_str, from_value, json, to_string, to_value};

/// Why `value` is no `T`, without the place.
fn refused<T: serde::de::DeserializeOwned>(value: &Value) -> String {
    match from_value::<T>(value.clone()) {
        Ok(_) => panic!("{value} is taken"),
        Err(error) => error.to_string(),
    }
}

// B10
#[test]
fn titled_branches_with_one_constant_member_are_a_tagged_enum() {
    let text = r#"{"k":"x.a","a":"x"}"#;
    let Tagged::XA(first) = from_str(text).expect("a payload") else { panic!("another form") };
    assert_eq!(first.a.as_deref(), Some("x"));
    let Tagged::XB(second) = from_str(r#"{"k":"x.b","b":1}"#).expect("a payload") else { panic!("another form") };
    assert_eq!(second.b, Some(1));
    assert_eq!(to_value(Tagged::from(TaggedXA::new())).expect("JSON"), json!({"k": "x.a"}));
}

// B11
#[test]
fn branches_that_differ_in_one_constant_alone_stay_two() {
    for tag in ["file", "net"] {
        let value = json!({"from": {"streamType": tag, "n": 1}});
        let stream: Stream = from_value(value.clone()).expect("a payload");
        assert_eq!(matches!(stream.from, StreamFrom::File(_)), tag == "file");
        assert_eq!(to_value(stream).expect("JSON"), value);
    }
    let file = Stream::new(StreamFromFile::new().into());
    assert_eq!(to_value(file).expect("JSON"), json!({"from": {"streamType": "file"}}));
}

// B12
#[test]
fn any_of_is_told_apart_by_its_constants_and_an_unknown_one_names_those_that_are_known() {
    assert_eq!(from_value::<Event>(json!({"event_type": "a", "x": 1})).expect("a payload"), EventA::new(1).into());
    assert!(matches!(from_value(json!({"event_type": "b", "x": "1"})).expect("a payload"), Event::B(_)));
    assert_eq!(
        refused::<Event>(&json!({"event_type": "c", "x": 1})),
        r#"the member `event_type` is `"c"`, expected one of `"a"`, `"b"`"#
    );
    // The member decides, not what else would fit.
    assert!(refused::<Event>(&json!({"event_type": "a", "x": "1"})).contains("expected an integer"));
}

// B05
#[test]
fn a_union_that_holds_itself_is_boxed() {
    let text = r#"{"logic":{"not":{"not":"x"}}}"#;
    let rule: Rule = from_str(text).expect("a payload");
    let not = |logic: Logic| Logic::from(LogicObject::new(logic));
    assert_eq!(rule, Rule::new(not(not(Logic::String("x".to_owned())))));
    assert_eq!(to_string(&rule).expect("JSON"), text);
}

fn comes_back(name: &str, value: &Value) -> Values {
    let value = json!({name: value});
    let values: Values = from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
    assert_eq!(to_value(&values).expect("JSON"), value);
    values
}

// B14
#[test]
fn enums_of_many_kinds_come_back_with_their_kinds() {
    for (name, taken, other) in [
        ("mixed", vec![json!(0), json!(1), json!(2), json!("")], vec![json!("0"), json!(3), json!(null)]),
        ("numbers", vec![json!(0), json!(1), json!(2)], vec![json!("0"), json!(3)]),
        ("null_or_on", vec![json!(null), json!("on")], vec![json!("off"), json!(false)]),
        ("true_or_x", vec![json!(true), json!("x")], vec![json!(false), json!("true")]),
    ] {
        for value in &taken {
            comes_back(name, value);
        }
        for value in other {
            refused::<Values>(&json!({name: value}));
        }
    }
    assert_eq!(comes_back("mixed", &json!("")).mixed, Some(ValuesMixed::Empty));
}

// B22
#[test]
fn a_member_called_like_a_type_of_the_standard_library_shadows_none() {
    let value = json!({"options": [{"text": "x"}], "result": {"ok": "y"}, "word": "z"});
    let values: Values = from_value(value.clone()).expect("a payload");
    assert_eq!(values.word.as_deref(), Some("z"));
    assert_eq!(values.result.as_ref().and_then(|result| result.ok.as_deref()), Some("y"));
    assert_eq!(to_value(values).expect("JSON"), value);
}

// B23
#[test]
fn a_maximum_keeps_an_unsigned_integer_unsigned() {
    assert_eq!(comes_back("big", &json!(9_223_372_036_854_775_808_u64)).big, Some(1_u64 << 63));
    assert!(refused::<Values>(&json!({"big": 9_223_372_036_854_775_809_u64})).contains("above the maximum"));
}

// B27
#[test]
fn true_takes_anything_false_nothing_and_a_closed_tuple_no_more_than_it_names() {
    comes_back("any", &json!({"a": [null]}));
    assert_eq!(refused::<Values>(&json!({"never": null})), "forbidden member `never`");
    assert_eq!(comes_back("pair", &json!(["a", 1])).pair, Some(("a".to_owned(), 1)));
    comes_back("at_most_a_pair", &json!(["a"]));
    for (name, value) in [("pair", json!(["a"])), ("pair", json!(["a", 1, 2])), ("at_most_a_pair", json!(["a", 1, 2]))]
    {
        refused::<Values>(&json!({name: value}));
    }
}
