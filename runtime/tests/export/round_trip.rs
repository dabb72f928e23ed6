//! What is exported is taken by the generator, and its types read and write the same.

use std::{collections::BTreeMap, fmt::Debug, fs, path::Path};

use babelqueue::{Export, Job};
use serde_json::{Value, json};

use crate::types::{
    Account, Category, Customer, Delivery, InvoiceRequested, Kind, Line, OrderChanged, OrderCreated, Origin, Payment,
};

/// What the generator wrote, compiled.
#[allow(missing_docs, unreachable_pub, dead_code)]
mod contracts {
    include!("contracts.rs");
}

fn export() -> Export {
    Export::of::<OrderCreated>()
        .owner("team-orders")
        .and::<OrderChanged>()
        .owner("team-orders")
        .and::<InvoiceRequested>()
        .deprecated()
}

#[test]
fn the_schemas_in_the_repository_are_those_of_the_types() {
    export().check("tests/export/schemas/registry.json").unwrap();
}

/// `BABELQUEUE_UPDATE_GOLDEN=1` writes the file anew.
#[test]
fn the_generator_takes_what_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    export().write(folder.path().join("registry.json")).unwrap();
    babelqueue_codegen::configure()
        .registry(folder.path().join("registry.json"))
        .out_dir(folder.path())
        .rerun_if_changed(false)
        .generate()
        .unwrap();
    let code = fs::read_to_string(folder.path().join("babelqueue_contracts.rs")).unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export/contracts.rs");
    if std::env::var_os("BABELQUEUE_UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&golden, &code).unwrap();
    }
    assert!(fs::read_to_string(&golden).unwrap() == code, "{} is not what is generated", golden.display());
}

/// The same contract, and the same JSON both ways.
#[track_caller]
fn alike<Code, Generated>(code: &Code, key: Option<&str>)
where
    Code: Job + PartialEq + Debug,
    Generated: Job,
{
    assert_eq!((Code::URN, Code::TOPIC), (Generated::URN, Generated::TOPIC));
    let text = |value: &Value| value.to_string();
    let written = serde_json::to_value(code).unwrap();
    let generated: Generated = serde_json::from_str(&text(&written)).unwrap();
    let written_again = serde_json::to_value(&generated).unwrap();
    assert_eq!(written_again, written);
    assert_eq!(&serde_json::from_str::<Code>(&text(&written_again)).unwrap(), code);
    assert_eq!(code.key().as_deref(), key.map(str::as_bytes));
    assert_eq!(generated.key(), code.key());
}

fn account() -> Account {
    Account { number: "C-7".to_owned(), opened_in: 1999 }
}

fn customer(email: Option<&str>) -> Customer {
    Customer { account: account(), email: email.map(str::to_owned) }
}

fn order() -> OrderCreated {
    OrderCreated {
        order_id: u64::MAX,
        customer: customer(None),
        recipient: None,
        lines: Vec::new(),
        tags: Vec::new(),
        parcels: 1,
        prices: BTreeMap::new(),
        kind: Kind::Retail,
        payment: Payment::Cash,
        delivery: Delivery::Post { express: true },
        discount: None,
        place: (-1, 2),
        details: Value::Null,
        origin: Origin { shop: "s".to_owned(), campaign: None },
        category: Category { name: "tea".to_owned(), within: None },
    }
}

#[test]
fn generated_types_read_and_write_what_code_first_types_do() {
    use contracts::orders;

    alike::<_, orders::OrderCreated>(&order(), Some("C-7"));
    let full = OrderCreated {
        recipient: Some(customer(Some("ada@example.com"))),
        lines: vec![Line { sku: "tea".to_owned(), quantity: 2 }],
        tags: vec!["gift".to_owned()],
        parcels: 3,
        prices: BTreeMap::from([("tea".to_owned(), -450), ("".to_owned(), 0)]),
        kind: Kind::Business,
        payment: Payment::Account(account()),
        delivery: Delivery::Pickup { shop: "north".to_owned() },
        discount: Some(0.1),
        details: json!({"any": [1, null, {"x": "y"}]}),
        origin: Origin { shop: "s".to_owned(), campaign: Some("spring".to_owned()) },
        category: Category {
            name: "green".to_owned(),
            within: Some(Box::new(Category { name: "tea".to_owned(), within: None })),
        },
        ..order()
    };
    alike::<_, orders::OrderCreated>(&full, Some("C-7"));
    let card = OrderCreated { payment: Payment::Card { number: "4".to_owned() }, kind: Kind::WholeSale, ..order() };
    alike::<_, orders::OrderCreated>(&card, Some("C-7"));
    alike::<_, orders::OrderChanged>(&OrderChanged::Cancelled { order_id: 1, reason: "r".to_owned() }, None);
    let to = Origin { shop: "s".to_owned(), campaign: Some("c".to_owned()) };
    alike::<_, orders::OrderChanged>(&OrderChanged::Moved { order_id: 1, to }, None);
}

#[test]
fn generated_types_have_the_fields_of_code_first_types() {
    use contracts::orders;

    let order: orders::OrderCreated = serde_json::from_value(serde_json::to_value(order()).unwrap()).unwrap();
    let _: (u64, u8, orders::Kind) = (order.order_id, order.parcels, order.r#type);
    let _: (BTreeMap<String, i64>, Vec<orders::Line>, (i32, i32)) = (order.prices, order.lines, order.place);
    // Missing, null and present are told apart.
    let _: (orders::Customer, Option<Option<orders::Customer>>) = (order.customer, order.recipient);
    let _: Option<Option<Box<orders::Category>>> = order.category.within;
    let _: (orders::Payment, orders::Delivery) = (order.payment, order.delivery);
}

#[test]
#[allow(deprecated)]
fn topic_key_and_status_come_back() {
    alike::<_, contracts::acme_invoices::InvoiceRequested>(&InvoiceRequested { id: Some(7) }, Some("7"));
    alike::<_, contracts::acme_invoices::InvoiceRequested>(&InvoiceRequested { id: None }, None);
    let registry: Value = serde_json::from_str(include_str!("schemas/registry.json")).unwrap();
    let keys: Vec<_> = registry["schemas"].as_array().unwrap().iter().map(|entry| entry["key"].as_str()).collect();
    assert_eq!(keys, [Some("/customer/acct/no."), None, Some("/id")]);
}
