use babelqueue::{Delivery, HandlerError, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:pages:read")]
#[derive(Serialize, Deserialize)]
struct Page<T> {
    items: Vec<T>,
}

struct NoSerde;

async fn on_page(_: Page<NoSerde>, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = routes![Page<NoSerde> => on_page];
}
