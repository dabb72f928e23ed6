//! Keeps missing, null and present members apart in generated payloads.
//!
//! Serde takes a missing member and a null one for the same `None`. A schema does not: a member may have to be there
//! and be null, or be left out but never null. Generated fields name one of these functions in `deserialize_with`, which
//! also makes serde insist on a member that has no `default`.

use serde::{Deserialize, Deserializer};

/// A required member that may be null: `Option<T>`, where a missing member is an error.
///
/// # Errors
///
/// The member is neither null nor a `T`.
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// An optional member that is never null: `Option<T>`, where `None` means missing (with serde's `default`).
///
/// # Errors
///
/// The member is no `T`; null is none, unless `T` itself takes it.
pub fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// An optional member that may be null: `Option<Option<T>>`, where `None` means missing (with serde's `default`) and
/// `Some(None)` means null.
///
/// # Errors
///
/// The member is neither null nor a `T`.
pub fn maybe_nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
