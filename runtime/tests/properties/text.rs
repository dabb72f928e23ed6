//! JSON as people and programs really spell it: odd names, repeated members, strange numbers, whitespace.

use proptest::{collection::vec, prelude::*, sample::select};

/// Names of one type of member, as they may be spelled.
type Names = &'static [&'static str];

const URNS: Names = &[r#""job""#, r#""\u006aob""#, r#""urn""#];
const TRACE_ID: Names = &[r#""trace_id""#];
const DATA: Names = &[r#""data""#, r#""d\u0061ta""#];
const META: Names = &[r#""meta""#];
const ATTEMPTS: Names = &[r#""attempts""#, r#""\u0061ttempts""#];
const DEAD_LETTER: Names = &[r#""dead_letter""#];
/// One that is forbidden, and names that only look like the contract's.
const OTHER: Names =
    &[r#""timestamp""#, r#""JOB""#, r#""job ""#, r#""""#, r#""\"""#, r#""\ud800""#, r#""ключ""#, r#""\u0000""#];

const META_TEXTS: Names = &[r#""id""#, r#""queue""#, r#""lang""#];
const META_INTEGERS: Names = &[r#""schema_version""#, r#""created_at""#];
const META_OTHER: Names =
    &[r#""attempts""#, r#""t\u0073""#, r#""source""#, r#""max_retries""#, r#""ext""#, r#""\udfff""#];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1.50",
    "1e2",
    "1E+5",
    "0.10e-0",
    "9007199254740993",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "1e308",
    "1e-400",
    "30.0",
];

/// No finite doubles.
const NOT_FINITE: &[&str] = &["1e400", "-1e309", "1E999999999999"];

/// What one slip makes of JSON.
const NEARLY: &[&str] = &[
    "01",
    "-01",
    "-",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x1",
    "NaN",
    "Infinity",
    "tru",
    "nulll",
    "True",
    "'a'",
    "\"\t\"",
    "\"\\x\"",
    "\"\\u12g4\"",
    "\"\\",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{,}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "{1:1}",
    "\u{a0}1",
    "1/**/",
];

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 1 => Just(" "), 1 => Just("\r\n\t ")]
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z :{}\\[\\],]{0,4}".boxed(),
        1 => "[^\"\\\\\\x00-\\x1f]{0,3}".boxed(),
        2 => select(&[r#"\""#, r"\\", r"\/", r"\n", r"\u00e9", r"\ud83d\ude00", r"\u0000", r"\ud800"][..])
            .prop_map(str::to_owned)
            .boxed(),
    ];
    vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn number(finite: bool) -> BoxedStrategy<String> {
    let usual = prop_oneof![
        select(NUMBERS).prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?",
    ];
    if finite {
        usual.boxed()
    } else {
        prop_oneof![9 => usual, 1 => select(NOT_FINITE).prop_map(str::to_owned)].boxed()
    }
}

/// An object of these members, repeated ones and all.
fn object(members: Vec<(String, String)>, space: &str) -> String {
    let members: Vec<_> =
        members.into_iter().map(|(name, value)| format!("{space}{name}{space}:{space}{value}{space}")).collect();
    format!("{{{}}}", if members.is_empty() { space.to_owned() } else { members.join(",") })
}

fn value(finite: bool) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![select(&["null", "true", "false"][..]).prop_map(str::to_owned), number(finite), string(),];
    leaf.prop_recursive(4, 12, 4, |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..4), space())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(&format!(",{space}")))),
            (vec((string(), inner), 0..4), space()).prop_map(|(members, space)| object(members, space)),
        ]
    })
}

fn integer() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_i64..10).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        Just("null".to_owned())
    ]
}

/// A string that is Unicode text.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => string().prop_filter("half of a surrogate pair", |text| !text.contains(r"\ud800")),
        1 => Just("null".to_owned()),
    ]
}

fn urn() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => Just(r#""urn:babel:orders:created""#.to_owned()),
        1 => select(&[r#""""#, r#"" \t\f""#, r#""\u2003""#, r#"" urn:padded\n""#, "null", "5", "[]"][..]).prop_map(str::to_owned),
        1 => text(),
    ]
}

fn member(names: Names, value: impl Strategy<Value = String> + 'static) -> BoxedStrategy<(String, String)> {
    (select(names).prop_map(str::to_owned), value).boxed()
}

fn fitting_meta() -> impl Strategy<Value = String> {
    let member =
        prop_oneof![member(META_TEXTS, text()), member(META_INTEGERS, integer()), member(META_OTHER, value(false)),];
    let object = (vec(member, 0..5), space()).prop_map(|(members, space)| object(members, space));
    prop_oneof![6 => object, 1 => Just("null".to_owned())]
}

fn fitting_dead_letter() -> impl Strategy<Value = String> {
    (text(), integer()).prop_map(|(reason, attempts)| format!(r#"{{"reason":{reason},"attempts":{attempts}, "x":[]}}"#))
}

fn fitting_data() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (vec((string(), value(true)), 0..4), space()).prop_map(|(members, space)| object(members, space)),
        1 => Just("null".to_owned()),
    ]
}

/// A body whose known members all have their types. It may name no URN.
pub(crate) fn fitting_body() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        2 => member(URNS, urn()),
        1 => member(TRACE_ID, text()),
        1 => member(DATA, fitting_data()),
        2 => member(META, fitting_meta()),
        1 => member(ATTEMPTS, integer()),
        1 => member(DEAD_LETTER, fitting_dead_letter()),
        2 => member(OTHER, value(false)),
    ];
    (vec(member, 0..8), space()).prop_map(|(members, space)| format!("{space}{}{space}", object(members, space)))
}

fn any_name() -> impl Strategy<Value = &'static str> {
    select([URNS, TRACE_ID, DATA, META, ATTEMPTS, DEAD_LETTER, OTHER].concat())
}

/// Any JSON, more often than not an object with members of the envelope, of any type.
pub(crate) fn any_body() -> impl Strategy<Value = String> {
    let member = (any_name().prop_map(str::to_owned), prop_oneof![value(false).boxed(), fitting_meta().boxed()]);
    let object = (vec(member, 0..6), space()).prop_map(|(members, space)| object(members, space));
    prop_oneof![4 => object, 4 => fitting_body(), 1 => value(false)]
}

/// An object with a value that is none, at the top or in `meta`.
pub(crate) fn nearly_json() -> impl Strategy<Value = String> {
    let value = select(NEARLY).prop_map(str::to_owned);
    let within = (any_name(), select(NEARLY)).prop_map(|(name, value)| format!("{{{name}:{value}}}"));
    (fitting_body(), any_name(), prop_oneof![value, within]).prop_map(|(body, name, value)| {
        let (before, last) = body.rsplit_once('}').unwrap_or((&body, ""));
        let comma = if before.trim_end().ends_with('{') { "" } else { "," };
        format!("{before}{comma}{name}:{value}}}{last}")
    })
}

/// A body after a few bytes were changed, dropped or put in.
pub(crate) fn damaged_body() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => select(&br#"{}[]",:\0-.eEu tn"#[..]),
        1 => 0_u8..128,
    ];
    let damage = (any::<prop::sample::Index>(), 0..3, byte);
    (fitting_body(), vec(damage, 1..4)).prop_map(|(body, damages)| {
        let mut bytes = body.into_bytes();
        for (at, how, byte) in damages {
            let at = at.index(bytes.len() + 1);
            match how {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                _ if at < bytes.len() => bytes[at] = byte,
                _ => {}
            }
        }
        bytes
    })
}

/// Bytes of JSON in no order.
pub(crate) fn soup() -> impl Strategy<Value = Vec<u8>> {
    let token = select(
        &[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            " ",
            "0",
            "-",
            "1e",
            ".",
            "null",
            "\"job\"",
            "\"meta\":{",
            "\u{feff}",
            "é",
        ][..],
    );
    prop_oneof![vec(any::<u8>(), 0..64), vec(token, 0..24).prop_map(|tokens| tokens.concat().into_bytes()),]
}
