//! The sections `payload_schema` and `payload_schema_unicode`: which payloads a schema takes.

use babelqueue::Schemas;
use serde_json::Value;

use crate::{
    check::{Outcome, same},
    suite::{Case, Suite, flag, member},
};

const URN: &str = "urn:babel:orders:created";

pub(crate) fn run(suite: &Suite, cases: &[Case<'_>]) -> Vec<Outcome> {
    judge(suite.section("payload_schema"), cases)
}

pub(crate) fn unicode(suite: &Suite, cases: &[Case<'_>]) -> Vec<Outcome> {
    judge(suite.section("payload_schema_unicode"), cases)
}

/// All cases of a section share its schema.
fn judge(section: Option<&Value>, cases: &[Case<'_>]) -> Vec<Outcome> {
    let schemas = compile(section.unwrap_or(&Value::Null));
    let outcome = |case: &Case<'_>| {
        let schemas = schemas.as_ref().map_err(Clone::clone)?;
        let found = schemas.validate(URN, &member(case.value, "data")?.to_string());
        match (flag(case.value, "valid")?, found) {
            (true, Err(violations)) => Err(format!("expected a valid payload, found: {violations}")),
            (valid, found) => same("valid", &valid, &found.is_ok()),
        }
    };
    cases.iter().map(outcome).collect()
}

fn compile(section: &Value) -> Result<Schemas, String> {
    let mut schemas = Schemas::new();
    schemas.insert(URN, member(section, "schema")?).map_err(|error| error.to_string())?;
    Ok(schemas)
}
