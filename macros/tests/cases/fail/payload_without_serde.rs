use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
struct Neither {}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize)]
struct OnlySerialize {}

#[babel_job("urn:babel:orders:moved")]
#[derive(Deserialize)]
struct OnlyDeserialize {}

fn main() {}
