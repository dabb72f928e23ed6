//! A generic type is a job for the parameters with which it can be sent.

use babelqueue::{Delivery, HandlerError, Job, babel_job, routes};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[babel_job("urn:babel:pages:read", key = number)]
#[derive(Serialize, Deserialize)]
struct Page<T> {
    number: u32,
    items: Vec<T>,
}

#[babel_job("urn:babel:pages:bounded", key = owner)]
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct Bounded<K = String, const N: usize = 4>
where
    K: babelqueue::RecordKey + Serialize + DeserializeOwned,
{
    owner: K,
}

#[babel_job("urn:babel:pages:chosen")]
#[derive(Serialize, Deserialize)]
enum Choice<A, B> {
    A(A),
    B { b: B },
}

fn urn<J: Job>(_: &J) -> &'static str {
    J::URN
}

async fn on_page(_: Page<u8>, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_bounded(_: Bounded<u64, 1>, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let page = Page { number: 7, items: vec![(1_u8, "text".to_owned())] };
    assert_eq!((urn(&page), page.key().as_deref()), ("urn:babel:pages:read", Some(&b"7"[..])));
    let bounded: Bounded = Bounded { owner: "C-7".to_owned() };
    assert_eq!((urn(&bounded), bounded.key().as_deref()), ("urn:babel:pages:bounded", Some(&b"C-7"[..])));
    assert_eq!(urn(&Choice::<u8, String>::A(1)), "urn:babel:pages:chosen");
    let _ = Choice::<u8, u8>::B { b: 1 };
    let routes = routes![Page<u8> => on_page, Bounded<u64, 1> => on_bounded];
    assert_eq!(routes.urns(), ["urn:babel:pages:bounded", "urn:babel:pages:read"]);
}
