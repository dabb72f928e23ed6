//! Both macros work on what other macros write.

use babelqueue::{Delivery, HandlerError, Job, babel_job, routes};
use serde::{Deserialize, Serialize};

macro_rules! job {
    ($name:ident, $urn:literal, $key:ident: $type:ty) => {
        #[babel_job($urn, topic = "made", key = $key)]
        #[derive(Serialize, Deserialize)]
        struct $name {
            $key: $type,
        }
    };
}

job!(Made, "urn:babel:orders:made", id: u64);

macro_rules! handled {
    ($state:expr; $($job:ty => $handler:expr),*) => {
        routes![$state; $($job => $handler),*]
    };
}

async fn on_made(_: &u8, _: Made, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    assert_eq!(Made { id: 1 }.key().as_deref(), Some(&b"1"[..]));
    let state = 1_u8;
    assert_eq!(handled![state; Made => on_made].topics(), ["made"]);
}
