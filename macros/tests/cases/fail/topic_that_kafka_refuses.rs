use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:a", topic = "")]
#[derive(Serialize, Deserialize)]
struct Empty {}

#[babel_job("urn:babel:orders:b", topic = "..")]
#[derive(Serialize, Deserialize)]
struct Dots {}

#[babel_job("urn:babel:orders:c", topic = "new orders")]
#[derive(Serialize, Deserialize)]
struct Spaced {}

#[babel_job("urn:babel:orders:d", topic = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789")]
#[derive(Serialize, Deserialize)]
struct Long {}

#[babel_job("urn:babel:orders:e", topic = orders)]
#[derive(Serialize, Deserialize)]
struct Unquoted {}

fn main() {}
