use babelqueue::{Delivery, HandlerError, babel_job, routes};
use serde::{Deserialize, Serialize};

#[babel_job("urn:babel:orders:created")]
#[derive(Serialize, Deserialize)]
struct OrderCreated {
    id: u64,
}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize)]
struct OrderCancelled {
    id: u64,
}
trait Handlers: Send + Sync + 'static {
    fn order_created(&self, job: OrderCreated, cx: &Delivery) -> impl Future<Output = Result<(), HandlerError>> + Send;
    fn order_cancelled(&self, job: OrderCancelled, cx: &Delivery) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

fn generated<H: Handlers>(handlers: H) -> babelqueue::Routes {
    routes![handlers; OrderCreated => H::order_created, OrderCancelled => H::order_cancelled]
}

struct Forgetful;

impl Handlers for Forgetful {
    async fn order_created(&self, _: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

struct Mistyped;

impl Handlers for Mistyped {
    async fn order_created(&self, _: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }

    async fn order_cancelled(&self, _: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    generated(Forgetful);
    generated(Mistyped);
}
