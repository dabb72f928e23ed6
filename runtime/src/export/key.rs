//! Where the record key stands in the payload: the place that holds, in payloads made for it, what `Job::key` says.
//!
//! The attribute names a Rust field; its name in the JSON is serde's affair (`rename`, `flatten`, `into`, code of the
//! user's), and that of a field of a field is in another type. So it is not read from attributes but tried.

use serde_json::Value;

use super::sample::{self, Which};
use crate::job::Job;

const REMEDY: &str = "name its place by `.key(\"/…\")`, or export no key by `.without_key()`";

/// The JSON Pointer of the key; `None` when the key of all payloads is null.
pub(super) fn pointer<J: Job>(schema: &Value) -> Result<Option<String>, String> {
    let mut trouble = None;
    // Optional members only where the key is one: each may be of a type that takes less than its schema says.
    for optional in [false, true] {
        match places::<J>(schema, optional) {
            Ok(None) => {}
            Ok(Some(places)) => match places.as_slice() {
                [place] => return Ok(Some(place.clone())),
                [] => trouble = Some("no member of the payload is the record key".to_owned()),
                [one, other, ..] => trouble = Some(format!("the record key may be `{one}` or `{other}`")),
            },
            Err(reason) => trouble = Some(format!("the place of the record key cannot be found: {reason}")),
        }
    }
    match trouble {
        None => Ok(None),
        Some(trouble) => Err(format!("{trouble}; {REMEDY}")),
    }
}

/// The places that hold the key in both payloads; `None` when the key of both is null.
fn places<J: Job>(schema: &Value, optional: bool) -> Result<Option<Vec<String>>, String> {
    let first = keyed_places::<J>(schema, optional, Which::First)?;
    let second = keyed_places::<J>(schema, optional, Which::Second)?;
    Ok(match (first, second) {
        (None, None) => None,
        (first, second) => {
            let second = second.unwrap_or_default();
            Some(first.unwrap_or_default().into_iter().filter(|place| second.contains(place)).collect())
        }
    })
}

fn keyed_places<J: Job>(schema: &Value, optional: bool, which: Which) -> Result<Option<Vec<String>>, String> {
    let payload = sample::payload(schema, optional, which).ok_or("no payload could be made from the schema")?;
    // From its text, as a consumer reads it.
    let job: J = serde_json::from_str(&payload.to_string())
        .map_err(|error| format!("the type takes less than its schema says ({error})"))?;
    let Some(key) = job.key() else { return Ok(None) };
    let mut places = Vec::new();
    collect(&payload, &key, &mut String::new(), &mut places);
    Ok(Some(places))
}

/// The places of the strings and integers whose text is the key. As deep as the payload, which [`sample`] bounds.
fn collect(value: &Value, key: &[u8], pointer: &mut String, places: &mut Vec<String>) {
    let mut descend = |name: &str, value: &Value| {
        let len = pointer.len();
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        collect(value, key, pointer, places);
        pointer.truncate(len);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| descend(name, value)),
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(index, value)| descend(&index.to_string(), value));
        }
        Value::String(text) if text.as_bytes() == key => places.push(pointer.clone()),
        Value::Number(number) if number.to_string().as_bytes() == key => places.push(pointer.clone()),
        _ => {}
    }
}
