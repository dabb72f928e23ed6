use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("")]
#[derive(Serialize, Deserialize)]
struct Empty {}

#[babel_job(" urn:babel:orders:padded")]
#[derive(Serialize, Deserialize)]
struct Padded {}

#[babel_job("urn:babel:orders:\tcontrolled")]
#[derive(Serialize, Deserialize)]
struct Controlled {}

fn main() {}
