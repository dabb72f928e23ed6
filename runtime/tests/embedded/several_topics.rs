//! One consumer of several topics, its routes put together from two sets.

use babelqueue::{Delivery, HandlerError, Publisher, Routes, babel_job, routes, testing::TestBroker};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::jobs::{OrderCreated, broker, committed_of};

#[babel_job("urn:babel:invoices:requested")]
#[derive(Serialize, Deserialize)]
struct InvoiceRequested {
    order_id: u64,
}

type Seen = UnboundedSender<String>;

async fn on_created(seen: &Seen, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
    Ok(seen.send(format!("created {} on {}", job.order_id, cx.topic()))?)
}

async fn on_requested(seen: &Seen, job: InvoiceRequested, cx: &Delivery) -> Result<(), HandlerError> {
    Ok(seen.send(format!("requested {} on {}", job.order_id, cx.topic()))?)
}

#[tokio::test]
async fn each_topic_of_the_routes_is_read_and_committed() {
    let broker = TestBroker::start(&[("orders", 1), ("invoices", 1)]).unwrap();
    let kafka = broker.kafka().unwrap();
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    Publisher::new(&kafka).publish(&InvoiceRequested { order_id: 2 }).await.unwrap();

    let (seen, mut handled) = unbounded_channel();
    let orders: Routes = routes![seen.clone(); OrderCreated => on_created];
    let routes = orders.and(routes![seen; InvoiceRequested => on_requested]).unwrap();
    let both = async {
        let mut both = [handled.recv().await.unwrap(), handled.recv().await.unwrap()];
        both.sort_unstable();
        assert_eq!(both, ["created 1 on orders", "requested 2 on invoices"]);
    };
    let summary = kafka.consumer("workers").serve(routes).run_until(both).await.unwrap();

    assert_eq!(summary.handled, 2);
    for topic in ["orders", "invoices"] {
        assert_eq!(committed_of(&broker, "workers", topic, 0), Some(1), "{topic}");
    }
}

#[tokio::test]
async fn a_topic_that_is_named_twice_is_read_once() {
    let (_broker, kafka) = broker(1);
    Publisher::new(&kafka).publish(&OrderCreated::number(1)).await.unwrap();
    let (seen, mut handled) = unbounded_channel();
    let consumer =
        kafka.consumer("workers").topics(["orders", "orders"]).serve(routes![seen; OrderCreated => on_created]);
    let one = async { assert_eq!(handled.recv().await.unwrap(), "created 1 on orders") };
    assert_eq!(consumer.run_until(one).await.unwrap().handled, 1);
}
