//! The envelope (contract section 1): bytes in, bytes out; no Kafka.
//!
//! [`make`] writes one, [`decode`] reads one, [`with_attempts`], [`with_dead_letter`] and [`redriven`] change one by bytes.
//! [`poison_dead_letter`] keeps what is none.

mod dead_letter;
mod decode;
mod layout;
mod make;
mod nesting;
mod poison;
mod scalar;
mod scan;
pub(crate) mod splice;

pub use dead_letter::{DeadLetter, DeadLetterBlock};
pub(crate) use decode::decode_with_layout;
pub use decode::{Envelope, Verdict, decode};
pub(crate) use make::LANG;
pub use make::{Draft, EncodeError, Encoded, make};
pub use poison::poison_dead_letter;
pub use splice::{redriven, with_attempts, with_dead_letter};

/// Why a record value is not an envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Poison {
    /// The record has no value.
    #[error("the record has no value (a tombstone)")]
    NoValue,
    /// Bytes that are not UTF-8.
    #[error("byte {offset} is not UTF-8")]
    NotUtf8 {
        /// Bytes before it.
        offset: usize,
    },
    /// Not JSON.
    #[error("not JSON: expected {expected} at byte {offset}")]
    Syntax {
        /// Bytes before the fault.
        offset: usize,
        /// What would have been right there.
        expected: &'static str,
    },
    /// Something after the JSON value.
    #[error("trailing data at byte {offset}")]
    TrailingData {
        /// Bytes before it.
        offset: usize,
    },
    /// The root is neither an object nor null.
    #[error("the root is not an object")]
    Root,
    /// A known member of the wrong type.
    #[error("`{pointer}` is not {expected}")]
    Member {
        /// The JSON pointer of the member.
        pointer: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
    /// A number in the payload that no finite double can hold.
    #[error("the number at byte {offset} is not a finite double")]
    NotFinite {
        /// Bytes before it.
        offset: usize,
    },
}

/// Something that was ignored while decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A member that must not be there; it is dropped.
    #[error("`{pointer}` is not part of the contract and is dropped")]
    Forbidden {
        /// The JSON pointer of the member.
        pointer: &'static str,
    },
    /// `job` is no string; `urn` counts instead.
    #[error("`/job` is not a string and is ignored")]
    JobIsNoString,
}
