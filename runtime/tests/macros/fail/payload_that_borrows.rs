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

async fn on_created(_: OrderCreated<'_>, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = routes![OrderCreated => on_created];
}
