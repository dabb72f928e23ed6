//! What a record that waited becomes: the same bytes, for its work topic (contract section 4).

use crate::{
    headers,
    kafka::OutgoingRecord,
    record::{Record, TopicPartition},
    retry_topics::is_topic_name,
    retry_topics::work_topic_of,
};

/// The record as it is written to its work topic; the value is not looked into.
pub(super) fn next_hop(record: &Record<'_>, lies_on: &TopicPartition) -> OutgoingRecord {
    let named = record.headers.get_str(headers::ORIGINAL_TOPIC).filter(|name| !headers::is_blank(name));
    let target = target(named, &lies_on.topic);
    if let Some(named) = named.filter(|named| *named != target) {
        tracing::warn!(at = %lies_on, offset = record.offset, named, target, "no work topic in `bq-original-topic`");
    }
    let value = record.value.map(<[u8]>::to_vec);
    OutgoingRecord::next_hop(record, target, value, &[headers::DELAY, headers::ORIGINAL_TOPIC])
}

/// The topic that the header names. Without one, or where that cannot be (no topic can have the name, or it is the
/// retry topic itself), the one in the name of the retry topic.
fn target<'a>(named: Option<&'a str>, retry_topic: &'a str) -> &'a str {
    match named {
        Some(named) if is_topic_name(named) && named != retry_topic => named,
        _ => work_topic_of(retry_topic).unwrap_or(retry_topic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Batch;

    fn hop(headers: &[(&[u8], Option<&[u8]>)]) -> OutgoingRecord {
        let mut batch = Batch::with_capacity(0, 0);
        batch.push(3, None, Some(b""), None, |writer| {
            for (name, value) in headers {
                writer.push(name, *value);
            }
        });
        let lies_on = TopicPartition { topic: "orders.retry.1".into(), partition: 0 };
        next_hop(&batch.get(0).unwrap(), &lies_on)
    }

    #[test]
    fn the_header_names_the_topic_and_without_a_usable_one_the_retry_topic_does() {
        let original = headers::ORIGINAL_TOPIC.as_bytes();
        let to = |values: &[Option<&[u8]>]| {
            let headers: Vec<_> = values.iter().map(|value| (original, *value)).collect();
            hop(&headers).topic().to_owned()
        };
        assert_eq!(to(&[Some(b"billing")]), "billing");
        assert_eq!(to(&[Some(b"a"), Some(b"b")]), "b");
        assert_eq!(to(&[Some(b"orders.retry.2")]), "orders.retry.2");
        let unusable: [&[Option<&[u8]>]; 10] = [
            &[],
            &[None],
            &[Some(b"")],
            &[Some(b" \t\x0b")],
            &[Some(b"\xff")],
            &[Some(b"a"), None],
            &[Some(b"a"), Some(b"\xff")],
            &[Some(b"orders.retry.1")],
            &[Some(b"no topic")],
            &[Some(b"a\0b")],
        ];
        for values in unusable {
            assert_eq!(to(values), "orders", "{values:?}");
        }
    }

    #[test]
    fn all_but_the_two_headers_of_the_retry_topic_travel_in_their_order() {
        let hop = hop(&[
            (b"a", Some(b"1")),
            (b"bq-delay", Some(b"5000")),
            (b"\xff\xfe", None),
            (b"bq-original-topic", Some(b"billing")),
            (b"a", Some(b"")),
            (b"bq-delay", None),
            (b"BQ-Delay", Some(b"x")),
        ]);
        let expected: [(&[u8], Option<&[u8]>); 4] =
            [(b"a", Some(b"1")), (b"\xff\xfe", None), (b"a", Some(b"")), (b"BQ-Delay", Some(b"x"))];
        assert_eq!(hop.headers(), expected);
        assert_eq!((hop.key(), hop.value()), (Some(&b""[..]), None));
    }
}
