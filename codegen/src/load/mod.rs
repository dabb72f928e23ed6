//! Reads the registry and the schema files: the only module that touches the schema folder.

pub(crate) mod git;
mod path;
mod registry;
mod source;

pub(crate) use registry::{Entry, read_registry};
pub(crate) use source::{Document, Failure, Sources};
