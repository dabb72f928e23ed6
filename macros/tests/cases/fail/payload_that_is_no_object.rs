use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:ticked")]
#[derive(Serialize, Deserialize)]
struct Ticked;

#[babel_job("urn:babel:orders:counted", key = 0)]
#[derive(Serialize, Deserialize)]
struct Counted(u64, u64);

#[babel_job("urn:babel:orders:changed")]
#[derive(Serialize, Deserialize)]
enum Changed {
    Created { id: u64 },
    Cancelled,
}

#[babel_job("urn:babel:orders:either")]
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    One { id: u64 },
    Two(u64, u64),
    Neither,
}

fn main() {}
