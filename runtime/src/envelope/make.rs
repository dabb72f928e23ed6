//! From a payload to the bytes of an envelope, in one pass into one buffer (contract section 1).

use std::io::Write as _;

use serde::Serialize;
use uuid::Uuid;

use super::layout::FORBIDDEN_META;
use crate::{
    headers::{is_ascii_space, is_blank},
    json::Finite,
    time::now_ms,
};

pub(crate) const LANG: &str = "rust";
const CORE: [&str; 6] = ["job", "trace_id", "data", "meta", "attempts", "dead_letter"];
const FORBIDDEN: [&str; 2] = ["timestamp", "urn"];
const CORE_META: [&str; 5] = ["id", "queue", "lang", "schema_version", "created_at"];

/// Starts an envelope for `urn`, to be published to `queue` (the work topic). [`Draft::encode`] checks the URN.
///
/// ```
/// use babelqueue::envelope::{Verdict, decode, make};
///
/// let order = serde_json::json!({"order_id": 1042});
/// let message = make("urn:babel:orders:created", "orders").encode(&order)?;
/// let Verdict::Ok(envelope) = decode(&message.body) else { panic!() };
/// assert_eq!(envelope.message_id(), Some(message.id.to_string().as_str()));
/// # Ok::<(), babelqueue::EncodeError>(())
/// ```
#[must_use]
pub fn make<'a>(urn: &'a str, queue: &'a str) -> Draft<'a> {
    Draft { urn, queue, trace_id: None, created_at: None, meta: Vec::new(), members: Vec::new() }
}

/// An envelope that is being made.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    urn: &'a str,
    queue: &'a str,
    trace_id: Option<&'a str>,
    created_at: Option<i64>,
    meta: Vec<(&'a str, Result<String, String>)>,
    members: Vec<(&'a str, Result<String, String>)>,
}

/// An encoded envelope, and what it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes of the record value.
    pub body: Vec<u8>,
    /// `meta.id`.
    pub id: Uuid,
    /// `trace_id`.
    pub trace_id: String,
    /// `meta.created_at`, Unix milliseconds.
    pub created_at: i64,
}

/// Why a payload did not become an envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The URN is empty or only whitespace.
    #[error("the URN is blank")]
    BlankUrn,
    /// The payload does not serialize; it holds, for example, NaN.
    #[error("the payload does not serialize: {0}")]
    Payload(String),
    /// The payload is no JSON object.
    #[error("the payload serializes to {0}, but `data` has to be a JSON object: use a struct with named fields")]
    NotAnObject(&'static str),
    /// An added member that the contract forbids or owns, or that was added twice.
    #[error("`{pointer}` cannot be added: {reason}")]
    Member {
        /// The JSON pointer of the member.
        pointer: String,
        /// Why not.
        reason: String,
    },
}

impl<'a> Draft<'a> {
    /// Continues a trace. Surrounding ASCII whitespace is trimmed; a blank one is replaced by a new one.
    #[must_use]
    pub fn trace_id(mut self, trace_id: &'a str) -> Self {
        self.trace_id = Some(trace_id);
        self
    }

    /// Another time than the present one, in Unix milliseconds.
    pub(crate) fn created_at(mut self, created_at: i64) -> Self {
        self.created_at = Some(created_at);
        self
    }

    /// Adds an entry to `meta`; `ext` with one block a vendor is the recommended place.
    #[must_use]
    pub fn meta(mut self, key: &'a str, value: &(impl Serialize + ?Sized)) -> Self {
        self.meta.push((key, to_json(value)));
        self
    }

    /// Adds a top-level member that the contract does not know, such as one that a relayed message carried.
    #[must_use]
    pub fn member(mut self, name: &'a str, value: &(impl Serialize + ?Sized)) -> Self {
        self.members.push((name, to_json(value)));
        self
    }

    /// Encodes the envelope with this payload, with a new `meta.id`, the present time and `attempts` 0.
    ///
    /// # Errors
    ///
    /// The URN is blank, the payload does not serialize to a JSON object, or an added member is not allowed.
    pub fn encode(&self, data: &(impl Serialize + ?Sized)) -> Result<Encoded, EncodeError> {
        let urn = trim(self.urn);
        if urn.is_empty() {
            return Err(EncodeError::BlankUrn);
        }
        let trace_id = match self.trace_id.map(trim) {
            Some(id) if !is_blank(id) => id.to_owned(),
            _ => Uuid::new_v4().to_string(),
        };
        let id = Uuid::new_v4();
        let created_at = self.created_at.unwrap_or_else(now_ms);

        let mut body = Vec::with_capacity(512);
        body.extend_from_slice(b"{\"job\":");
        write_str(&mut body, urn);
        body.extend_from_slice(b",\"trace_id\":");
        write_str(&mut body, &trace_id);
        body.extend_from_slice(b",\"data\":");
        write_object(&mut body, data)?;
        body.extend_from_slice(b",\"meta\":{\"id\":\"");
        body.extend_from_slice(id.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
        body.extend_from_slice(b"\",\"queue\":");
        write_str(&mut body, self.queue);
        // Writing to a vector does not fail.
        let _ = write!(body, ",\"lang\":\"{LANG}\",\"schema_version\":1,\"created_at\":{created_at}");
        write_members(&mut body, &self.meta, "/meta/", &CORE_META, &FORBIDDEN_META)?;
        body.extend_from_slice(b"},\"attempts\":0");
        write_members(&mut body, &self.members, "/", &CORE, &FORBIDDEN)?;
        body.push(b'}');
        Ok(Encoded { body, id, trace_id, created_at })
    }
}

fn write_object(body: &mut Vec<u8>, data: &(impl Serialize + ?Sized)) -> Result<(), EncodeError> {
    let start = body.len();
    data.serialize(Finite(&mut serde_json::Serializer::new(&mut *body)))
        .map_err(|error| EncodeError::Payload(error.to_string()))?;
    match body.get(start) {
        Some(b'{') => Ok(()),
        Some(b'[') => Err(EncodeError::NotAnObject("an array")),
        Some(b'"') => Err(EncodeError::NotAnObject("a string")),
        Some(b'n') => Err(EncodeError::NotAnObject("null")),
        Some(b't' | b'f') => Err(EncodeError::NotAnObject("a boolean")),
        _ => Err(EncodeError::NotAnObject("a number")),
    }
}

fn write_members(
    body: &mut Vec<u8>,
    members: &[(&str, Result<String, String>)],
    parent: &str,
    core: &[&str],
    forbidden: &[&str],
) -> Result<(), EncodeError> {
    for (index, (name, value)) in members.iter().enumerate() {
        let refuse = |reason: &str| {
            let name = name.replace('~', "~0").replace('/', "~1");
            Err(EncodeError::Member { pointer: format!("{parent}{name}"), reason: reason.to_owned() })
        };
        if core.contains(name) {
            return refuse("the contract owns it");
        }
        if forbidden.contains(name) {
            return refuse("the contract forbids it");
        }
        if members.iter().take(index).any(|(earlier, _)| earlier == name) {
            return refuse("it was added twice");
        }
        body.push(b',');
        write_str(body, name);
        body.push(b':');
        match value {
            Ok(json) => body.extend_from_slice(json.as_bytes()),
            Err(error) => return refuse(error),
        }
    }
    Ok(())
}

fn write_str(body: &mut Vec<u8>, text: &str) {
    // A string always serializes, and writing to a vector does not fail.
    let _ = serde_json::to_writer(body, text);
}

fn to_json(value: &(impl Serialize + ?Sized)) -> Result<String, String> {
    let mut json = Vec::new();
    value
        .serialize(Finite(&mut serde_json::Serializer::new(&mut json)))
        .map_err(|error| error.to_string())
        .and_then(|()| String::from_utf8(json).map_err(|error| error.to_string()))
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| u8::try_from(c).is_ok_and(is_ascii_space))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_stand_in_the_order_of_the_contract_and_nothing_is_escaped_without_need() {
        let order = json!({"path": "a/b", "name": "Ünïcødé ☕"});
        let made = make(" urn:x\t", "orders").trace_id("t").meta("ext", &json!({"acme": 1})).member("extra", &2);
        let Encoded { body, id, created_at, .. } = made.encode(&order).unwrap();
        assert_eq!(
            String::from_utf8(body).unwrap(),
            format!(
                r#"{{"job":"urn:x","trace_id":"t","data":{},"meta":{{"id":"{id}","queue":"orders","lang":"rust","schema_version":1,"created_at":{created_at},"ext":{{"acme":1}}}},"attempts":0,"extra":2}}"#,
                r#"{"name":"Ünïcødé ☕","path":"a/b"}"#
            )
        );
        assert_eq!(id.get_version_num(), 4);
    }

    #[test]
    fn a_blank_trace_id_is_replaced_by_a_uuid() {
        for trace_id in ["", " \t\x0b"] {
            let made = make("urn:x", "q").trace_id(trace_id).encode(&json!({})).unwrap();
            assert!(made.trace_id.parse::<Uuid>().is_ok());
        }
    }

    #[test]
    fn a_payload_that_is_no_object_is_an_error() {
        for payload in [json!([1]), json!("x"), json!(null), json!(true), json!(-1)] {
            assert!(matches!(make("urn:x", "q").encode(&payload), Err(EncodeError::NotAnObject(_))), "{payload}");
        }
        let nan = std::collections::HashMap::from([("ratio", f64::NAN)]);
        assert!(matches!(make("urn:x", "q").encode(&nan), Err(EncodeError::Payload(_))));
    }

    #[test]
    fn an_added_member_names_itself_when_it_is_refused() {
        let refused = |draft: Draft<'_>| match draft.encode(&json!({})) {
            Err(EncodeError::Member { pointer, .. }) => pointer,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(make("urn:x", "q").meta("queue", &1)), "/meta/queue");
        assert_eq!(refused(make("urn:x", "q").meta("ts", &1)), "/meta/ts");
        assert_eq!(refused(make("urn:x", "q").meta("a/b", &1).meta("a/b", &1)), "/meta/a~1b");
        assert_eq!(refused(make("urn:x", "q").member("urn", &1)), "/urn");
        assert_eq!(refused(make("urn:x", "q").member("data", &1)), "/data");
        assert_eq!(refused(make("urn:x", "q").meta("ratio", &f64::INFINITY)), "/meta/ratio");
    }

    #[test]
    fn a_float_of_a_payload_comes_back_exactly() {
        for ratio in [3.858592747908237e142, 0.1, f64::MIN_POSITIVE, f64::MAX] {
            let made = make("urn:x", "q").encode(&json!({"ratio": ratio})).unwrap();
            let crate::envelope::Verdict::Ok(envelope) = crate::envelope::decode(&made.body) else { panic!() };
            let data: std::collections::HashMap<String, f64> = serde_json::from_str(envelope.data().unwrap()).unwrap();
            assert_eq!(data["ratio"].to_bits(), ratio.to_bits());
        }
    }
}
