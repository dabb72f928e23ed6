//! Build-script generator of BabelQueue.

pub mod topic;
pub mod urn;

#[cfg(feature = "schema")]
mod builder;
#[cfg(feature = "schema")]
mod emit;
#[cfg(feature = "schema")]
mod error;
#[cfg(feature = "schema")]
mod json;
#[cfg(feature = "schema")]
mod keywords;
#[cfg(feature = "schema")]
mod load;
#[cfg(feature = "schema")]
mod lower;
#[cfg(feature = "schema")]
mod model;
#[cfg(feature = "schema")]
mod names;
#[cfg(feature = "schema")]
mod pointer;
#[cfg(feature = "schema")]
mod resolve;

#[cfg(feature = "schema")]
pub use builder::{Config, configure};
#[cfg(feature = "schema")]
pub use error::Error;
