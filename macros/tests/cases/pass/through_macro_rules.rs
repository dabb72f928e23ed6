//! Both macros work on what other macros write.

use babelqueue::{Delivery, HandlerError, Job, babel_job, routes};
use serde::{Deserialize, Serialize};

macro_rules! job {
    ($name:ident, $urn:literal, $key:ident: $type:ty) => {
        #[babel_job($urn, topic = "made", key = $key)]
        #[derive(Serialize, Deserialize)]
        struct $name {
            $key: $type,
        }
    };
}

job!(Made, "urn:babel:orders:made", id: u64);

macro_rules! jobs {
    ($($(#[$attribute:meta])* $visibility:vis struct $name:ident = $urn:expr, on $topic:expr, by $($key:tt).+ { $($body:tt)* })*) => {
        $(
            $(#[$attribute])*
            #[babel_job($urn, topic = $topic, key = $($key).+)]
            #[derive(Serialize, Deserialize)]
            $visibility struct $name { $($body)* }
        )*
    };
}

jobs! {
    /// Documented.
    #[derive(Clone)]
    pub struct Listed = "urn:babel:orders:listed", on "lists", by of.id { of: Of }
    pub(crate) struct Other = "urn:babel:orders:other", on "others", by id { id: String }
}

#[derive(Clone, Serialize, Deserialize)]
struct Of {
    id: u8,
}

mod facade {
    pub use babelqueue::*;

    // What a facade gives its users: they name neither crate.
    macro_rules! message {
        ($name:ident: $urn:literal) => {
            #[$crate::facade::babel_job($urn, crate = $crate::facade)]
            #[derive(serde::Serialize, serde::Deserialize)]
            pub struct $name {}
        };
    }

    macro_rules! handled_by {
        ($($job:path => $handler:path),+) => {
            $crate::facade::routes![crate = $crate::facade; $($job => $handler),+]
        };
    }

    pub(crate) use handled_by;
    pub(crate) use message;
}

mod user {
    crate::facade::message!(Sent: "urn:babel:facade:sent");
}

macro_rules! handled {
    ($state:expr; $($job:ty => $handler:expr),*) => {
        routes![$state; $($job => $handler),*]
    };
}

async fn on_made(_: &u8, _: Made, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_listed(_: &u8, _: Listed, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_sent(_: user::Sent, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    assert_eq!(Made { id: 1 }.key().as_deref(), Some(&b"1"[..]));
    let listed = Listed { of: Of { id: 2 } };
    assert_eq!((Listed::TOPIC, listed.clone().key().as_deref()), ("lists", Some(&b"2"[..])));
    assert_eq!(Other { id: "x".to_owned() }.key().as_deref(), Some(&b"x"[..]));
    let state = 1_u8;
    assert_eq!(handled![state; Made => on_made, Listed => on_listed].topics(), ["lists", "made"]);
    assert_eq!(facade::handled_by![user::Sent => on_sent].urns(), ["urn:babel:facade:sent"]);
}
