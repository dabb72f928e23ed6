//! The only unsafe code: what the client library's safe interface lacks.
#![allow(unsafe_code)]

use std::{ffi::CStr, ptr};

use rdkafka::{bindings, message::BorrowedMessage, types::RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR as OK};

use crate::record::HeaderWriter;

/// Copies the headers of a message. The safe interface panics on a name that is not UTF-8.
pub(super) fn copy_headers(message: &BorrowedMessage<'_>, writer: &mut HeaderWriter<'_>) {
    let mut headers = ptr::null_mut();
    // SAFETY: the message is alive while it is borrowed, and so are its headers, which it owns.
    if unsafe { bindings::rd_kafka_message_headers(message.ptr(), &mut headers) } != OK {
        return;
    }
    for index in 0.. {
        let (mut name, mut value, mut size) = (ptr::null(), ptr::null(), 0);
        // SAFETY: `headers` is alive (above); the three places are valid to be written.
        if unsafe { bindings::rd_kafka_header_get_all(headers, index, &mut name, &mut value, &mut size) } != OK {
            return;
        }
        // SAFETY: on success `name` is a C string, and `value` is null or `size` bytes; both live as long as `headers`.
        let (name, value) = unsafe {
            let value = (!value.is_null()).then(|| std::slice::from_raw_parts(value.cast::<u8>(), size));
            (CStr::from_ptr(name).to_bytes(), value)
        };
        writer.push(name, value);
    }
}

/// Lets the groups of an embedded broker start at once instead of three seconds after their first member.
#[cfg(feature = "testing")]
pub(super) fn start_groups_at_once<C: rdkafka::ClientContext>(client: &rdkafka::client::Client<C>) {
    // SAFETY: the client is alive while it is borrowed, and so is its cluster, which it owns.
    unsafe {
        let cluster = bindings::rd_kafka_handle_mock_cluster(client.native_ptr());
        if !cluster.is_null() {
            bindings::rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 0);
        }
    }
}
