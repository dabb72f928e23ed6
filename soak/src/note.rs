//! What is published and handled.

use babelqueue::babel_job;
use serde::{Deserialize, Serialize};

/// A record of the run.
#[babel_job("urn:babel:soak:note", key = customer)]
#[derive(Serialize, Deserialize)]
pub(crate) struct Note {
    /// Each number from 0 on is published once.
    pub(crate) number: u64,
    pub(crate) customer: u64,
    /// Of random length.
    pub(crate) text: String,
}
