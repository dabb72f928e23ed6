//! For the fuzzer: what a consumer reads of a record, without a broker.

use serde::de::DeserializeOwned;

use crate::{headers::Projection, payload, record::Batch};

/// A payload as a consumer reads it.
///
/// # Errors
///
/// Why it does not fit its type, as the dead letter says it.
pub fn payload_of<T: DeserializeOwned>(data: &str) -> Result<T, String> {
    payload::decode(data).map_err(|misfit| misfit.to_string())
}

/// The URN and the attempts that the headers of a record tell, and whether the version gate lets it pass.
#[must_use]
pub fn told_by<'a>(headers: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>) -> (Option<String>, Option<i64>, bool) {
    let mut batch = Batch::with_capacity(0, 0);
    batch.push(0, None, None, None, |copied| headers.for_each(|(name, value)| copied.push(name, value)));
    let Some(record) = batch.get(0) else { return (None, None, false) };
    let told = Projection::read(record.headers);
    (told.job.map(str::to_owned), told.attempts, told.version_gate().is_ok())
}
