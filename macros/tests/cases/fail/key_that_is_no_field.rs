use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created", key = order)]
#[derive(Serialize, Deserialize)]
struct Misspelt {
    order_id: u64,
    customer: Customer,
}

#[derive(Serialize, Deserialize)]
struct Customer {
    name: String,
}

#[babel_job("urn:babel:orders:created", key = customer.id)]
#[derive(Serialize, Deserialize)]
struct Deep {
    customer: Customer,
}

#[babel_job("urn:babel:orders:created", key = 1)]
#[derive(Serialize, Deserialize)]
struct Tuple(u64);

#[babel_job("urn:babel:orders:created", key = id)]
#[derive(Serialize, Deserialize)]
struct Unit {}

#[babel_job("urn:babel:orders:created", key = id)]
#[derive(Serialize, Deserialize)]
enum Choice {
    One { id: u64 },
}

#[babel_job("urn:babel:orders:created", key = customer.name)]
#[derive(Serialize, Deserialize)]
struct Maybe {
    customer: Option<Customer>,
}

fn main() {}
