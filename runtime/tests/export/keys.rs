//! Where the record key stands in the JSON, whatever serde does to the fields.

use std::{borrow::Cow, net::SocketAddr};

use babelqueue::{Export, ExportError, Job, RecordKey, babel_job};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The `key` of the entry that the export writes.
fn exported(export: &Export) -> Result<Option<String>, ExportError> {
    let folder = tempfile::tempdir().unwrap();
    let registry = folder.path().join("registry.json");
    export.write(&registry)?;
    let registry: Value = serde_json::from_slice(&std::fs::read(&registry).unwrap()).unwrap();
    Ok(registry["schemas"][0]["key"].as_str().map(str::to_owned))
}

#[track_caller]
fn key_of<J: Job + JsonSchema>() -> Option<String> {
    exported(&Export::of::<J>()).unwrap()
}

#[track_caller]
fn refused<J: Job + JsonSchema>() -> String {
    exported(&Export::of::<J>()).unwrap_err().to_string()
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Inner {
    id: String,
    other: u8,
}

macro_rules! payloads {
    ($($(#[$attribute:meta])* $name:ident by $($key:tt).+ { $($body:tt)* })*) => {$(
        #[babel_job("urn:babel:keys:payload", key = $($key).+)]
        #[derive(Serialize, Deserialize, JsonSchema)]
        $(#[$attribute])*
        struct $name { $($body)* }
    )*};
}

payloads! {
    Plain by id { id: u64, other: u64, note: Option<String> }
    Renamed by id { #[serde(rename = "a/b~c")] id: u64, other: u64 }
    #[serde(rename_all = "SCREAMING-KEBAB-CASE")]
    RenamedAll by order_id { order_id: i8, other_id: i8 }
    Swapped by id { #[serde(rename = "other")] id: String, #[serde(rename = "id")] other: String }
    Deep by inner.id { id: String, #[serde(rename = "of")] inner: Box<Inner> }
    Flattened by inner.id { other_id: String, #[serde(flatten)] inner: Inner }
    Tuple by pair.1 { pair: (String, String) }
    Optional by id { id: Option<String>, other: Option<String> }
    Missing by id { #[serde(default, skip_serializing_if = "Option::is_none")] id: Option<u16>, other: u16 }
    Defaulted by id { #[serde(default)] id: u32, other: u32 }
    Clash by id { #[schemars(range(min = 5))] a: u64, b: u64, c: u64, d: u64, e: u64, id: u64 }
    Bytes by id { id: u8, a: u8, b: u8, c: u8 }
    Letter by id { #[schemars(length(max = 1))] id: String, #[schemars(length(max = 1))] other: String }
    #[serde(from = "Inner", into = "Inner")]
    #[derive(Clone)]
    #[schemars(!from, !into, with = "Inner")]
    Replaced by name { name: String }
    Within by id { id: u32, within: Option<Box<Within>>, lists: Vec<Within> }
    Pathless by id { id: u32, at: SocketAddr }
    Exemplary by id { id: u32, #[schemars(example = "127.0.0.1:9092")] at: SocketAddr }
    PathlessOption by id { id: u32, at: Option<SocketAddr> }
    Skipped by id { #[serde(skip)] id: u32, other: u32 }
    Own by id { id: OwnId }
}

impl From<Inner> for Replaced {
    fn from(inner: Inner) -> Self {
        Self { name: inner.id }
    }
}

impl From<Replaced> for Inner {
    fn from(replaced: Replaced) -> Self {
        Self { id: replaced.name, other: 0 }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct OwnId(u32);

impl RecordKey for OwnId {
    fn record_key(&self) -> Option<Cow<'_, [u8]>> {
        Some(format!("order-{}", self.0).into_bytes().into())
    }
}

#[test]
fn a_key_is_found_under_its_name_in_the_json() {
    assert_eq!(key_of::<Plain>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Renamed>().as_deref(), Some("/a~1b~0c"));
    assert_eq!(key_of::<RenamedAll>().as_deref(), Some("/ORDER-ID"));
    assert_eq!(key_of::<Swapped>().as_deref(), Some("/other"));
    assert_eq!(key_of::<Deep>().as_deref(), Some("/of/id"));
    assert_eq!(key_of::<Flattened>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Tuple>().as_deref(), Some("/pair/1"));
    assert_eq!(key_of::<Optional>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Missing>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Defaulted>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Clash>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Bytes>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Letter>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Replaced>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Within>().as_deref(), Some("/id"));
}

#[test]
fn members_that_are_no_part_of_it_do_not_hinder() {
    assert_eq!(key_of::<PathlessOption>().as_deref(), Some("/id"));
    assert_eq!(key_of::<Exemplary>().as_deref(), Some("/id"));
}

#[test]
fn a_key_that_cannot_be_found_is_asked_for() {
    let error = refused::<Pathless>();
    assert!(error.contains("`urn:babel:keys:payload`: the place of the record key cannot be found: the type takes less than its schema says (invalid socket address syntax"), "{error}");
    assert!(error.ends_with("name its place by `.key(\"/…\")`, or export no key by `.without_key()`"), "{error}");
    assert_eq!(exported(&Export::of::<Pathless>().key("/id")).unwrap().as_deref(), Some("/id"));
    assert_eq!(exported(&Export::of::<Pathless>().without_key()).unwrap(), None);
    let error = exported(&Export::of::<Pathless>().key("id")).unwrap_err().to_string();
    assert!(error.contains("the key `id` is no JSON Pointer to a member"), "{error}");
}

#[test]
fn a_key_that_is_no_member_is_not_exported_as_one() {
    for error in [refused::<Own>(), refused::<Skipped>()] {
        assert!(error.contains("no member of the payload is the record key; "), "{error}");
    }
    assert_eq!(exported(&Export::of::<Own>().without_key()).unwrap(), None);
}

#[babel_job("urn:babel:keys:payload")]
#[derive(Serialize, Deserialize, JsonSchema)]
struct Keyless {
    at: SocketAddr,
}

macro_rules! by_hand {
    ($($name:ident { $($body:tt)* } by $key:expr;)*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema)]
        struct $name { $($body)* }

        impl Job for $name {
            const URN: &'static str = "urn:babel:keys:payload";
            const TOPIC: &'static str = "keys";

            fn key(&self) -> Option<Cow<'_, [u8]>> {
                let key: fn(&Self) -> Option<Cow<'_, [u8]>> = $key;
                key(self)
            }
        }
    )*};
}

by_hand! {
    WithoutByHand { at: u8 } by |_| None;
    ByHand { at: u8, id: String } by |job| job.id.record_key();
    Constant { kind: OnlyOne, other: OnlyOne } by |_| Some(Cow::Borrowed(b"only"));
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OnlyOne {
    Only,
}

#[test]
fn a_job_without_a_key_has_none_whatever_its_members_are() {
    assert_eq!(key_of::<Keyless>(), None);
    assert_eq!(key_of::<WithoutByHand>(), None);
}

#[test]
fn a_key_of_a_job_that_is_implemented_by_hand_is_found_too() {
    assert_eq!(key_of::<ByHand>().as_deref(), Some("/id"));
}

#[test]
fn two_places_that_may_be_the_key_are_both_named() {
    let error = refused::<Constant>();
    assert!(error.contains("the record key may be `/kind` or `/other`; "), "{error}");
}
