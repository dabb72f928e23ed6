//! Payloads, as their types and their schemas judge them.

use std::fmt::Debug;

use babelqueue::{Json as Raw, Schemas, babel_job, private::fuzz::payload_of};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::json::Json;
use crate::run::{Broken, promise};

/// Generated types of this package.
mod own {
    #![allow(missing_docs, unreachable_pub)]
    babelqueue::include_contracts!();
}

/// Generated types of the example's schemas.
mod example {
    #![allow(missing_docs, unreachable_pub)]
    include!(concat!(env!("OUT_DIR"), "/orders/babelqueue_contracts.rs"));
}

/// A job that a person wrote.
#[babel_job("urn:babel:fuzz:plain", key = name)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Plain {
    name: Option<String>,
    #[serde(default)]
    id: Option<i64>,
    #[serde(default)]
    double: f64,
    nested: Option<Raw>,
}

const EVERYTHING: &str = "urn:babel:fuzz:everything";

/// Reads the payload as each type.
pub(super) fn check(schemas: &Schemas, data: &str) -> Result<(), Broken> {
    let fits = read::<own::fuzz::Everything>(data)?;
    if schemas.validate(EVERYTHING, data).is_ok() && plain(data) {
        promise(fits.is_none(), "a type takes what its schema allows", || {
            format!("{}\n{data}", fits.unwrap_or_default())
        })?;
    }
    read::<example::orders::OrderCreated>(data)?;
    read::<example::orders::OrderCancelled>(data)?;
    read::<Plain>(data)?;
    read::<Raw>(data)?;
    Ok(())
}

/// Reads, writes and reads again; why it does not fit.
fn read<T: DeserializeOwned + Serialize + PartialEq + Debug>(data: &str) -> Result<Option<String>, Broken> {
    let value: T = match payload_of(data) {
        Ok(value) => value,
        Err(reason) => {
            promise(!reason.is_empty(), "a misfit says why", || data.to_owned())?;
            promise(serde_json::from_str::<T>(data).is_err(), "a payload is judged the same twice", || {
                data.to_owned()
            })?;
            return Ok(Some(reason));
        }
    };
    let shown = format!("{value:?}");
    let text = serde_json::to_string(&value);
    let Ok(text) = text else {
        return promise(false, "what was read can be written", || format!("{text:?}\n{data}")).map(|()| None);
    };
    let again: Result<T, String> = payload_of(&text);
    let Ok(again) = again else {
        return promise(false, "what was written can be read", || format!("{again:?}\n{text}\n{data}")).map(|()| None);
    };
    promise(again == value, "what was written is what was read", || format!("{shown}\n{again:?}\n{data}"))?;
    let twice = serde_json::to_string(&again).unwrap_or_default();
    promise(twice == text, "a payload is written the same twice", || format!("{text}\n{twice}\n{data}"))?;
    Ok(None)
}

/// Whether a payload holds only what a type must take when its schema does: no number that no type holds exactly, and
/// no member twice.
fn plain(data: &str) -> bool {
    fn holds(json: &Json) -> bool {
        let own = match json {
            Json::Leaf(text) => text.starts_with('"') || (text.len() < 16 && !text.contains(['e', 'E'])),
            Json::List(_) => true,
            Json::Object(members) => {
                let read = |name: &str| serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
                let mut names: Vec<String> = members.iter().map(|(name, _)| read(name)).collect();
                names.sort_unstable();
                names.windows(2).all(|pair| pair[0] != pair[1])
            }
        };
        own && json.children().all(holds)
    }
    Json::read(data).is_some_and(|json| holds(&json))
}
