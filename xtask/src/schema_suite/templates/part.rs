//! Generated code, a module for each group.
// As strict as users may be.
#![warn(missing_docs, unreachable_pub, unused_qualifications, rust_2018_idioms)]

use babelqueue::private::serde::{Serialize, de::DeserializeOwned};

/// What a payload type makes of a message: the outcome, and a text.
pub type Answer = fn(&str) -> (&'static str, String);

fn answer<T: DeserializeOwned + Serialize>(message: &str) -> (&'static str, String) {
    match serde_json::from_str::<T>(message) {
        Err(error) => ("refused", error.to_string()),
        Ok(payload) => match serde_json::to_string(&payload) {
            Err(error) => ("unencodable", error.to_string()),
            Ok(text) => ("encoded", text),
        },
    }
}

