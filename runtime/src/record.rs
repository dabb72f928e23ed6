//! Kafka records as this crate holds them: the records of one partition, copied into one buffer.

use std::{fmt, sync::Arc};

/// A topic and a partition of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition's number, from 0.
    pub partition: i32,
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.topic, self.partition)
    }
}

/// Consecutive records of one partition, in order.
pub(crate) struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// When it was handed over, in Unix milliseconds.
    pub(crate) arrived: i64,
}

struct Entry {
    offset: i64,
    timestamp: Option<i64>,
    key: Span,
    value: Span,
    headers: Span,
}

/// A range of the buffer; null is not the same as empty.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    len: u32,
}

const NULL: u32 = u32::MAX;

impl Span {
    fn of<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if self.len == NULL {
            return None;
        }
        bytes.get(self.start as usize..self.start as usize + self.len as usize)
    }
}

impl Batch {
    pub(crate) fn with_capacity(bytes: usize, records: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), entries: Vec::with_capacity(records), arrived: 0 }
    }

    /// A copy of one record.
    pub(crate) fn of(record: &Record<'_>) -> Self {
        let Record { offset, timestamp, key, value, headers } = *record;
        let mut batch = Self::with_capacity(record.size(), 1);
        batch.push(offset, timestamp, key, value, |writer| {
            headers.into_iter().for_each(|(name, value)| writer.push(name, value));
        });
        batch
    }

    /// Copies a record in; `headers` is called once to add its headers.
    pub(crate) fn push(
        &mut self,
        offset: i64,
        timestamp: Option<i64>,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl FnOnce(&mut HeaderWriter<'_>),
    ) {
        let key = self.copy(key);
        let value = self.copy(value);
        let start = length(&self.bytes);
        headers(&mut HeaderWriter { bytes: &mut self.bytes });
        let headers = Span { start, len: length(&self.bytes) - start };
        self.entries.push(Entry { offset, timestamp, key, value, headers });
    }

    fn copy(&mut self, bytes: Option<&[u8]>) -> Span {
        let start = length(&self.bytes);
        match bytes {
            None => Span { start, len: NULL },
            Some(bytes) => {
                self.bytes.extend_from_slice(bytes);
                Span { start, len: length(bytes) }
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes that the records take.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The record at this offset.
    pub(crate) fn at(&self, offset: i64) -> Option<Record<'_>> {
        self.get(self.entries.binary_search_by_key(&offset, |entry| entry.offset).ok()?)
    }

    pub(crate) fn get(&self, index: usize) -> Option<Record<'_>> {
        let entry = self.entries.get(index)?;
        Some(Record {
            offset: entry.offset,
            timestamp: entry.timestamp,
            key: entry.key.of(&self.bytes),
            value: entry.value.of(&self.bytes),
            headers: Headers { bytes: entry.headers.of(&self.bytes).unwrap_or_default() },
        })
    }
}

/// A batch is flushed long before its buffer reaches the 4 GiB that a span can address.
#[allow(clippy::cast_possible_truncation)]
fn length(bytes: &[u8]) -> u32 {
    bytes.len() as u32
}

/// Adds headers to the record that is being copied.
pub(crate) struct HeaderWriter<'a> {
    bytes: &'a mut Vec<u8>,
}

impl HeaderWriter<'_> {
    pub(crate) fn push(&mut self, name: &[u8], value: Option<&[u8]>) {
        self.bytes.extend_from_slice(&length(name).to_le_bytes());
        self.bytes.extend_from_slice(&value.map_or(NULL, length).to_le_bytes());
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }
}

/// One record of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) offset: i64,
    /// Unix milliseconds, as the broker gave it; `None` when the record has none.
    pub(crate) timestamp: Option<i64>,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) headers: Headers<'a>,
}

impl Record<'_> {
    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        self.key.map_or(0, <[u8]>::len) + self.value.map_or(0, <[u8]>::len) + self.headers.bytes.len()
    }
}

/// The headers of a record, in order; names may repeat, and neither names nor values need to be UTF-8.
#[derive(Clone, Copy, Default)]
pub struct Headers<'a> {
    bytes: &'a [u8],
}

impl<'a> Headers<'a> {
    /// The headers in order: name, and value or null.
    #[must_use]
    pub fn iter(&self) -> HeaderIter<'a> {
        HeaderIter { bytes: self.bytes }
    }

    /// The value of the last header of this name; `None` when it is absent or null.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.iter().filter(|(other, _)| *other == name.as_bytes()).last()?.1
    }

    /// The value of the last header of this name as text; `None` when it is absent, null or not UTF-8.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(self.get(name)?).ok()
    }
}

impl<'a> IntoIterator for Headers<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);
    type IntoIter = HeaderIter<'a>;

    fn into_iter(self) -> HeaderIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        f.debug_list().entries(self.iter().map(|(name, value)| (text(name), value.map(text)))).finish()
    }
}

/// Iterates over the headers of a record.
#[derive(Clone, Debug)]
pub struct HeaderIter<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for HeaderIter<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name_len, rest) = self.bytes.split_first_chunk::<4>()?;
        let (value_len, rest) = rest.split_first_chunk::<4>()?;
        let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*name_len) as usize)?;
        let (value, rest) = match u32::from_le_bytes(*value_len) {
            NULL => (None, rest),
            len => rest.split_at_checked(len as usize).map(|(value, rest)| (Some(value), rest))?,
        };
        self.bytes = rest;
        Some((name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_copied() {
        let mut batch = Batch::with_capacity(0, 0);
        batch.push(7, Some(1000), None, Some(b""), |_| {});
        batch.push(9, None, Some(b""), None, |headers| {
            headers.push(b"a", Some(b"1"));
            headers.push(b"\xff\xfe", None);
            headers.push(b"a", Some(b""));
        });
        assert_eq!(batch.len(), 2);

        let first = batch.get(0).unwrap();
        assert_eq!((first.offset, first.timestamp, first.key, first.value), (7, Some(1000), None, Some(&b""[..])));
        assert_eq!(first.headers.iter().count(), 0);

        let second = batch.get(1).unwrap();
        assert_eq!((second.offset, second.timestamp, second.key, second.value), (9, None, Some(&b""[..]), None));
        let headers: Vec<_> = second.headers.iter().collect();
        assert_eq!(headers, [(&b"a"[..], Some(&b"1"[..])), (&b"\xff\xfe"[..], None), (&b"a"[..], Some(&b""[..]))]);
        assert_eq!(second.headers.get("a"), Some(&b""[..]));
        assert_eq!(second.headers.get("b"), None);
        assert!(batch.get(2).is_none());

        let copy = Batch::of(&second);
        let copied = copy.get(0).unwrap();
        assert_eq!((copied.offset, copied.timestamp, copied.key, copied.value), (9, None, Some(&b""[..]), None));
        assert_eq!(copied.headers.iter().collect::<Vec<_>>(), headers);
    }
}
