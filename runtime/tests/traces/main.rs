//! On the embedded broker: OpenTelemetry traces that go on from publisher to handler (contract section 2, feature `otel`).

use babelqueue::{Delivery, HandlerError, JobBatch, Kafka, Publisher, babel_job, routes, testing::TestBroker};
use opentelemetry::{
    KeyValue,
    trace::{SpanId, SpanKind, TraceId, TracerProvider as _},
};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use rdkafka::message::OwnedMessage;
use serde::{Deserialize, Serialize};
use tokio::sync::{
    Mutex,
    mpsc::{UnboundedSender, unbounded_channel},
};
use tracing::{Instrument as _, subscriber::DefaultGuard};
use tracing_subscriber::layer::SubscriberExt as _;

#[allow(dead_code, reason = "shared with the tests on the embedded broker")]
#[path = "../embedded/jobs.rs"]
mod jobs;

use jobs::{Foreign, OrderCreated, header, read};

/// Subscribers that come and go in one process get into each other's way.
static ALONE: Mutex<()> = Mutex::const_new(());

const TRACE_ID: &str = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[babel_job("urn:babel:invoices:requested")]
#[derive(Serialize, Deserialize)]
struct InvoiceRequested {
    order_id: u64,
}

/// A tracer of this thread, on which a test and its consumer run.
struct Tracer {
    exporter: InMemorySpanExporter,
    _provider: SdkTracerProvider,
    _guard: DefaultGuard,
}

impl Tracer {
    fn start() -> Self {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        Self { exporter, _provider: provider, _guard: guard }
    }

    fn span(&self, name: &str) -> SpanData {
        let spans = self.exporter.get_finished_spans().unwrap();
        let found = spans.iter().find(|span| span.name == name);
        found.unwrap_or_else(|| panic!("no `{name}` among {spans:?}")).clone()
    }
}

fn broker() -> (TestBroker, Kafka) {
    let broker = TestBroker::start(&[("orders", 1), ("invoices", 1)]).unwrap();
    let kafka = broker.kafka().unwrap();
    (broker, kafka)
}

/// Handles one order, by a message that follows from it, and gives that message.
async fn handle_one(broker: &TestBroker, kafka: &Kafka) -> OwnedMessage {
    async fn on_created(done: &UnboundedSender<()>, job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
        cx.message(&InvoiceRequested { order_id: job.order_id }).await?;
        Ok(done.send(())?)
    }
    let (done, mut handled) = unbounded_channel();
    let consumer = kafka.consumer("workers").serve(routes![done; OrderCreated => on_created]);
    consumer.run_until(async { assert!(handled.recv().await.is_some()) }).await.unwrap();
    read(broker, "invoices", 1).remove(0)
}

fn traceparent(record: &OwnedMessage) -> Option<String> {
    header(record, "traceparent").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

fn order() -> Foreign {
    Foreign::value(format!(r#"{{"job":"urn:babel:orders:created","trace_id":"{TRACE_ID}","data":{{"order_id":1}}}}"#))
}

#[tokio::test]
async fn a_handler_continues_the_trace_of_the_span_that_published_and_passes_it_on() {
    let _alone = ALONE.lock().await;
    let tracer = Tracer::start();
    let (broker, kafka) = broker();
    let publisher = Publisher::new(&kafka);
    publisher.message(&OrderCreated::number(1)).send().instrument(tracing::info_span!("checkout")).await.unwrap();
    let invoice = handle_one(&broker, &kafka).await;

    let (checkout, handled) = (tracer.span("checkout"), tracer.span("process orders"));
    assert_eq!(handled.span_context.trace_id(), checkout.span_context.trace_id());
    assert_eq!(handled.parent_span_id, checkout.span_context.span_id());
    assert_eq!((handled.span_kind, handled.links.len()), (SpanKind::Consumer, 0));
    for (key, value) in [
        ("messaging.system", "kafka"),
        ("messaging.operation.type", "process"),
        ("messaging.destination.name", "orders"),
    ] {
        assert!(handled.attributes.contains(&KeyValue::new(key, value)), "{key}: {:?}", handled.attributes);
    }
    let context = &handled.span_context;
    assert_eq!(traceparent(&invoice), Some(format!("00-{}-{}-01", context.trace_id(), context.span_id())));
}

#[tokio::test]
async fn a_delivery_that_was_tried_before_is_linked_to_the_context_of_its_first_one() {
    let _alone = ALONE.lock().await;
    let tracer = Tracer::start();
    let (broker, kafka) = broker();
    order().header("traceparent", Some(TRACEPARENT.as_bytes())).header("bq-attempts", Some(b"2")).send(&broker).await;
    handle_one(&broker, &kafka).await;
    let handled = tracer.span("process orders");
    let link = &handled.links[0].span_context;
    let parent = SpanId::from_hex("00f067aa0ba902b7").unwrap();
    assert_eq!((link.trace_id(), link.span_id()), (handled.span_context.trace_id(), parent));
    assert_eq!(link.trace_id(), TraceId::from_hex("4bf92f3577b34da6a3ce929d0e0e4736").unwrap());
    assert_eq!((handled.links.len(), handled.parent_span_id), (1, parent));
}

#[tokio::test]
async fn a_batch_is_linked_to_the_trace_of_each_of_its_messages() {
    let _alone = ALONE.lock().await;
    let tracer = Tracer::start();
    let (broker, kafka) = broker();
    order().header("traceparent", Some(TRACEPARENT.as_bytes())).send(&broker).await;
    order().send(&broker).await;
    async fn store(done: &UnboundedSender<usize>, batch: JobBatch<OrderCreated>) -> Result<(), HandlerError> {
        Ok(done.send(batch.len())?)
    }
    let (done, mut handled) = unbounded_channel();
    let consumer = kafka.consumer("workers").serve(routes![done; [OrderCreated; 2] => store]);
    consumer.run_until(async { assert_eq!(handled.recv().await, Some(2)) }).await.unwrap();
    let batch = tracer.span("process orders");
    let traces: Vec<_> = batch.links.iter().map(|link| link.span_context.trace_id()).collect();
    let given = TraceId::from_hex("4bf92f3577b34da6a3ce929d0e0e4736").unwrap();
    assert_eq!(traces, [given, TraceId::from_hex(&TRACE_ID.replace('-', "")).unwrap()]);
    assert_eq!((batch.span_kind, batch.parent_span_id), (SpanKind::Consumer, SpanId::INVALID));
}

#[tokio::test]
async fn a_malformed_traceparent_is_ignored_and_the_trace_id_serves() {
    let _alone = ALONE.lock().await;
    let tracer = Tracer::start();
    let (broker, kafka) = broker();
    order().header("traceparent", Some(b"00-xyz-01")).send(&broker).await;
    let invoice = handle_one(&broker, &kafka).await;
    let handled = tracer.span("process orders");
    assert_eq!(handled.span_context.trace_id(), TraceId::from_hex(&TRACE_ID.replace('-', "")).unwrap());
    assert!(traceparent(&invoice).unwrap().contains(&TRACE_ID.replace('-', "")));
}

#[tokio::test]
async fn without_a_tracer_the_delivered_traceparent_is_passed_on() {
    let _alone = ALONE.lock().await;
    let _none = tracing::subscriber::set_default(tracing::subscriber::NoSubscriber::default());
    let (broker, kafka) = broker();
    order().header("traceparent", Some(TRACEPARENT.as_bytes())).send(&broker).await;
    assert_eq!(traceparent(&handle_one(&broker, &kafka).await).as_deref(), Some(TRACEPARENT));
}

#[tokio::test]
async fn without_a_tracer_a_malformed_traceparent_is_not_passed_on() {
    let _alone = ALONE.lock().await;
    let _none = tracing::subscriber::set_default(tracing::subscriber::NoSubscriber::default());
    let (broker, kafka) = broker();
    order().header("traceparent", Some(b"00-xyz-01")).send(&broker).await;
    assert_eq!(traceparent(&handle_one(&broker, &kafka).await), None);
}

#[tokio::test]
async fn a_traceparent_of_ones_own_is_the_only_one() {
    let _alone = ALONE.lock().await;
    use rdkafka::{Message as _, message::Headers as _};
    let _tracer = Tracer::start();
    let (broker, kafka) = broker();
    let publisher = Publisher::new(&kafka);
    let order = OrderCreated::number(1);
    let message = publisher.message(&order).header("traceparent", TRACEPARENT);
    message.send().instrument(tracing::info_span!("checkout")).await.unwrap();
    let record = read(&broker, "orders", 1).remove(0);
    let names = record.headers().unwrap().iter().filter(|header| header.key == "traceparent").count();
    assert_eq!((names, traceparent(&record).as_deref()), (1, Some(TRACEPARENT)));
}
