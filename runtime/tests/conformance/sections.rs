//! Which code runs which section.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::{
    backoff,
    check::Outcome,
    idempotency, identity, kafka, poison, producing, reemit,
    report::Run,
    retrying, schema,
    suite::{Case, Suite},
    traceparent,
};

pub(crate) enum Runner {
    /// Case by case.
    Each(fn(&Suite, &Value) -> Outcome),
    /// All cases at once.
    Together(fn(&Suite, &[Case<'_>]) -> Vec<Outcome>),
    /// Needs a part that is not built yet.
    Waiting(&'static str),
}

/// The sections of the scopes `core`, `kafka` and `otel`.
pub(crate) const SECTIONS: &[(&str, Runner)] = &[
    ("cases", Runner::Each(identity::envelope)),
    ("idempotency", Runner::Each(idempotency::run)),
    ("kafka", Runner::Together(kafka::run)),
    ("payload_schema", Runner::Together(schema::run)),
    ("roundtrip", Runner::Each(reemit::roundtrip)),
    ("data_shape", Runner::Each(producing::data_shape)),
    ("forbidden_keys", Runner::Each(reemit::forbidden_keys)),
    ("extension_write", Runner::Each(producing::extension_write)),
    ("encode_reject", Runner::Each(producing::encode_reject)),
    ("payload_schema_unicode", Runner::Together(schema::unicode)),
    ("trim", Runner::Each(trim)),
    ("job_type", Runner::Each(identity::resolved)),
    ("traceparent", Runner::Each(traceparent::extract)),
    ("backoff", Runner::Together(retrying::run)),
    ("retry_backoff", Runner::Each(backoff::retry_backoff)),
    ("kafka_poison", Runner::Each(identity::kafka_poison)),
    ("poison_dlq", Runner::Each(poison::dead_letter)),
    ("identity_verdict", Runner::Each(identity::identity_verdict)),
];

pub(crate) fn run(suite: &Suite, section: &str) -> Run {
    let cases = suite.cases(section);
    let outcomes = match SECTIONS.iter().find(|(name, _)| *name == section) {
        None => return Run::Unknown,
        Some((_, Runner::Waiting(part))) => return Run::Waiting { cases: cases.len(), part },
        Some((_, Runner::Each(check))) => cases.iter().map(|case| guarded(|| check(suite, case.value))).collect(),
        Some((_, Runner::Together(check))) => check(suite, &cases),
    };
    Run::Done(cases.into_iter().map(|case| case.id).zip(outcomes).collect())
}

/// A case that panics fails, and the ones behind it still run.
fn guarded(check: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| Err("it panicked".to_owned()))
}

/// The section `trim` asks four things, each of which has its place.
fn trim(suite: &Suite, case: &Value) -> Outcome {
    match crate::suite::text(case, "mode")? {
        "make" => producing::trimmed(case),
        "decode" => identity::resolved(suite, case),
        "accepts" => identity::accepts(suite, case),
        "reemit" => reemit::roundtrip(suite, case),
        mode => Err(format!("unknown mode `{mode}`")),
    }
}
