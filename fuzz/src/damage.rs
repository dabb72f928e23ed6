//! Changes of JSON, as values and as bytes.

use crate::json::{Json, quoted};
use crate::random::Random;

/// Values that programs trip over.
pub(crate) const ODD: [&str; 40] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "1.0",
    "1e0",
    "0.1",
    "0.01",
    "1e-7",
    "255",
    "256",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1e19",
    "1e308",
    "-1e308",
    "1e309",
    "1e999",
    "1e-999",
    "1e99999999999999999999",
    "-1e-99999999999999999999",
    "123456789012345678901234567890.123456789012345678901234567890e-20",
    r#""""#,
    r#""\u0000""#,
    r#""\ud83d\ude00""#,
    r#""\ud800""#,
    r#""a\nb""#,
    r#""\u202e""#,
    "[]",
    "{}",
];

/// Changes some values; `fresh` makes new ones.
pub(crate) fn values(random: &mut Random, json: &mut Json, fresh: &mut dyn FnMut(&mut Random) -> Json) {
    for _ in 0..=random.few(6) {
        let size = json.size();
        let other = {
            let index = random.below(size);
            json.at(index).cloned()
        };
        let index = random.below(size);
        let Some(place) = json.at(index) else { continue };
        let new = match random.below(8) {
            0 => fresh(random),
            1 | 2 => Json::leaf(random.pick(&ODD)),
            3 | 4 => other.unwrap_or(Json::List(Vec::new())),
            5 => wrapped(random, place),
            _ => {
                members(random, place, fresh);
                continue;
            }
        };
        // Copies of copies grow without bound.
        if size + new.size() < 20_000 {
            *place = new;
        }
    }
}

fn wrapped(random: &mut Random, json: &Json) -> Json {
    let mut json = json.clone();
    let times = if random.one_in(8) { random.below(200) } else { 1 };
    let word = random.pick(&["not", "allOf", "anyOf", "oneOf", "items", "a", "data"]);
    for _ in 0..times {
        json = match word {
            "allOf" | "anyOf" | "oneOf" => Json::object([(word, Json::List(vec![json]))]),
            "a" => Json::List(vec![json]),
            _ => Json::object([(word, json)]),
        };
    }
    json
}

/// Changes a member or an element: gone, twice, in another place, under another name.
fn members(random: &mut Random, json: &mut Json, fresh: &mut dyn FnMut(&mut Random) -> Json) {
    match json {
        Json::Leaf(text) => *text = String::from_utf8_lossy(&bytes(random, text.clone().into_bytes())).into_owned(),
        Json::List(items) if items.is_empty() => items.push(fresh(random)),
        Json::List(items) => {
            let (one, other) = (random.below(items.len()), random.below(items.len()));
            match random.below(3) {
                0 => drop(items.remove(one)),
                1 => items.insert(other, items[one].clone()),
                _ => items.swap(one, other),
            }
        }
        Json::Object(members) if members.is_empty() => members.push((quoted("a"), fresh(random))),
        Json::Object(members) => {
            let (one, other) = (random.below(members.len()), random.below(members.len()));
            match random.below(6) {
                0 => drop(members.remove(one)),
                1 => members.insert(other, members[one].clone()),
                2 => members.swap(one, other),
                3 => members[one].0 = members[other].0.clone(),
                4 => members[one].0 = random.pick(&NAMES).to_owned(),
                _ => members.push((random.pick(&NAMES).to_owned(), fresh(random))),
            }
        }
    }
}

const NAMES: [&str; 9] = [
    r#""""#,
    r#""\"""#,
    r#""\u0000""#,
    r#""\ud800""#,
    r#""~0/~1%25#""#,
    r#""\u006aob""#,
    r#""r#type""#,
    r#""Ǆ 注""#,
    r#""__proto__""#,
];

/// Changes some bytes.
pub(crate) fn bytes(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=random.few(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.few(16)).min(bytes.len());
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            4 => bytes.insert(at, random.below(256) as u8),
            5 => drop(bytes.splice(at..at, random.pick(&PIECES).bytes())),
            6 => drop(bytes.splice(at..at, *random.pick(&[b"\xff", b"\xc0", b"\x80", b"\xed"]))),
            7 if random.one_in(4) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let big = random.one_in(2);
                let units = std::iter::once(0xfeff).chain(text.encode_utf16());
                bytes = units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect();
            }
            8 if random.one_in(4) => drop(bytes.splice(0..0, *b"\xef\xbb\xbf")),
            _ => {
                let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    let at = digits[random.below(digits.len())];
                    bytes.splice(at..=at, random.pick(&ODD).bytes());
                }
            }
        }
    }
    bytes
}

const PIECES: [&str; 18] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "NaN",
    "1e9999",
    "//",
    "\u{feff}",
    "\0",
    "\r\n",
    "\u{2028}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];
