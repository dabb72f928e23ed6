//! Record values and headers: made from nothing, or real ones that were changed.

use std::io;

use crate::corpus::{beside, json_files};
use crate::damage::{self, ODD};
use crate::input::Input;
use crate::json::{Json, quoted};
use crate::random::Random;

const SAMPLES: [&str; 3] = [
    r#"{"job":"urn:babel:orders:created","trace_id":"7b0e6f9a-63a1-4f52-9d0c-0f8a1f3b2c4d","data":{"order_id":1042,"customer":{"name":"Ada","email":"ada@example.com"},"items":[{"sku":"tea","quantity":2,"unit_price_cents":450}],"currency":"EUR"},"meta":{"id":"0c4e9a52-6b1f-4d7e-8a55-2f6f0f4c1b11","queue":"orders","lang":"rust","schema_version":1,"created_at":1749132727000},"attempts":0}"#,
    r#"{"job":"urn:x","data":{},"meta":{"ext":{"vendor":[1.50,1e2]}},"attempts":2,"dead_letter":{"reason":"failed","error":null,"exception":"E","failed_at":1,"original_queue":"x","attempts":3,"lang":"go"},"more":1E+2}"#,
    r#" { "urn" : "urn:x" , "job" : 5 , "timestamp" : 1 , "meta" : { "ts" : 1 , "source" : "a" } } "#,
];

/// Members of the payloads, and values that fit some of the time.
const MEMBERS: [(&str, &[&str]); 25] = [
    ("id", &["1", "1.0", "-1", "null", "9223372036854775807"]),
    ("natural", &["0", "1.0", "18446744073709551615"]),
    ("byte", &["0", "255", "2.55e2"]),
    ("even", &["2", "-4", "0", "4.0"]),
    ("double", &["1.5", "-0.0", "1e308", "0"]),
    ("cents", &["0.01", "19.99", "5", "-0.07"]),
    ("text", &[r#""a""#, r#""abcd""#, r#""\ud83d\ude00\ud83d\ude00""#]),
    ("colour", &[r#""red""#, r#""green""#, r#""""#]),
    ("odd", &["1", "1.5", "1.0", r#""one""#, "null", "[1]", "[1.0]", r#"{"a":1}"#]),
    ("fixed", &[r#""fixed""#, r#""\u0066ixed""#]),
    ("set", &["[]", r#"[1,"1",2]"#, "[1,2,3.5]"]),
    ("pair", &[r#"["a",1]"#, r#"["",1.5]"#]),
    ("some", &["[5]", "[1,2,9]", "[7,8]"]),
    ("map", &["{}", r#"{"a":true}"#, r#"{"abc":false,"":true}"#]),
    ("no_text", &["1", "null", "{}", "[1]"]),
    ("shape", &[r#"{"kind":"circle","radius":1}"#, r#"{"side":9,"kind":"square"}"#]),
    ("either", &[r#""a""#, "[1,2]", "null"]),
    ("tree", &["{}", r#"{"left":{"right":{"leaf":[]}}}"#]),
    ("filled", &["7", "8"]),
    ("order_id", &["1", "1042.0"]),
    ("customer", &[r#"{"name":"Ada"}"#, r#"{"name":"","email":null}"#]),
    ("items", &["[]", r#"[{"sku":"tea","quantity":2,"unit_price_cents":450}]"#]),
    ("currency", &[r#""EUR""#, r#""""#]),
    ("name", &[r#""a""#, "null"]),
    ("nested", &["[]", r#"[["a",1]]"#, r#"{"b":[]}"#]),
];

const ENVELOPE: [&str; 10] =
    ["job", "urn", "trace_id", "data", "meta", "attempts", "dead_letter", "timestamp", "more", "JOB"];
const META: [&str; 8] = ["id", "queue", "lang", "schema_version", "created_at", "ts", "max_retries", "ext"];
const BLOCK: [&str; 7] = ["reason", "error", "exception", "failed_at", "original_queue", "attempts", "lang"];
const HEADERS: [&str; 12] = [
    "bq-job",
    "bq-attempts",
    "bq-schema-version",
    "bq-trace-id",
    "bq-message-id",
    "bq-delay",
    "bq-original-topic",
    "bq-",
    "bq-replay-bypass",
    "traceparent",
    "other",
    "",
];
const HEADER_VALUES: [&str; 14] = [
    "",
    " ",
    "1",
    "2",
    "01",
    "+1",
    "-1",
    "9223372036854775808",
    "urn:x",
    "\u{b}",
    "\u{a0}",
    "ключ",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
];

/// The bodies to start from.
pub(super) fn corpus() -> io::Result<Vec<Vec<u8>>> {
    let mut bodies: Vec<Vec<u8>> = SAMPLES.map(|sample| sample.as_bytes().to_vec()).into();
    if let Some(suite) = beside("conformance") {
        bodies.extend(json_files(&suite.join("fixtures"))?.into_iter().map(|(_, body)| body));
    }
    Ok(bodies)
}

pub(super) fn input(random: &mut Random, corpus: &[Vec<u8>]) -> Input {
    let body = match random.below(4) {
        0 => envelope(random).to_string().into_bytes(),
        1 => corpus[random.below(corpus.len())].clone(),
        _ => {
            let mut body = corpus[random.below(corpus.len())].clone();
            if let Some(mut json) = std::str::from_utf8(&body).ok().and_then(Json::read) {
                if random.one_in(2) {
                    fill(random, &mut json);
                }
                damage::values(random, &mut json, &mut |random| {
                    if random.one_in(2) { payload(random) } else { Json::leaf(random.pick(&ODD)) }
                });
                body = json.to_string().into_bytes();
            }
            body
        }
    };
    let body = if random.one_in(4) { damage::bytes(random, body) } else { body };
    Input::default().with("body", body).with("headers", headers(random))
}

/// Gives an envelope a payload of its own.
fn fill(random: &mut Random, json: &mut Json) {
    if let Json::Object(members) = json {
        members.retain(|(name, _)| name != r#""data""#);
        members.push((r#""data""#.to_owned(), payload(random)));
    }
}

fn envelope(random: &mut Random) -> Json {
    let mut members = Vec::new();
    let shape = |random: &mut Random, name: &str| match name {
        "job" | "urn" if !random.one_in(8) => {
            Json::leaf(random.pick(&[r#""urn:x""#, r#"" urn:babel:a:b\t""#, r#"" ""#]))
        }
        "data" if !random.one_in(8) => payload(random),
        "meta" if !random.one_in(8) => object(random, &META),
        "dead_letter" if !random.one_in(8) => object(random, &BLOCK),
        "attempts" if !random.one_in(8) => Json::leaf(random.pick(&["0", "3", "-1", "9223372036854775807"])),
        "trace_id" if !random.one_in(4) => Json::string("7b0e6f9a-63a1-4f52-9d0c-0f8a1f3b2c4d"),
        _ => Json::leaf(random.pick(&ODD)),
    };
    for name in ["job", "data", "meta", "attempts"] {
        members.push((quoted(name), shape(random, name)));
    }
    for _ in 0..random.few(6) {
        let name = random.pick(&ENVELOPE);
        let at = random.below(members.len() + 1);
        members.insert(at, (quoted(name), shape(random, name)));
    }
    Json::Object(members)
}

fn object(random: &mut Random, names: &[&str]) -> Json {
    let mut members = Vec::new();
    for _ in 0..random.below(8) {
        let name = random.pick(names);
        let value = match random.below(4) {
            0 => Json::leaf(random.pick(&ODD)),
            1 => Json::leaf(random.pick(&["0", "1", "1749132727000"])),
            _ => Json::leaf(random.pick(&[r#""a""#, r#""orders""#, r#""\u00e9\n""#, r#""failed""#, "null"])),
        };
        members.push((quoted(name), value));
    }
    Json::Object(members)
}

fn payload(random: &mut Random) -> Json {
    let mut members = Vec::new();
    let odd = random.one_in(3);
    for (name, values) in MEMBERS {
        if random.one_in(4) || (name == "id" && !random.one_in(8)) {
            let fitting = !odd || !random.one_in(6);
            let value = if fitting { random.pick(values) } else { random.pick(&ODD) };
            members.push((quoted(name), Json::read(value).unwrap_or_else(|| Json::leaf(value))));
        }
    }
    if odd {
        for _ in 0..random.few(3) {
            members.push((quoted(random.pick(&["id", "", "unknown", "/~"])), Json::leaf(random.pick(&ODD))));
        }
    }
    Json::Object(members)
}

/// A line a header, `name=value`, or only `name` for a null.
fn headers(random: &mut Random) -> Vec<u8> {
    let mut lines = Vec::new();
    for _ in 0..random.few(8) {
        let name = random.pick(&HEADERS);
        let line = if random.one_in(8) { name.to_owned() } else { format!("{name}={}", random.pick(&HEADER_VALUES)) };
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    if random.one_in(4) { damage::bytes(random, lines) } else { lines }
}
