//! The evolution gate on whole schema folders.

#![cfg(feature = "schema")]

mod contract;
mod git;
mod keywords;
mod places;
mod random;
mod references;
mod registries;
mod soundness;
mod states;
mod unions;
