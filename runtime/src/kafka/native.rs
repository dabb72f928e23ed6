//! The only unsafe code: what the client library's safe interface lacks.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString},
    ptr,
};

use rdkafka::{
    ClientContext, bindings,
    client::Client,
    message::{BorrowedHeaders, BorrowedMessage, OwnedHeaders},
    types::{RDKafkaHeaders, RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR as OK},
};

use crate::record::{HeaderWriter, TopicPartition};

/// Copies the headers of a message. The safe interface panics on a name that is not UTF-8.
pub(super) fn copy_headers(message: &BorrowedMessage<'_>, writer: &mut HeaderWriter<'_>) {
    let mut headers = ptr::null_mut();
    // SAFETY: the message is alive while it is borrowed.
    if unsafe { bindings::rd_kafka_message_headers(message.ptr(), &mut headers) } == OK {
        // SAFETY: the message owns its headers.
        unsafe { each(headers, |name, value| writer.push(name, value)) };
    }
}

/// The headers of an outgoing record, in order.
pub(super) fn headers(headers: &OwnedHeaders) -> Vec<(&[u8], Option<&[u8]>)> {
    let mut all = Vec::new();
    // SAFETY: the headers are alive while they are borrowed.
    unsafe { each(native(headers), |name, value| all.push((name, value))) };
    all
}

/// Adds a header to an outgoing record; the safe interface takes only names that are UTF-8.
pub(super) fn push_header(headers: &mut OwnedHeaders, name: &[u8], value: Option<&[u8]>) {
    let (bytes, len) = value.map_or((ptr::null(), 0), |value| (value.as_ptr(), value.len()));
    // SAFETY: the headers are alive and borrowed mutably; name and value are copied. A slice is never longer than isize.
    unsafe {
        bindings::rd_kafka_header_add(
            native(headers),
            name.as_ptr().cast(),
            name.len().cast_signed(),
            bytes.cast(),
            len.cast_signed(),
        );
    }
}

/// A reference to `BorrowedHeaders` is the client library's own pointer.
fn native(headers: &OwnedHeaders) -> *mut RDKafkaHeaders {
    ptr::from_ref::<BorrowedHeaders>(headers.as_borrowed()).cast_mut().cast()
}

/// # Safety
///
/// `headers` has to be alive as long as `'a`.
unsafe fn each<'a>(headers: *mut RDKafkaHeaders, mut visit: impl FnMut(&'a [u8], Option<&'a [u8]>)) {
    for index in 0.. {
        let (mut name, mut value, mut size) = (ptr::null(), ptr::null(), 0);
        // SAFETY: `headers` is alive (the caller's duty); the three places are valid to be written.
        if unsafe { bindings::rd_kafka_header_get_all(headers, index, &mut name, &mut value, &mut size) } != OK {
            return;
        }
        // SAFETY: on success `name` is a C string, and `value` is null or `size` bytes; both live as long as `headers`.
        unsafe {
            let value = (!value.is_null()).then(|| std::slice::from_raw_parts(value.cast::<u8>(), size));
            visit(CStr::from_ptr(name).to_bytes(), value);
        }
    }
}

/// The offset behind the last record of a partition, as the last fetch has told.
pub(super) fn end_offset<C: ClientContext>(client: &Client<C>, at: &TopicPartition) -> Option<i64> {
    let topic = CString::new(&*at.topic).ok()?;
    let (mut low, mut high) = (-1, -1);
    // SAFETY: the client is alive while it is borrowed; the topic is a C string; the two places are valid to be written.
    let answer = unsafe {
        bindings::rd_kafka_get_watermark_offsets(client.native_ptr(), topic.as_ptr(), at.partition, &mut low, &mut high)
    };
    (answer == OK && high >= 0).then_some(high)
}

/// Lets the groups of an embedded broker start at once instead of three seconds after their first member.
#[cfg(feature = "testing")]
pub(super) fn start_groups_at_once<C: ClientContext>(client: &Client<C>) {
    // SAFETY: the client is alive while it is borrowed, and so is its cluster, which it owns.
    unsafe {
        let cluster = bindings::rd_kafka_handle_mock_cluster(client.native_ptr());
        if !cluster.is_null() {
            bindings::rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 0);
        }
    }
}
