//! The generator on whole schema folders.

#![cfg(feature = "schema")]

mod build_script;
mod collection;
mod defaults;
mod folder;
mod golden;
mod output;
mod refused_registries;
mod refused_schemas;
mod suites;
