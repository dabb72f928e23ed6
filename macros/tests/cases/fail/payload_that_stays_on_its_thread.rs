use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    #[serde(skip)]
    cache: std::cell::RefCell<u8>,
}

#[babel_job("urn:babel:orders:shared")]
#[derive(Serialize, Deserialize)]
struct Shared {
    #[serde(skip)]
    pointer: Option<std::rc::Rc<u8>>,
}

fn main() {}
