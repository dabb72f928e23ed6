//! One consumer of several topics: from one list, or from the lists of several modules.

use babelqueue::{Delivery, HandlerError, Routes, babel_job, routes};
use serde::{Deserialize, Serialize};

macro_rules! module {
    ($module:ident, $urn:literal) => {
        // As generated contracts have it.
        mod $module {
            #[babelqueue::babel_job($urn)]
            #[derive(serde::Serialize, serde::Deserialize)]
            pub struct Created {
                pub id: u64,
            }

            pub trait Handlers: Send + Sync + 'static {
                fn created(
                    &self,
                    job: Created,
                    cx: &babelqueue::Delivery,
                ) -> impl Future<Output = Result<(), babelqueue::HandlerError>> + Send;
            }

            pub fn routes<H: Handlers>(handlers: H) -> babelqueue::Routes {
                babelqueue::routes![handlers; Created => H::created]
            }
        }

        impl $module::Handlers for Worker {
            async fn created(&self, job: $module::Created, _: &Delivery) -> Result<(), HandlerError> {
                Err(HandlerError::fatal(format!("{}", job.id)))
            }
        }
    };
}

#[derive(Clone)]
struct Worker;

module!(orders, "urn:babel:orders:created");
module!(invoices, "urn:babel:invoices:created");

#[babel_job("urn:babel:orders:moved", topic = "moves")]
#[derive(Serialize, Deserialize)]
struct Moved {}

async fn on_created(_: orders::Created, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_moved(_: Moved, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let one_list = routes![orders::Created => on_created, Moved => on_moved];
    assert_eq!(one_list.topics(), ["moves", "orders"]);

    let modules: Result<Routes, _> = orders::routes(Worker).and(invoices::routes(Worker));
    let all = modules.and_then(|routes| routes.and(routes![Moved => on_moved])).unwrap();
    assert_eq!(all.topics(), ["invoices", "moves", "orders"]);
    assert_eq!(all.urns(), ["urn:babel:invoices:created", "urn:babel:orders:created", "urn:babel:orders:moved"]);

    let twice = orders::routes(Worker).and(routes![orders::Created => on_created]).unwrap_err();
    assert!(twice.to_string().contains("two handlers for `urn:babel:orders:created`"), "{twice}");
}
