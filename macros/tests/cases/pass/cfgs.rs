//! What is generated comes and goes with what it is for.

#![deny(warnings)]

use babelqueue::{Job, babel_job};
use serde::{Deserialize, Serialize};

// `all()` is always true and `any()` never.
// C21
#[babel_job("urn:babel:orders:absent", key = id)]
#[cfg(any())]
#[derive(Serialize, Deserialize)]
struct Absent {
    id: u64,
}

#[babel_job("urn:babel:orders:present", key = id)]
#[cfg(all())]
#[derive(Serialize, Deserialize)]
struct Present {
    id: u64,
    #[cfg(any())]
    extra: Missing,
}

#[babel_job("urn:babel:orders:keyed", key = id)]
#[derive(Serialize, Deserialize)]
struct KeyPresent {
    #[cfg(all())]
    id: u64,
}

#[babel_job("urn:babel:orders:unkeyed", key = id)]
#[derive(Serialize, Deserialize)]
struct KeyAbsent {
    #[cfg(any())]
    id: u64,
}

#[babel_job("urn:babel:orders:either", key = id)]
#[derive(Serialize, Deserialize)]
struct Either {
    #[cfg(all())]
    id: u64,
    #[cfg(not(all()))]
    id: String,
}

#[babel_job("urn:babel:orders:shifted", key = 0)]
#[derive(Serialize, Deserialize)]
struct Shifted(#[cfg(any())] Missing, u64);

#[babel_job("urn:babel:orders:chosen")]
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Chosen {
    Kept {},
    #[cfg(any())]
    Left(Missing),
}

#[cfg_attr(all(), babel_job("urn:babel:orders:switched", key = id))]
#[cfg_attr(all(), derive(Serialize, Deserialize))]
struct Switched {
    #[cfg_attr(all(), serde(rename = "number"))]
    id: u64,
    #[cfg_attr(any(), cfg(any()))]
    extra: Option<u8>,
}

fn main() {
    assert_eq!(Present { id: 1 }.key().as_deref(), Some(&b"1"[..]));
    assert_eq!(KeyPresent { id: 2 }.key().as_deref(), Some(&b"2"[..]));
    assert_eq!(KeyAbsent {}.key(), None);
    assert_eq!(Either { id: 3 }.key().as_deref(), Some(&b"3"[..]));
    assert_eq!(Chosen::Kept {}.key(), None);
    let switched = Switched { id: 5, extra: None };
    assert_eq!(switched.key().as_deref(), Some(&b"5"[..]));
    assert_eq!(serde_json::to_string(&switched).unwrap(), r#"{"number":5,"extra":null}"#);
    assert_eq!(Shifted(4).key().as_deref(), Some(&b"4"[..]));
}
