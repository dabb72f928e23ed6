//! What a hop does not own arrives byte for byte, whatever it is; and names of headers that no client library writes.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use babelqueue::{Delivery, HandlerError, Publisher, RetryTopics, routes};
use rdkafka::{Message as _, message::OwnedMessage};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Running, lying_on};
use crate::{
    Check,
    jobs::{Numbered, brokers, create_topic, kafka, unique},
};

pub(super) type Header<'a> = (&'a [u8], Option<&'a [u8]>);

/// Repeated, null, empty, not UTF-8; and stale ones of an earlier hop.
const HEADERS: [Header<'static>; 9] = [
    (b"tenant", Some(b"a")),
    (b"bq-delay", Some(b"1")),
    (b"\xff\xfe", Some(b"\x00\xff")),
    (b"tenant", None),
    (b"bq-attempts", Some(b"2")),
    (b"", Some(b"")),
    (b"tenant", Some(b"")),
    (b"bq-original-topic", Some(b"elsewhere")),
    (b"traceparent", Some(b"malformed")),
];

fn kept() -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let owned: [&[u8]; 3] = [b"bq-delay", b"bq-attempts", b"bq-original-topic"];
    let kept = HEADERS.iter().filter(|(name, _)| !owned.contains(name));
    kept.map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec))).collect()
}

/// An envelope in a spelling that no encoder of ours has.
fn body(attempts: u32) -> String {
    format!(
        r#"{{ "data":{{"number":1,"text":"s\u00fc\/\ud83d\ude00","n":1.50}}, "job":"urn:babel:live:numbered","x":1e2,"attempts":{attempts} , "meta":{{"ext":{{"v":18446744073709551616}}}} }}"#
    )
}

pub(crate) async fn what_is_not_the_hops_own_arrives_byte_for_byte() -> Check {
    let topic = unique("bytes");
    let (retry, dlq) = (format!("{topic}.retry.1"), format!("{topic}.dlq"));
    for topic in [&topic, &retry, &dlq] {
        create_topic(topic, 1, &[]).await?;
    }
    let keys: [Option<&[u8]>; 3] = [None, Some(b""), Some(b"\xff\x00")];
    let with = |attempts: &'static [u8]| {
        HEADERS.map(|(name, value)| if name == b"bq-attempts" { (name, Some(attempts)) } else { (name, value) })
    };
    for key in keys {
        write(&topic, key, Some(body(0).as_bytes()), &with(b"0"))?;
        write(&topic, key, Some(body(0).as_bytes()), &with(b"2"))?;
        write(&topic, key, None, &HEADERS)?;
        write(&topic, key, Some(b""), &HEADERS)?;
        write(&topic, key, Some(b"\xff"), &HEADERS)?;
    }
    let kafka = kafka()?;
    let tiers = RetryTopics::for_topic(&topic).tiers([Duration::from_secs(5)]);
    let mut running = Running::start(kafka.consumer(unique("group")), tiers);
    running.errors(15).await?;
    let (summary, _) = running.stop().await?;
    assert_eq!((summary.retried, summary.dead_lettered), (3, 12));

    let retries = lying_on(&retry)?;
    assert_eq!(retries.iter().map(|record| record.key()).collect::<Vec<_>>(), keys);
    for record in &retries {
        assert_eq!(record.payload(), Some(body(1).as_bytes()));
    }
    let dead = lying_on(&dlq)?;
    for (of_key, key) in dead.chunks(4).zip(keys) {
        assert!(of_key.iter().all(|record| record.key() == key));
        let whole = String::from_utf8(of_key[0].payload().ok_or("no value")?.to_vec())?;
        let (before, block) = whole.split_once(r#","dead_letter":"#).ok_or("no block")?;
        assert_eq!(format!("{before}{}", &block[block.find(r#""lang":"rust"}"#).ok_or("no end")? + 14..]), body(3));
        assert_eq!(of_key[1].payload(), None);
        assert!(of_key[2].payload().is_some_and(|value| value.starts_with(br#"{"raw":"","dead_letter":"#)));
        let not_utf8 = br#"{"raw":"/w==","raw_encoding":"base64","dead_letter":"#;
        assert!(of_key[3].payload().is_some_and(|value| value.starts_with(not_utf8)));
    }

    // Our own consumer tells names that are not UTF-8; of these records it handles those that are envelopes.
    for (topic, count, own) in [
        (&retry, 3, &[("bq-attempts", "1"), ("bq-delay", "5000"), ("bq-original-topic", &topic)][..]),
        (&dlq, 3, &[("bq-attempts", "3"), ("bq-original-topic", &topic)]),
    ] {
        let own = own.iter().map(|(name, value)| (name.as_bytes().to_vec(), Some(value.as_bytes().to_vec())));
        let expected: Vec<_> = kept().into_iter().chain(own).collect();
        for headers in headers_on(topic, count).await? {
            assert_eq!(headers, expected, "{topic}");
        }
    }
    Ok(())
}

/// Work, retry, work, dead letter, redrive, work; while another record waits on a tier that is far from due.
pub(crate) async fn a_record_comes_back_from_all_hops_byte_for_byte() -> Check {
    let topic = unique("journey");
    let tiers = RetryTopics::for_topic(&topic).tiers([300, 3_600_000].map(Duration::from_millis));
    let dlq = format!("{topic}.dlq");
    create_topic(&topic, 1, &[]).await?;
    kafka()?.ensure_topics(&tiers).await?;
    let kafka = kafka()?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&topic).retry_topics(tiers.clone());
    publisher.message(&Numbered::new(2)).delay(Duration::from_secs(1800)).await?;

    let keys: [Option<&[u8]>; 3] = [None, Some(b""), Some(b"\xff\x00")];
    let first = HEADERS.map(|(name, value)| (name, if name == b"bq-attempts" { Some(&b"0"[..]) } else { value }));
    for key in keys {
        write(&topic, key, Some(body(0).as_bytes()), &first)?;
        write(&topic, key, None, &first)?;
        write(&topic, key, Some(b""), &first)?;
    }
    let reinjector = kafka.reinjector([tiers.clone()]).group(unique("mover"));
    let mover = reinjector.handle();
    let moving = tokio::spawn(reinjector.run());
    let mut running = Running::start(kafka.consumer(unique("group")).max_tries(2), tiers);
    running.errors(12).await?;
    let (summary, _) = running.stop().await?;
    assert_eq!((summary.retried, summary.dead_lettered), (3, 9));
    mover.shutdown();
    assert_eq!(moving.await??.reinjected, 3, "the record that is far from due stays where it is");

    let report = kafka.redrive(&dlq).group(unique("redrive")).run().await?;
    assert_eq!((report.redriven, report.skipped()), (3, 6));
    let of = |record: &OwnedMessage| (record.key().map(<[u8]>::to_vec), record.payload().map(<[u8]>::to_vec));
    let with_key = |value: Option<&[u8]>| keys.map(|key| (key.map(<[u8]>::to_vec), value.map(<[u8]>::to_vec)));
    let on_work: Vec<_> = lying_on(&topic)?.iter().skip(9).map(of).collect();
    let moved = [with_key(Some(body(1).as_bytes())), with_key(Some(body(0).as_bytes()))].concat();
    assert_eq!(on_work, moved);
    // What is no envelope is put back as it is: null stays null.
    let put_back: Vec<_> = lying_on(&dlq)?.iter().skip(9).map(of).collect();
    assert_eq!(put_back.iter().filter(|(_, value)| value.is_none()).cloned().collect::<Vec<_>>(), with_key(None));
    let owned: [&[u8]; 3] = [b"bq-delay", b"bq-attempts", b"bq-original-topic"];
    let all = headers_on(&topic, 9).await?;
    for (headers, attempts) in all.iter().skip(3).zip([b"1", b"1", b"1", b"0", b"0", b"0"]) {
        let foreign: Vec<_> = headers.iter().filter(|(name, _)| !owned.contains(&name.as_slice())).cloned().collect();
        assert_eq!(foreign, kept());
        let own: Vec<_> = headers.iter().filter(|(name, _)| owned.contains(&name.as_slice())).cloned().collect();
        assert_eq!(own, [(b"bq-attempts".to_vec(), Some(attempts.to_vec()))]);
    }
    Ok(())
}

type OwnedHeaders = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The headers of the first envelopes of a topic.
async fn headers_on(topic: &str, count: usize) -> Result<Vec<OwnedHeaders>, Box<dyn std::error::Error>> {
    async fn see(sender: &UnboundedSender<OwnedHeaders>, _: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
        let headers = cx.headers().iter().map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec)));
        Ok(sender.send(headers.collect())?)
    }
    let (sender, mut receiver) = unbounded_channel();
    let mut seen = Vec::new();
    let consumer = kafka()?.consumer(unique("reader")).topics([topic]).serve(routes![sender; Numbered => see]);
    let signal = async {
        while seen.len() < count {
            match tokio::time::timeout(super::PATIENCE, receiver.recv()).await {
                Ok(Some(headers)) => seen.push(headers),
                _ => return,
            }
        }
    };
    consumer.run_until(signal).await?;
    assert_eq!(seen.len(), count, "{topic}");
    Ok(seen)
}

/// Writes one record by Kafka's protocol (Produce, version 3; record batch, version 2): no client library takes a header
/// whose name is not UTF-8.
pub(super) fn write(topic: &str, key: Option<&[u8]>, value: Option<&[u8]>, headers: &[Header<'_>]) -> Check {
    // Attributes, and the differences to the batch's timestamp and offset.
    let mut record = vec![0, 0, 0];
    for bytes in [key, value] {
        push(&mut record, bytes);
    }
    varint(&mut record, i64::try_from(headers.len())?);
    for (name, value) in headers {
        push(&mut record, Some(name));
        push(&mut record, *value);
    }
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed()?.as_millis())?.to_be_bytes();
    let none = (-1i64).to_be_bytes();
    // Attributes, last offset, first and last timestamp; no producer id, epoch and sequence; one record.
    let mut checked = [&[0; 6][..], &now, &now, &none, &none[..2], &none[..4], &1i32.to_be_bytes()].concat();
    varint(&mut checked, i64::try_from(record.len())?);
    checked.extend(record);
    // The leader's epoch is not known; format 2; checksum.
    let rest = [&none[..4], &[2], &crc32c(&checked).to_be_bytes(), &checked].concat();
    let batch = [&[0; 8][..], &i32::try_from(rest.len())?.to_be_bytes(), &rest].concat();

    let name = [&i16::try_from(topic.len())?.to_be_bytes()[..], topic.as_bytes()].concat();
    let one = 1i32.to_be_bytes();
    let request = [
        // Produce, version 3, request 0, no client, no transaction; all replicas, 10 s.
        &[0, 0, 0, 3, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x27, 0x10][..],
        &one,
        &name,
        &one,
        &[0; 4],
        &i32::try_from(batch.len())?.to_be_bytes(),
        &batch,
    ]
    .concat();
    let deadline = Instant::now() + super::PATIENCE;
    loop {
        match produce(&request, name.len())? {
            [0, 0] => return Ok(()),
            // The partition of a new topic has no leader yet.
            [0, 6] if Instant::now() < deadline => {}
            other => return Err(format!("the broker refused the record: {other:?}").into()),
        }
    }
}

/// The error that the broker answers with; none is 0.
fn produce(request: &[u8], name: usize) -> Result<[u8; 2], Box<dyn std::error::Error>> {
    let mut connection = TcpStream::connect(brokers())?;
    connection.write_all(&[&i32::try_from(request.len())?.to_be_bytes()[..], request].concat())?;
    let mut size = [0; 4];
    connection.read_exact(&mut size)?;
    let mut response = vec![0; usize::try_from(i32::from_be_bytes(size))?];
    connection.read_exact(&mut response)?;
    // Request, number of topics, name, number of partitions, partition; then the error.
    let at = 4 + 4 + name + 4 + 4;
    Ok(response.get(at..at + 2).ok_or("the answer is too short")?.try_into()?)
}

fn push(to: &mut Vec<u8>, bytes: Option<&[u8]>) {
    varint(to, bytes.map_or(-1, |bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX)));
    to.extend(bytes.unwrap_or_default());
}

/// Zigzag, seven bits a byte.
fn varint(to: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while rest > 0x7f {
        to.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    to.push(u8::try_from(rest).unwrap_or_default());
}

/// The checksum of Castagnoli.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |checksum: u32, byte| {
        (0..8).fold(checksum ^ u32::from(*byte), |checksum, _| {
            (checksum >> 1) ^ if checksum & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}
