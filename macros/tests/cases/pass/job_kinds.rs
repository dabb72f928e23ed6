//! Named, tuple and unit structs and enums are jobs, whatever other attributes they carry.

use babelqueue::{Job, babel_job};
use serde::{Deserialize, Serialize};

/// Documented.
#[babel_job("urn:babel:orders:created")]
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Named {
    #[serde(rename = "id")]
    order_id: u64,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[babel_job("urn:babel:orders:counted", topic = "counts")]
pub(crate) struct Tuple(Inner);

#[derive(Serialize, Deserialize)]
struct Inner {
    count: u64,
}

#[babel_job("urn:babel:orders:ticked")]
#[derive(Serialize, Deserialize)]
struct Unit {}

#[babel_job("urn:acme:anything at all", topic = "acme.Things_1-2")]
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Choice {
    One { id: u64 },
    Two,
}

mod nested {
    pub(super) mod deeper {
        #[babelqueue::babel_job("urn:babel:nested:made.v2")]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub(crate) struct Made {
            pub(crate) id: u8,
        }
    }
}

#[allow(dead_code)]
mod shadowed {
    pub(super) struct Option;
    pub(super) struct Cow;
    pub(super) trait Job {}
    mod core {}
    mod std {}

    #[babelqueue::babel_job("urn:babel:shadows:cast", key = id)]
    #[derive(serde::Serialize, serde::Deserialize)]
    pub(super) struct Cast {
        pub(super) id: u64,
    }
}

#[deny(deprecated)]
#[babel_job("urn:babel:orders:old", key = id)]
#[derive(Serialize, Deserialize)]
#[deprecated]
struct Old {
    #[deprecated]
    id: u64,
}

fn main() {
    assert_eq!((Named::URN, Named::TOPIC), ("urn:babel:orders:created", "orders"));
    assert_eq!((Tuple::URN, Tuple::TOPIC), ("urn:babel:orders:counted", "counts"));
    assert_eq!((Unit::URN, Unit::TOPIC), ("urn:babel:orders:ticked", "orders"));
    assert_eq!((Choice::URN, Choice::TOPIC), ("urn:acme:anything at all", "acme.Things_1-2"));
    assert_eq!(nested::deeper::Made::TOPIC, "nested");
    assert_eq!(Named { order_id: 1, note: None }.key(), None);
    assert_eq!(Tuple(Inner { count: 1 }).key(), None);
    assert_eq!((Choice::One { id: 1 }.key(), Choice::Two.key()), (None, None));
    assert_eq!(shadowed::Cast { id: 7 }.key().as_deref(), Some(&b"7"[..]));
    let _ = nested::deeper::Made { id: 1 }.id;
}
