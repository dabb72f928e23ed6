//! What all sides publish and read.

use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

use super::{Error, Stopwatch, Turn};

#[babel_job("urn:babel:bench:order", key = order_id)]
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) order_id: u64,
    customer: String,
    lines: Vec<Line>,
    note: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct Line {
    sku: String,
    quantity: u32,
    unit_price_cents: i64,
}

/// How large a record is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Size {
    /// The payload alone has about 100 bytes; no envelope is that small.
    Small,
    /// About 450 bytes with its envelope.
    Medium,
    /// About 10 KB with its envelope.
    Large,
}

impl Size {
    pub(crate) fn order(self, order_id: u64) -> Order {
        let line = Line { sku: "SKU-1042".to_owned(), quantity: 3, unit_price_cents: 1299 };
        let note = "leave it with the neighbour";
        Order {
            order_id,
            customer: "Ada Lovelace".to_owned(),
            lines: if self == Self::Small { Vec::new() } else { vec![line; 2] },
            note: if self == Self::Large { note.repeat(360) } else { note.to_owned() },
        }
    }
}

pub(super) fn make(size: Size, records: u64) -> Turn {
    let watch = Stopwatch::start();
    for number in 0..records {
        std::hint::black_box(size.order(number));
    }
    watch.stop()
}

pub(super) fn decode(size: Size, records: u64) -> Result<Turn, Error> {
    let text = serde_json::to_string(&size.order(1042))?;
    let watch = Stopwatch::start();
    for _ in 0..records {
        std::hint::black_box(serde_json::from_str::<Order>(std::hint::black_box(&text))?);
    }
    Ok(watch.stop())
}
