use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created", key = self.id)]
#[derive(Serialize, Deserialize)]
struct Selfish {
    id: u64,
}

#[babel_job("urn:babel:orders:created", key = "id")]
#[derive(Serialize, Deserialize)]
struct Quoted {
    id: u64,
}

#[babel_job("urn:babel:orders:created", key = type)]
#[derive(Serialize, Deserialize)]
struct Keyword {
    r#type: u64,
}

#[babel_job("urn:babel:orders:created", key = /id)]
#[derive(Serialize, Deserialize)]
struct Pointer {
    id: u64,
}

#[babel_job("urn:babel:orders:created", key = 0u8)]
#[derive(Serialize, Deserialize)]
struct Suffix(u8);

#[babel_job("urn:babel:orders:created", key =)]
#[derive(Serialize, Deserialize)]
struct Nothing {
    id: u64,
}

fn main() {}
