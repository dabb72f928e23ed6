//! The contract of a payload type: its URN, its topic and its record key.

use std::borrow::Cow;

use serde::{Serialize, de::DeserializeOwned};

/// A payload with an identity on the wire (contract sections 1 and 7).
///
/// Derived by `#[babel_job]`; generated contracts derive it too.
///
/// ```
/// use babelqueue::{Job, babel_job};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created", key = order_id)]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
/// }
///
/// assert_eq!(OrderCreated::TOPIC, "orders");
/// assert_eq!(OrderCreated { order_id: 1042 }.key().as_deref(), Some(&b"1042"[..]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a BabelQueue job",
    label = "this type has no URN",
    note = "put `#[babel_job(\"urn:babel:<context>:<name>\")]` above `#[derive(Serialize, Deserialize)]` on the type"
)]
pub trait Job: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The identity on the wire, the envelope's `job`.
    const URN: &'static str;
    /// The Kafka topic that it is published to.
    const TOPIC: &'static str;
    /// Whether [`key`](Self::key) may be other than the null key: for the attribute macro to say that it is not.
    #[doc(hidden)]
    const HAS_KEY: bool = true;

    /// The record key, or `None` for a null key.
    ///
    /// Records with one key lie on one partition, whatever the language of their producer.
    fn key(&self) -> Option<Cow<'_, [u8]>> {
        None
    }
}

/// A value that can be a record key: its text in UTF-8.
///
/// Strings, integers and UUIDs are keys; `None` is the null key. Implement it for your own identifier types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a record key",
    label = "not a string, an integer or a UUID",
    note = "choose another field, or implement `babelqueue::RecordKey` for `{Self}`"
)]
pub trait RecordKey {
    /// The bytes of the key, or `None` for a null key.
    fn record_key(&self) -> Option<Cow<'_, [u8]>>;
}

impl RecordKey for str {
    fn record_key(&self) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.as_bytes()))
    }
}

impl RecordKey for String {
    fn record_key(&self) -> Option<Cow<'_, [u8]>> {
        self.as_str().record_key()
    }
}

impl<K: RecordKey> RecordKey for Option<K> {
    fn record_key(&self) -> Option<Cow<'_, [u8]>> {
        self.as_ref()?.record_key()
    }
}

impl<K: RecordKey + ?Sized> RecordKey for Box<K> {
    fn record_key(&self) -> Option<Cow<'_, [u8]>> {
        self.as_ref().record_key()
    }
}

macro_rules! displayed_keys {
    ($($key:ty),*) => {$(
        impl RecordKey for $key {
            fn record_key(&self) -> Option<Cow<'_, [u8]>> {
                Some(Cow::Owned(self.to_string().into_bytes()))
            }
        }
    )*};
}

displayed_keys!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, uuid::Uuid);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_text_of_its_value() {
        assert_eq!("TT-1".record_key().as_deref(), Some(&b"TT-1"[..]));
        assert_eq!((-7_i64).record_key().as_deref(), Some(&b"-7"[..]));
        assert_eq!(Some(String::new()).record_key().as_deref(), Some(&b""[..]));
        assert_eq!(None::<u32>.record_key(), None);
        let id = uuid::Uuid::from_u128(1);
        assert_eq!(id.record_key().as_deref(), Some(&b"00000000-0000-0000-0000-000000000001"[..]));
    }
}
