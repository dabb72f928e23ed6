//! The golden files compile under the strictest lints that a user may have, and behave as their schemas and models say.

#![cfg(feature = "schema")]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic, rust_2018_idioms)]

mod formats;
mod models;
mod schemas;
mod told_apart;

pub use formats::Timestamp;

/// A crate that re-exports the runtime under a name of its own.
pub mod facade {
    pub use babelqueue::*;
}

/// Each golden file in a module, as `include_contracts!` would include it.
macro_rules! contracts {
    ($($name:ident)*) => {
        $(
            /// Generated.
            pub mod $name {
                include!(concat!("../golden/", stringify!($name), ".rs"));
            }
        )*
    };
}

contracts! {
    derives docs empty facade_json formats_chrono formats_time forms forms_json names orders presence references rules
    rules_json unions user
}
