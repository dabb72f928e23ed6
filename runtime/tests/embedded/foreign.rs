//! Records that no SDK would write: each has a typed outcome and none a panic (field cases of null, empty, hostile input).

use std::sync::{Arc, Mutex};

use babelqueue::{Publisher, Reason, RecordError, UnknownUrn};

use crate::jobs::{Foreign, OrderCreated, broker, seen};

const URN: &[u8] = b"urn:babel:orders:created";

#[tokio::test]
async fn hostile_records_have_an_outcome_and_the_ones_behind_them_are_handled() {
    let (broker, kafka) = broker(1);
    let data = |data: &str| format!(r#"{{"job":"urn:babel:orders:created","data":{data}}}"#);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let handled = [
        // A lone surrogate in a member that the type does not have, and one in an unknown member.
        Foreign::value(data(r#"{"order_id":1,"x":"\ud800"}"#)),
        Foreign::value(r#"{"job":"urn:babel:orders:created","data":{"order_id":2},"\udc00":1}"#),
        // Of repeated members of the envelope the last one counts.
        Foreign::value(r#"{"data":[],"job":5,"job":"urn:babel:orders:created","data":{"order_id":3}}"#)
            .header("bq-job", None),
        // Header names and values that are not UTF-8, a null value, an empty one.
        Foreign::value(data(r#"{"order_id":4}"#))
            .header("x", Some(b"\xff\xfe"))
            .header("bq-attempts", Some(b"\xff"))
            .header("bq-trace-id", Some(b"\xff"))
            .header("n", None)
            .header("", Some(b"")),
        Foreign::value(data(&format!(r#"{{"order_id":5,"deep":{deep}}}"#))),
    ];
    let rejected = [
        Foreign::value(data(&deep)),
        Foreign::value(data("{}").replace("{}", &"9".repeat(1_000_000)[..900_000])),
        Foreign::value(data(r#"{"order_id":1e400}"#)),
        Foreign::value(b"\xff\xfe{}".to_vec()),
        Foreign::value("\u{feff}{}"),
        Foreign::value(r#"{"job":"\ud800"}"#),
        Foreign::value(r#"{"data":[],"job":"urn:babel:orders:created","data":{"order_id":3}}"#)
            .header("bq-job", Some(URN)),
    ];
    for record in handled.iter().chain(&rejected) {
        record.send(&broker).await;
    }
    Publisher::new(&kafka).publish(&OrderCreated::number(99)).await.unwrap();

    let (routes, mut seen) = seen();
    let errors = Arc::new(Mutex::new(Vec::<RecordError>::new()));
    let consumer = kafka
        .consumer("workers")
        .unknown_urn(UnknownUrn::Fail)
        .on_error({
            let errors = Arc::clone(&errors);
            move |error| errors.lock().unwrap().push(error.clone())
        })
        .serve(routes);
    let mut orders = Vec::new();
    let signal = async {
        while let Some(seen) = seen.recv().await {
            orders.push(seen.job.order_id);
            if seen.job.order_id == 99 {
                return;
            }
        }
    };
    let result = consumer.run_until(signal).await;
    let errors = errors.lock().unwrap().clone();
    result.unwrap_or_else(|error| panic!("{error}\n{errors:?}"));
    assert_eq!(orders, [1, 2, 4, 5, 99]);
    assert!(errors.iter().all(|error| error.reason == Reason::Poison), "{errors:?}");
    assert_eq!(errors.len(), rejected.len() + 1);
}
