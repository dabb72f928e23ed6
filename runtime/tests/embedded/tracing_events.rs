//! What is told by `tracing`, with the trace id.

use std::{
    io,
    sync::{Arc, Mutex},
};

use babelqueue::Publisher;

use crate::jobs::{Foreign, OrderCreated, broker, seen};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn publishing_handling_and_rejecting_are_told_with_the_trace_id() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter("babelqueue=debug")
        .with_ansi(false)
        .with_writer(move || writer.clone());
    // For the whole process: the other tests add lines, but none with these trace ids.
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();

    let (broker, kafka) = broker(1);
    Foreign::value("not JSON").header("bq-trace-id", Some(b"trace-of-poison")).send(&broker).await;
    let publisher = Publisher::new(&kafka);
    publisher.message(&OrderCreated::number(1)).trace_id("trace-of-order").await.unwrap();
    let (routes, mut handled) = seen();
    let consumer = kafka.consumer("workers").serve(routes);
    consumer.run_until(async { assert!(handled.recv().await.is_some()) }).await.unwrap();

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let told = |what: &str, trace_id: &str| log.lines().any(|line| line.contains(what) && line.contains(trace_id));
    assert!(told("published", "trace-of-order"), "{log}");
    assert!(told("handled", "trace-of-order"), "{log}");
    assert!(told("the value is not an envelope", "trace-of-poison"), "{log}");
}
