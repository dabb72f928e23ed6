//! Where a payload does not fit its type, and why.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::de::StrRead;
use serde_path_to_error::{Path, Segment, Track};

use super::nested::Pointers;

/// A deserializer that keeps track of where it is.
pub(super) type Tracked<'t, 'k, 'de> =
    serde_path_to_error::Deserializer<'t, 'k, &'t mut serde_json::Deserializer<StrRead<'de>>>;

/// Why a payload does not fit its type. Displays as `/items/0/quantity: below the minimum 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The JSON Pointer of the value; empty for the payload itself.
    pointer: String,
    reason: String,
}

/// Reads the payload `text`.
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    serde_json::from_str(text).map_err(|error| find::<T>(text, &error))
}

/// Reads the payload again, slower, to learn where it does not fit.
#[cold]
fn find<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Misfit {
    let _pointers = Pointers::new();
    match track(text, |tracked| T::deserialize(tracked)) {
        Err(misfit) => misfit,
        // An implementation that does not always say the same, or something behind the value.
        Ok(_) => Misfit { pointer: String::new(), reason: reason(error) },
    }
}

/// Reads `text` and says where it failed. A text inside it that failed has said so, too.
pub(super) fn track<'de, T>(
    text: &'de str,
    read: impl FnOnce(Tracked<'_, '_, 'de>) -> Result<T, serde_json::Error>,
) -> Result<T, Misfit> {
    let mut track = Track::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let outcome = read(serde_path_to_error::Deserializer::new(&mut deserializer, &mut track));
    outcome.map_err(|error| {
        let pointer = pointer(&track.path());
        let reason = reason(&error);
        match reason.strip_prefix('/').and_then(|inner| inner.split_once(": ")) {
            Some((inner, reason)) => Misfit { pointer: format!("{pointer}/{inner}"), reason: reason.to_owned() },
            None => Misfit { pointer, reason },
        }
    })
}

/// The message of an error, without line and column: those of a payload inside an envelope help nobody.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if message.ends_with(&place) {
        message.truncate(message.len() - place.len());
    }
    message
}

fn pointer(path: &Path) -> String {
    let token = |segment: &Segment| match segment {
        Segment::Seq { index } => index.to_string(),
        Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
        Segment::Enum { variant } => variant.replace('~', "~0").replace('/', "~1"),
        Segment::Unknown => "?".to_owned(),
    };
    path.iter().map(|segment| format!("/{}", token(segment))).collect()
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer.escape_debug())?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Misfit {}
