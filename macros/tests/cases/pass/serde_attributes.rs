//! Serde decides how a payload is written; the macro leaves its attributes to it, and takes the key from the field.

use std::{collections::BTreeMap, fmt::Debug};

use babelqueue::{Job, babel_job, envelope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[babel_job("urn:babel:serde:renamed", key = order_id)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
struct Renamed {
    order_id: u64,
    #[serde(rename = "type", alias = "kind")]
    of: String,
}

#[babel_job("urn:babel:serde:flattened", key = head.id)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flattened {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    id: String,
}

#[babel_job("urn:babel:serde:sparse", key = id)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sparse {
    id: Option<u64>,
    #[serde(default = "twelve", skip_serializing_if = "is_twelve")]
    months: u8,
    #[serde(skip)]
    seen: bool,
}

fn twelve() -> u8 {
    12
}

fn is_twelve(months: &u8) -> bool {
    *months == 12
}

#[babel_job("urn:babel:serde:tagged")]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Tagged {
    ByCard { card_number: String },
    InCash,
    Owed(Head),
}

#[babel_job("urn:babel:serde:adjacent")]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    Pair(u8, u8),
    Nothing,
}

#[babel_job("urn:babel:serde:untagged")]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Head(Head),
    Count { count: u64 },
}

#[babel_job("urn:babel:serde:external")]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum External {
    Head(Head),
    Pair(u8, u8),
    Nothing {},
}

#[babel_job("urn:babel:serde:transparent", key = 0.id)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Transparent(Head, #[serde(skip)] ());

#[babel_job("urn:babel:serde:around", key = 0.id)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Around(Head);

#[babel_job("urn:babel:serde:replaced", key = 0)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Head", from = "Head")]
struct Replaced(String, u8);

impl From<Replaced> for Head {
    fn from(Replaced(id, _): Replaced) -> Self {
        Self { id }
    }
}

impl From<Head> for Replaced {
    fn from(Head { id }: Head) -> Self {
        Self(id, 0)
    }
}

#[babel_job("urn:babel:serde:own", key = name)]
#[derive(Debug, PartialEq)]
struct ByHand {
    name: Box<str>,
}

impl Serialize for ByHand {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Head { id: self.name.to_string() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ByHand {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { name: Head::deserialize(deserializer)?.id.into() })
    }
}

/// The payload is written like this, is read back, and has this key.
#[track_caller]
fn travels<J: Job + Debug + PartialEq>(job: J, written: Value, key: Option<&str>) {
    let encoded = envelope::make(J::URN, J::TOPIC).encode(&job).unwrap();
    let envelope::Verdict::Ok(envelope) = envelope::decode(&encoded.body) else { panic!() };
    let data = envelope.data().unwrap();
    assert_eq!(serde_json::from_str::<Value>(data).unwrap(), written);
    assert_eq!(job.key().as_deref(), key.map(str::as_bytes));
    assert_eq!(serde_json::from_str::<J>(data).unwrap(), job);
}

fn main() {
    let head = || Head { id: "C-7".to_owned() };
    travels(Renamed { order_id: 7, of: "a".to_owned() }, json!({"ORDER-ID": 7, "type": "a"}), Some("7"));
    let rest = BTreeMap::from([("more".to_owned(), json!([1]))]);
    travels(Flattened { head: head(), rest }, json!({"id": "C-7", "more": [1]}), Some("C-7"));
    travels(Sparse { id: None, months: 12, seen: false }, json!({"id": null}), None);
    travels(Sparse { id: Some(7), months: 3, seen: false }, json!({"id": 7, "months": 3}), Some("7"));
    assert!(serde_json::from_str::<Sparse>(r#"{"id": 7, "more": 1}"#).is_err());
    travels(Tagged::ByCard { card_number: "4".to_owned() }, json!({"kind": "by_card", "cardNumber": "4"}), None);
    travels(Tagged::InCash, json!({"kind": "in_cash"}), None);
    travels(Tagged::Owed(head()), json!({"kind": "owed", "id": "C-7"}), None);
    travels(Adjacent::Pair(1, 2), json!({"kind": "Pair", "of": [1, 2]}), None);
    travels(Adjacent::Nothing, json!({"kind": "Nothing"}), None);
    travels(Untagged::Head(head()), json!({"id": "C-7"}), None);
    travels(Untagged::Count { count: 3 }, json!({"count": 3}), None);
    travels(External::Head(head()), json!({"Head": {"id": "C-7"}}), None);
    travels(External::Pair(1, 2), json!({"Pair": [1, 2]}), None);
    travels(External::Nothing {}, json!({"Nothing": {}}), None);
    travels(Transparent(head(), ()), json!({"id": "C-7"}), Some("C-7"));
    travels(Around(head()), json!({"id": "C-7"}), Some("C-7"));
    travels(Replaced("C-7".to_owned(), 0), json!({"id": "C-7"}), Some("C-7"));
    travels(ByHand { name: "C-7".into() }, json!({"id": "C-7"}), Some("C-7"));
}
