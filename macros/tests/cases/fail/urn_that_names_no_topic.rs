use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:acme:orders:created")]
#[derive(Serialize, Deserialize)]
struct OrderCreated {}

fn main() {}
