//! The SDK for Python on the other side, in both directions. `BABELQUEUE_PYTHON` names the Python that has it.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use babelqueue::{Delivery, HandlerError, Job as _, Publisher, routes};
use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::{
    Check,
    jobs::{Numbered, brokers, create_topic, kafka, unique},
};

type Case = (&'static str, Option<&'static [u8]>, &'static [(&'static str, &'static [u8])]);

/// Non-ASCII text; a null key, an empty one and one that is not UTF-8; foreign headers, one of them empty.
const CASES: [Case; 4] = [
    ("Grüße, 東京, ☕ \u{1F600} \"\\/\n", Some(b"order-7"), &[]),
    ("null key", None, &[("tenant", b"acme")]),
    ("empty key", Some(b""), &[("tenant", "ünïcödé".as_bytes()), ("empty", b"")]),
    ("binary key", Some(b"\xff\x00"), &[]),
];
const TRACE_ID: &str = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";

pub(crate) fn python(script: &str, arguments: &[&str], stdin: &str) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let python =
        std::env::var("BABELQUEUE_PYTHON").map_err(|_| "BABELQUEUE_PYTHON is not set: run `cargo xtask test live`")?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let mut child =
        Command::new(python).arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no standard input")?.write_all(stdin.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("python ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn base64(bytes: Option<&[u8]>) -> Value {
    bytes.map_or(Value::Null, |bytes| BASE64.encode(bytes).into())
}

pub(crate) async fn python_publishes_and_our_handler_gets_it() -> Check {
    let topic = unique("from-python");
    create_topic(&topic, 1, &[]).await?;
    let messages: String = CASES
        .iter()
        .enumerate()
        .map(|(number, (text, key, headers))| {
            let headers: Vec<_> = headers.iter().map(|(name, value)| json!([name, base64(Some(value))])).collect();
            let message = json!({
                "data": {"number": number, "text": text},
                "key": base64(*key),
                "headers": headers,
                "trace_id": TRACE_ID,
            });
            format!("{message}\n")
        })
        .collect();
    let published = python("publish.py", &[&brokers(), &topic, Numbered::URN], &messages)?;
    assert_eq!(published.len(), CASES.len());

    struct Seen {
        job: Numbered,
        key: Option<Vec<u8>>,
        headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
        message_id: String,
        trace_id: String,
        attempts: u32,
    }
    async fn see(sender: &UnboundedSender<Seen>, job: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
        Ok(sender.send(Seen {
            job,
            key: cx.key().map(<[u8]>::to_vec),
            headers: cx.headers().iter().map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec))).collect(),
            message_id: cx.message_id().to_owned(),
            trace_id: cx.trace_id().to_owned(),
            attempts: cx.attempts(),
        })?)
    }
    let (sender, mut receiver) = unbounded_channel();
    let consumer = kafka()?.consumer(unique("group")).topics([&topic]).serve(routes![sender; Numbered => see]);
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    for (number, (text, key, headers)) in CASES.iter().enumerate() {
        let seen = receiver.recv().await.ok_or("the consumer ended")?;
        assert_eq!(seen.job, Numbered { number: u64::try_from(number)?, text: (*text).to_owned() });
        assert_eq!(seen.key.as_deref(), *key, "{text}");
        assert_eq!(seen.message_id, published[number]["id"]);
        assert_eq!((seen.trace_id.as_str(), seen.attempts), (TRACE_ID, 0));
        for (name, value) in *headers {
            let found = seen.headers.iter().find(|(other, _)| other == name.as_bytes());
            assert_eq!(found.and_then(|(_, value)| value.as_deref()), Some(*value), "{name}");
        }
    }
    handle.shutdown();
    running.await??;
    Ok(())
}

pub(crate) async fn we_publish_and_the_python_handler_gets_it() -> Check {
    let topic = unique("to-python");
    create_topic(&topic, 1, &[]).await?;
    let kafka = kafka()?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&topic);
    let mut ids = Vec::new();
    for (number, (text, key, headers)) in CASES.iter().enumerate() {
        let job = Numbered { number: u64::try_from(number)?, text: (*text).to_owned() };
        let mut message = publisher.message(&job).trace_id(TRACE_ID).null_key();
        if let Some(key) = key {
            message = message.key(*key);
        }
        for (name, value) in *headers {
            message = message.header(name, *value);
        }
        ids.push(message.await?);
    }
    let group = unique("python-group");
    let count = CASES.len().to_string();
    let handled = python("consume.py", &[&brokers(), &topic, &group, Numbered::URN, &count], "")?;
    assert_eq!(handled.len(), CASES.len());
    for (number, (text, key, headers)) in CASES.iter().enumerate() {
        let seen = &handled[number];
        assert_eq!(seen["data"], json!({"number": number, "text": text}));
        assert_eq!(seen["id"], ids[number].to_string());
        assert_eq!((&seen["trace_id"], &seen["attempts"]), (&json!(TRACE_ID), &json!(0)));
        assert_eq!(seen["meta"]["lang"], "rust");
        assert_eq!(seen["key"], base64(*key), "{text}");
        let seen_headers = seen["headers"].as_array().ok_or("no headers")?;
        for (name, value) in *headers {
            assert!(seen_headers.contains(&json!([name, base64(Some(value))])), "{name} in {seen_headers:?}");
        }
    }
    Ok(())
}
