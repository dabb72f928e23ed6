use std::borrow::Cow;

use babelqueue::{Delivery, HandlerError, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct OrderCreated<'a> {
    name: Cow<'a, str>,
}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize)]
struct OrderCancelled<'a> {
    name: &'a str,
}

#[babel_job("urn:babel:orders:moved", key = id)]
#[derive(Serialize, Deserialize)]
struct OrderMoved<'a, T> {
    id: u64,
    #[serde(borrow)]
    to: Vec<Cow<'a, str>>,
    of: T,
}

#[babel_job("urn:babel:orders:named")]
#[derive(Serialize, Deserialize)]
struct OrderNamed {
    name: &'static str,
}

async fn on_created(_: OrderCreated<'_>, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = routes![OrderCreated => on_created];
}
