//! Build-script generator of BabelQueue.

pub mod urn;
