//! JSON as people and programs really spell it: odd names, repeated members, strange numbers, whitespace.

use proptest::{collection::vec, prelude::*, sample::select};

/// The members of the envelope, some of them in disguise, and names that only look like them.
const NAMES: &[&str] = &[
    r#""job""#,
    r#""\u006aob""#,
    r#""urn""#,
    r#""trace_id""#,
    r#""data""#,
    r#""d\u0061ta""#,
    r#""meta""#,
    r#""attempts""#,
    r#""\u0061ttempts""#,
    r#""dead_letter""#,
    r#""timestamp""#,
    r#""JOB""#,
    r#""job ""#,
    r#""""#,
    r#""\"""#,
    r#""\ud800""#,
    r#""ключ""#,
    r#""\u0000""#,
];

const META_NAMES: &[&str] = &[
    r#""id""#,
    r#""queue""#,
    r#""lang""#,
    r#""schema_version""#,
    r#""created_at""#,
    r#""attempts""#,
    r#""t\u0073""#,
    r#""source""#,
    r#""max_retries""#,
    r#""ext""#,
    r#""\udfff""#,
];

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

fn fitting_meta() -> impl Strategy<Value = String> {
    let member = select(META_NAMES).prop_flat_map(|name| {
        let value = match name {
            r#""id""# | r#""queue""# | r#""lang""# => text().boxed(),
            r#""schema_version""# | r#""created_at""# => integer().boxed(),
            _ => value(false).boxed(),
        };
        (Just(name.to_owned()), value)
    });
    prop_oneof![6 => (vec(member, 0..5), space()).prop_map(|(members, space)| object(members, space)), 1 => Just("null".to_owned())]
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

/// A value of the type that the contract gives to a member.
fn fitting(name: &str) -> BoxedStrategy<String> {
    match name {
        r#""job""# | r#""\u006aob""# | r#""urn""# => urn().boxed(),
        r#""trace_id""# => text().boxed(),
        r#""data""# | r#""d\u0061ta""# => fitting_data().boxed(),
        r#""meta""# => fitting_meta().boxed(),
        r#""attempts""# | r#""\u0061ttempts""# => integer().boxed(),
        r#""dead_letter""# => fitting_dead_letter().boxed(),
        _ => value(false).boxed(),
    }
}

/// A body whose known members all have their types. It may name no URN.
pub(crate) fn fitting_body() -> impl Strategy<Value = String> {
    let member = select(NAMES).prop_flat_map(|name| (Just(name.to_owned()), fitting(name)));
    let again = (select(&[r#""meta""#, r#""data""#][..])).prop_flat_map(|name| (Just(name.to_owned()), fitting(name)));
    let members = (vec(member, 0..8), vec(again, 0..2)).prop_map(|(members, again)| [members, again].concat());
    (members, space()).prop_map(|(members, space)| format!("{space}{}{space}", object(members, space)))
}

/// Any JSON, more often than not an object with members of the envelope, of any type.
pub(crate) fn any_body() -> impl Strategy<Value = String> {
    let member = (select(NAMES).prop_map(str::to_owned), prop_oneof![value(false).boxed(), fitting_meta().boxed()]);
    prop_oneof![
        4 => (vec(member, 0..6), space()).prop_map(|(members, space)| object(members, space)),
        4 => fitting_body(),
        1 => value(false),
    ]
}

/// An object with a value that is none, at the top or in `meta`.
pub(crate) fn nearly_json() -> impl Strategy<Value = String> {
    let value = select(NEARLY).prop_map(str::to_owned);
    let within = (select(META_NAMES), select(NEARLY)).prop_map(|(name, value)| format!("{{{name}:{value}}}"));
    let member = (select(NAMES).prop_map(str::to_owned), prop_oneof![value, within]);
    (fitting_body(), member).prop_map(|(body, (name, value))| {
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
