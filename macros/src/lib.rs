//! Attribute and registration macros of babelqueue; use them through the `babelqueue` crate.
