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
mod invoices {
    #[babelqueue::babel_job("urn:babel:orders:created", topic = "invoices")]
    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct InvoiceCreated {}
}

async fn on_created(_: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_cancelled(_: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

async fn on_invoice(_: invoices::InvoiceCreated, _: &Delivery) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = routes![OrderCreated => on_created, OrderCancelled => on_cancelled, invoices::InvoiceCreated => on_invoice];
}
