use babelqueue::{babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    order_id: u64,
}

async fn on_created(_: OrderCreated, _: &babelqueue::Delivery) -> Result<(), babelqueue::HandlerError> {
    Ok(())
}

fn main() {
    routes![OrderCreated => on_created];
}
