//! Code first: schemas and registry of payload types, and what other code makes of them.

mod files;
mod keys;
mod round_trip;
mod types;
