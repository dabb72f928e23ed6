//! Payloads of many shapes. Their schemas lie in the folder `schemas`, and what the generator makes of those in
//! `contracts.rs`.

use std::collections::BTreeMap;

use babelqueue::babel_job;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A customer has placed an order.
///
/// The second paragraph is part of the description.
#[babel_job("urn:babel:orders:created", key = customer.account.number)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderCreated {
    /// Number of the order.
    pub(crate) order_id: u64,
    /// Who ordered.
    pub(crate) customer: Customer,
    pub(crate) recipient: Option<Customer>,
    pub(crate) lines: Vec<Line>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    #[serde(default = "one")]
    pub(crate) parcels: u8,
    pub(crate) prices: BTreeMap<String, i64>,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) payment: Payment,
    pub(crate) delivery: Delivery,
    pub(crate) discount: Option<f64>,
    pub(crate) place: (i32, i32),
    pub(crate) details: Value,
    #[serde(flatten)]
    pub(crate) origin: Origin,
    pub(crate) category: Category,
}

fn one() -> u8 {
    1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Customer {
    #[serde(rename = "acct")]
    pub(crate) account: Account,
    #[schemars(extend("x-gdpr-sensitive" = "email"))]
    pub(crate) email: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Account {
    #[serde(rename = "no.")]
    pub(crate) number: String,
    pub(crate) opened_in: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Line {
    pub(crate) sku: String,
    pub(crate) quantity: u32,
}

/// Where the order came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Origin {
    pub(crate) shop: String,
    pub(crate) campaign: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Retail,
    WholeSale,
    #[serde(rename = "B2B")]
    Business,
}

/// As serde writes an enum by itself: a string, or an object of one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Payment {
    Cash,
    Card { number: String },
    Account(Account),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
pub(crate) enum Delivery {
    Post { express: bool },
    Pickup { shop: String },
}

/// Contains itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Category {
    pub(crate) name: String,
    pub(crate) within: Option<Box<Category>>,
}

/// A payload that is one of several objects.
#[babel_job("urn:babel:orders:changed")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum OrderChanged {
    Cancelled { order_id: u64, reason: String },
    Moved { order_id: u64, to: Origin },
}

/// On a topic of its own, by a URN of another form.
#[babel_job("urn:acme:Invoice/requested", topic = "acme.invoices", key = id)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InvoiceRequested {
    pub(crate) id: Option<u32>,
}
