use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

const URN: &str = "urn:babel:orders:created";

#[babel_job(URN)]
#[derive(Serialize, Deserialize)]
struct Constant {}

#[babel_job(urn = "urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct Named {}

#[babel_job(b"urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct Bytes {}

#[babel_job(topic = "orders", "urn:babel:orders:created", "urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct Twice {}

fn main() {}
