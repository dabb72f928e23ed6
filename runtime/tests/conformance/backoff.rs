//! The section `retry_backoff`: the delays of the general helper.

use std::time::Duration;

use babelqueue::{Backoff, Jitter};
use serde_json::Value;

use crate::{
    check::{Outcome, same},
    suite::{Suite, member, text},
};

/// Of a random delay, as many are looked at.
const DRAWS: usize = 1000;

pub(crate) fn retry_backoff(_: &Suite, case: &Value) -> Outcome {
    let multiplier = number(case, "retry_backoff_multiplier")?;
    let jitter = match text(case, "retry_jitter")? {
        "none" => Jitter::None,
        "full" => Jitter::Full,
        other => return Err(format!("unknown jitter `{other}`")),
    };
    let backoff = Backoff::exponential(seconds(case, "retry_backoff")?, multiplier)
        .map_err(|error| error.to_string())?
        .max(seconds(case, "retry_backoff_max")?)
        .jitter(jitter);
    let n = member(case, "n")?.as_u64().and_then(|n| n.try_into().ok()).ok_or("`n` is no count")?;
    let Some(range) = case.get("expect_delay_range_seconds") else {
        return same("delay", &seconds(case, "expect_delay_seconds")?, &backoff.delay(n));
    };
    let (min, max) = (seconds(range, "min")?, seconds(range, "max")?);
    match (0..DRAWS).map(|_| backoff.delay(n)).find(|delay| !(min..=max).contains(delay)) {
        None => Ok(()),
        Some(delay) => Err(format!("delay: expected {min:?} to {max:?}, found {delay:?}")),
    }
}

fn number(case: &Value, name: &str) -> Result<f64, String> {
    member(case, name)?.as_f64().ok_or_else(|| format!("`{name}` of the case is no number"))
}

fn seconds(case: &Value, name: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(case, name)?).map_err(|error| format!("`{name}`: {error}"))
}
