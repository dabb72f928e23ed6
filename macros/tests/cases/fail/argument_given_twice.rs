use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created", key = id, topic = "a", key = id, topic = "b", crate = babelqueue, crate = ::babelqueue)]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    id: u64,
}

fn main() {}
