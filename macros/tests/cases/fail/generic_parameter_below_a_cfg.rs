use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:pages:read")]
#[derive(Serialize, Deserialize)]
struct Page<T, #[cfg(any())] const N: usize> {
    items: Vec<T>,
}

fn main() {}
