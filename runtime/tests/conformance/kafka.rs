//! The section `kafka`: what a consumer makes of the headers of a record, and which headers a publisher writes.

use babelqueue::{Reason, private::conformance::headers_of};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    broker::{self, Consumed, Record},
    check::{Outcome, decoded, parsed, same},
    suite::{Case, Suite, entries, member, text},
};

/// A record to be consumed, and what has to be seen of it.
struct Delivery {
    record: Record,
    expected: Consumed,
}

/// All cases share one broker and one consumer.
pub(crate) fn run(suite: &Suite, cases: &[Case<'_>]) -> Vec<Outcome> {
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return cases.iter().map(|_| Err(error.to_string())).collect(),
    };
    let deliveries: Vec<_> = cases.iter().map(|case| delivery(suite, case)).collect();
    let records: Vec<_> = deliveries.iter().flatten().flatten().map(|delivery| &delivery.record).collect();
    let consumed = runtime.block_on(broker::consume(&records));
    let mut consumed = consumed.into_iter();
    let outcome = |(delivery, case): (Result<Option<Delivery>, String>, &Case<'_>)| match delivery? {
        None => property_projection(suite, case.value, &runtime),
        Some(delivery) => {
            let consumed = consumed.next().unwrap_or_else(|| Err("it was not consumed".to_owned()))?;
            same("consumed", &delivery.expected, &consumed)
        }
    };
    deliveries.into_iter().zip(cases).map(outcome).collect()
}

/// The record of a case; none for the case that is about writing.
fn delivery(suite: &Suite, case: &Case<'_>) -> Result<Option<Delivery>, String> {
    match case.id.split('/').next() {
        Some("property_projection") => Ok(None),
        Some("attempts_reconciliation") => attempts(suite, case.value).map(Some),
        Some("schema_version_gate") => version(suite, case.value).map(Some),
        _ => Err("the runner does not know this part".to_owned()),
    }
}

/// The part of the section that holds what its cases share.
fn part<'a>(suite: &'a Suite, name: &str) -> Result<&'a Value, String> {
    member(suite.section("kafka").unwrap_or(&Value::Null), name)
}

/// `attempts_reconciliation`: the header counts, whether it is lower or higher than the body.
fn attempts(suite: &Suite, case: &Value) -> Result<Delivery, String> {
    let mut body = parsed(&suite.fixture(part(suite, "property_projection")?, "envelope_file")?)?;
    *body.get_mut("attempts").ok_or("the fixture has no `attempts`")? = member(case, "body_attempts")?.clone();
    let header = match member(case, "header_attempts")? {
        Value::Null => None,
        attempts => Some(("bq-attempts".to_owned(), Some(attempts.to_string()))),
    };
    let attempts = member(case, "expected_attempts")?.as_u64().ok_or("`expected_attempts` is no number")?;
    let data = body.get("data").cloned().unwrap_or_default();
    Ok(Delivery {
        record: Record { body: body.to_string().into_bytes(), header },
        expected: Consumed::Handled { data, attempts },
    })
}

/// `schema_version_gate`: what is not version 1 never reaches the handler.
fn version(suite: &Suite, case: &Value) -> Result<Delivery, String> {
    let part = part(suite, "schema_version_gate")?;
    let body = suite.fixture(part, "fixture")?;
    let property = text(part, "property")?.to_owned();
    let header = match case.get("value") {
        Some(Value::String(value)) => Some((property, Some(value.clone()))),
        // Present, and null.
        Some(Value::Null) => Some((property, None)),
        None if case["absent"] == json!(true) => None,
        _ => return Err("the case has neither `value` nor `absent`".to_owned()),
    };
    let expected = match text(case, "expect")? {
        "decode" => {
            let envelope = decoded(&body)?;
            let data = parsed(envelope.data().unwrap_or_default().as_bytes())?;
            Consumed::Handled { data, attempts: envelope.attempts().unsigned_abs() }
        }
        "reject" => Consumed::NotHandled(Reason::WrongVersion),
        other => return Err(format!("unknown expectation `{other}`")),
    };
    Ok(Delivery { record: Record { body, header }, expected })
}

/// `property_projection`: the headers of the fixture's envelope, and those of a record that a publisher wrote.
fn property_projection(suite: &Suite, case: &Value, runtime: &Runtime) -> Outcome {
    let body = suite.fixture(case, "envelope_file")?;
    let envelope = decoded(&body)?;
    let found: Value = headers_of(&envelope).into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    same("headers", member(case, "headers")?, &found)?;

    let published = runtime.block_on(broker::publish())?;
    let envelope = decoded(&published.body)?;
    let expected: Vec<_> =
        headers_of(&envelope).map(|(name, value)| (name.to_owned(), value.into_owned().into_bytes())).into();
    same("headers of a published record", &expected, &published.headers)?;
    same("timestamp of a published record", &envelope.created_at(), &published.timestamp)?;
    // The same names, and those values that no message has to itself.
    for (name, value) in entries(case, "headers") {
        let found = published.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_slice());
        match name {
            "bq-job" | "bq-schema-version" | "bq-attempts" => same(name, &value.as_str().map(str::as_bytes), &found)?,
            _ => same(name, &true, &found.is_some())?,
        }
    }
    Ok(())
}
