//! Every way to name the record key.

use babelqueue::{Job, RecordKey, babel_job};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[babel_job("urn:babel:keys:plain", key = id,)]
#[derive(Serialize, Deserialize)]
struct Plain {
    id: u64,
}

#[babel_job("urn:babel:keys:deep", key = customer.account.id)]
#[derive(Serialize, Deserialize)]
struct Deep {
    customer: Box<Customer>,
}

#[derive(Serialize, Deserialize)]
struct Customer {
    account: Account,
}

#[derive(Serialize, Deserialize)]
struct Account {
    id: String,
}

#[babel_job("urn:babel:keys:tuple", key = 1)]
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Pair", into = "Pair")]
struct Tuple(bool, i16);

#[derive(Serialize, Deserialize)]
struct Pair {
    one: bool,
    other: i16,
}

impl From<Tuple> for Pair {
    fn from(Tuple(one, other): Tuple) -> Self {
        Self { one, other }
    }
}

impl From<Pair> for Tuple {
    fn from(Pair { one, other }: Pair) -> Self {
        Self(one, other)
    }
}

#[babel_job("urn:babel:keys:tuples", key = 0.1.0)]
#[derive(Serialize, Deserialize)]
struct Tuples(Pairs);

#[derive(Serialize, Deserialize)]
struct Pairs(bool, (i16, bool));

#[babel_job(
    "urn:babel:keys:mixed",
    topic = "mixed",
    key = customer.0.1.id,
)]
#[derive(Serialize, Deserialize)]
struct Mixed {
    customer: (((), Account),),
}

#[babel_job("urn:babel:keys:raw", key = r#type.r#fn)]
#[derive(Serialize, Deserialize)]
struct Raw {
    r#type: Inner,
}

#[derive(Serialize, Deserialize)]
struct Inner {
    r#fn: u8,
}

#[babel_job("urn:babel:keys:optional", key = id)]
#[derive(Serialize, Deserialize)]
struct Optional {
    id: Option<String>,
}

#[babel_job("urn:babel:keys:own", key = id)]
#[derive(Serialize, Deserialize)]
struct Own {
    id: OrderId,
}

#[derive(Serialize, Deserialize)]
struct OrderId(u32);

impl RecordKey for OrderId {
    fn record_key(&self) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Owned(format!("order-{}", self.0).into_bytes()))
    }
}

fn text(job: &impl Job) -> Option<String> {
    job.key().map(|key| String::from_utf8(key.into_owned()).unwrap())
}

fn main() {
    let account = || Account { id: "C-7".to_owned() };
    assert_eq!(text(&Plain { id: 1042 }).as_deref(), Some("1042"));
    assert_eq!(text(&Deep { customer: Box::new(Customer { account: account() }) }).as_deref(), Some("C-7"));
    assert_eq!(text(&Tuple(true, -3)).as_deref(), Some("-3"));
    assert_eq!(text(&Tuples(Pairs(true, (-3, true)))).as_deref(), Some("-3"));
    assert_eq!(text(&Mixed { customer: (((), account()),) }).as_deref(), Some("C-7"));
    assert_eq!(text(&Raw { r#type: Inner { r#fn: 5 } }).as_deref(), Some("5"));
    assert_eq!(text(&Optional { id: Some("x".to_owned()) }).as_deref(), Some("x"));
    assert_eq!(text(&Optional { id: None }), None);
    assert_eq!(text(&Own { id: OrderId(3) }).as_deref(), Some("order-3"));
}
