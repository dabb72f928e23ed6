//! Golden files of schemas: payloads behave as their schemas say.

use crate::orders::orders::{Currency, OrderCancelled, OrderCancelledReason, OrderCreated, OrderLine, Party};
use crate::presence::shop::Basket;
use babelqueue::{Delivery, HandlerError, Kafka};
use serde_json::{Value, json};

fn created() -> OrderCreated {
    OrderCreated::new(1042, Party::new("Ada"), vec![OrderLine::new("tea", 2, 450)], Currency::Eur)
}

#[derive(Clone)]
struct Worker;

impl crate::orders::orders::Handlers for Worker {
    async fn order_cancelled(&self, _job: OrderCancelled, _cx: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }

    async fn order_created(&self, _job: OrderCreated, _cx: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

#[test]
fn a_topic_routes_every_urn_to_its_handler() {
    let routes = crate::orders::orders::routes(Worker);
    assert_eq!(routes.0, ["urn:babel:orders:cancelled", "urn:babel:orders:created"]);
}

#[tokio::test]
async fn a_message_carries_urn_topic_and_key() {
    let publisher = crate::orders::orders::Publisher::new(&Kafka);
    let sent = publisher.order_created(&created()).await;
    assert_eq!(sent, ("urn:babel:orders:created", "orders", Some("1042".to_owned())));
}

#[test]
fn payloads_are_encoded_as_the_schema_names_them() {
    let mut cancelled = OrderCancelled::new(7, Party::new("Ada"), OrderCancelledReason::OutOfStock);
    cancelled.cancelled_by.email = Some("ada@example.com".to_owned());
    cancelled.comment = Some(None);
    let text = r#"{"order_id":7,"cancelled_by":{"name":"Ada","email":"ada@example.com"},"reason":"out_of_stock","comment":null}"#;
    assert_eq!(serde_json::to_string(&cancelled).expect("JSON"), text);
    assert_eq!(serde_json::from_str::<OrderCancelled>(text).expect("a payload"), cancelled);
}

fn basket() -> Value {
    json!({"owner": {"id": "a"}, "needed": "n", "needed_or_null": null, "tiny": 255})
}

fn with(name: &str, value: Value) -> Value {
    let mut basket = basket();
    basket[name] = value;
    basket
}

fn decode(value: Value) -> Result<Basket, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn missing_null_and_present_stay_apart() {
    for name in ["needed", "needed_or_null", "owner"] {
        let mut value = basket();
        value.as_object_mut().expect("an object").remove(name);
        assert_eq!(decode(value).expect_err("missing"), format!("missing member `{name}`"));
    }
    for name in ["needed", "maybe", "big", "tags", "grid", "colour", "tone"] {
        let error = decode(with(name, Value::Null)).expect_err("null");
        assert!(error.contains("null, expected"), "{name}: {error}");
    }
    assert_eq!(decode(with("shade", Value::Null)).expect("a basket").shade, Some(None));
    for (value, decoded) in [(json!(null), Some(None)), (json!("x"), Some(Some("x".to_owned())))] {
        assert_eq!(decode(with("maybe_or_null", value)).expect("a basket").maybe_or_null, decoded);
    }
    assert_eq!(decode(basket()).expect("a basket").maybe_or_null, None);
    let encoded = serde_json::to_value(decode(basket()).expect("a basket")).expect("JSON");
    assert_eq!(encoded["needed_or_null"], Value::Null);
    assert!(encoded.get("maybe").is_none() && encoded.get("maybe_or_null").is_none());
}

#[test]
fn a_missing_member_has_its_default() {
    let basket = serde_json::to_value(decode(basket()).expect("a basket")).expect("JSON");
    for (name, value) in [
        ("big", json!(u64::MAX)),
        ("cold", json!(i64::MIN)),
        ("ratio", json!(-0.25)),
        ("share", json!(1000.0)),
        ("tags", json!(["new", null])),
        ("counts", json!({"a": 1})),
        ("colour", json!("red")),
        ("colour_or_null", json!(null)),
        ("cell", json!({"next": {"label": "end", "size": 3}, "size": 3})),
        ("owner", json!({"id": "a", "vip": false})),
    ] {
        assert_eq!(basket[name], value, "{name}");
    }
}

#[test]
fn numbers_enums_and_closed_objects_refuse_what_the_schema_refuses() {
    for (name, value) in [
        ("tiny", json!(256)),
        ("tiny", json!(-1)),
        ("big", json!(1.5)),
        ("colour", json!("blue")),
        ("counts", json!({"a": "1"})),
        ("unknown", json!(1)),
    ] {
        assert!(decode(with(name, value.clone())).is_err(), "{name}: {value}");
    }
}

// B15, B16, B19, B20
#[test]
fn every_name_on_the_wire_is_kept() {
    let text = r#"{"self":"1","Self":"2","crate":"3","super":"4","_":"5","async":"6","gen":"7","try":"8","Type":"9","type":"10","m":"11","M":"12","url":"13","_url":"14","2fa":false,"dyn":15}"#;
    let decoded: crate::names::r#type::Keywords = serde_json::from_str(text).expect("a payload");
    assert_eq!((decoded.r#type.as_str(), decoded.m_2.as_deref()), ("10", Some("12")));
    assert_eq!(serde_json::to_string(&decoded).expect("JSON"), text);
    for wire in ["self", "Self", "crate", "", "2", "<", ">", "=", "count", "__count__", "gpt-3.5", "gpt_3_5", "über"] {
        let value: crate::names::r#type::Self_ = serde_json::from_value(json!(wire)).expect("a value");
        assert_eq!(serde_json::to_value(value).expect("JSON"), json!(wire));
    }
}

// B17
#[test]
fn a_type_inside_another_gives_way_to_the_name_of_a_definition_and_of_the_root() {
    use crate::names::r#type::{Foo, FooBar, FooBar2, Test, TestTest};

    let foo_bar = FooBar { y: Some("y".to_owned()), ..FooBar::new() };
    let foo = Foo { bar: Some(FooBar2::Integer(1)), ..Foo::new() };
    let test = Test { test: Some(TestTest::Boolean(true)), foo: Some(foo), foobar: Some(foo_bar), ..Test::new() };
    assert_eq!(
        serde_json::to_value(&test).expect("JSON"),
        json!({"test": true, "foo": {"bar": 1}, "foobar": {"y": "y"}})
    );
}

// B01, B02
#[test]
fn references_lead_to_one_type_a_topic() {
    use crate::references::alpha::{ABCD, Contact, LinesItem, Made, MadeA, MadeMoney, Party};

    let party = Party::new(Contact::new(3));
    let mut made = Made::new(party.clone());
    made.b = Some(MadeA { x: Some("x".to_owned()), ..MadeA::new() });
    made.odd = Some(ABCD { lines: Some(vec![LinesItem::new()]), ..ABCD::new() });
    made.money = Some(MadeMoney { cents: Some(1), ..MadeMoney::new() });
    made.alias = Some(party.contact);
    let text = serde_json::to_string(&made).expect("JSON");
    assert!(serde_json::from_str::<crate::references::beta_2::Made>(&text).is_ok());
    assert_eq!(serde_json::from_str::<Made>(&text).expect("a payload"), made);
}

#[test]
fn the_derived_schema_says_what_the_source_says() {
    let schema = serde_json::to_value(schemars::schema_for!(crate::facade_json::shop::Basket)).expect("JSON");
    assert_eq!(schema["required"], json!(["owner", "needed", "needed_or_null", "tiny"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["maybe"]["type"], json!("string"));
    assert_eq!(schema["properties"]["maybe_or_null"]["type"], json!(["string", "null"]));
    assert_eq!(schema["properties"]["needed_or_null"]["type"], json!(["string", "null"]));
    assert_eq!(schema["properties"]["tiny"]["maximum"], json!(255));
}
