use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created", key = price)]
#[derive(Serialize, Deserialize)]
struct Float {
    price: f64,
}

#[babel_job("urn:babel:orders:created", key = order.lines)]
#[derive(Serialize, Deserialize)]
struct Deep {
    order: Order,
}

#[derive(Serialize, Deserialize)]
struct Order {
    lines: Vec<String>,
}

fn main() {}
