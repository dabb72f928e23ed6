use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created", partition = 3)]
#[derive(Serialize, Deserialize)]
struct Unknown {}

#[babel_job("urn:babel:orders:created", key)]
#[derive(Serialize, Deserialize)]
struct Bare {}

#[babel_job("urn:babel:orders:created", key = id + 1)]
#[derive(Serialize, Deserialize)]
struct Sum {
    id: u64,
}

#[babel_job("urn:babel:orders:created" topic = "orders")]
#[derive(Serialize, Deserialize)]
struct NoComma {}

#[babel_job("urn:babel:orders:created", crate = "babelqueue")]
#[derive(Serialize, Deserialize)]
struct QuotedCrate {}

fn main() {}
