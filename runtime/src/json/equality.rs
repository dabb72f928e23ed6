//! When two JSON texts are the same value: numbers by value, members in any order, strings whatever their escapes.

use std::fmt::Write as _;

use super::{
    number::Number,
    walk::{self, end, scalar_end},
};

/// Below so many levels the order of members counts: sorting them all the way down would take a time that grows with the
/// square of the text. No decoder of ours reads values that nest so deep.
const SORTED_LEVELS: usize = 128;

/// Whether two JSON texts are one value.
pub(crate) fn equal(a: &str, b: &str) -> bool {
    a == b || canonical(a) == canonical(b)
}

/// One text for each value.
pub(crate) fn canonical(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b',' | b':' => {
                out.push(byte.into());
                at += 1;
                if byte == b','
                    && let Some(open) = open.last_mut()
                {
                    open.starts.push(out.len());
                }
            }
            b'[' | b'{' => {
                out.push(byte.into());
                at += 1;
                open.push(Open { object: byte == b'{', starts: vec![out.len()] });
            }
            b']' | b'}' => {
                let level = open.len();
                if let Some(open) = open.pop()
                    && open.object
                    && level <= SORTED_LEVELS
                {
                    sort(&mut out, &open.starts);
                }
                out.push(byte.into());
                at += 1;
            }
            b'"' => {
                let after = end(text, at);
                string(&mut out, text.get(at..after).unwrap_or_default());
                at = after;
            }
            _ => {
                let after = scalar_end(bytes, at);
                scalar(&mut out, text.get(at..after).unwrap_or_default());
                at = after;
            }
        }
    }
    out
}

/// An array or object that is not closed yet, and where its elements or members start in what is written.
struct Open {
    object: bool,
    starts: Vec<usize>,
}

fn string(out: &mut String, spelled: &str) {
    if spelled.contains('\\')
        && let Some(text) = walk::unquote(spelled)
        && let Ok(text) = serde_json::to_string(&text)
    {
        out.push_str(&text);
    } else {
        out.push_str(spelled);
    }
}

fn scalar(out: &mut String, text: &str) {
    match Number::parse(text) {
        // Writing to a string does not fail.
        Some(number) => drop(write!(out, "{number}")),
        None => out.push_str(text),
    }
}

/// Sorts the members, which end with what is written.
fn sort(out: &mut String, starts: &[usize]) {
    let Some(&first) = starts.first() else { return };
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([out.len()]);
    let mut members: Vec<&str> = starts.iter().zip(ends).filter_map(|(&start, end)| out.get(start..end)).collect();
    if members.is_sorted() {
        return;
    }
    members.sort_unstable();
    let sorted = members.join(",");
    out.truncate(first);
    out.push_str(&sorted);
}

#[cfg(test)]
mod tests {
    use super::equal;

    #[test]
    fn spelling_order_of_members_and_space_do_not_count() {
        for (a, b) in [
            ("1", "1.0"),
            ("[1e2, -0]", "[100,0]"),
            (r#"{"a":1,"b":{"d":[],"c":"x"}}"#, "{\"b\" : {\"c\":\"x\", \"d\":[ ]},\n\"a\":1.00}"),
            (r#""\u0041\/\u00e9""#, r#""A/é""#),
            (r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#),
            ("{}", "{ }"),
        ] {
            assert!(equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn different_values_are_told_apart() {
        for (a, b) in [
            ("1", "true"),
            ("0", "false"),
            ("1", "\"1\""),
            ("[1,2]", "[2,1]"),
            ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
            ("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"),
            ("[]", "{}"),
            ("9007199254740993", "9007199254740992"),
            ("[[1],2]", "[[1,2]]"),
            ("\"a\"", "\"A\""),
            (r#""\ud800""#, r#""\ud801""#),
        ] {
            assert!(!equal(a, b), "{a} {b}");
        }
        // Half of a pair of surrogates is no character, and equal to itself all the same.
        assert!(equal(r#"[ "\ud800"]"#, r#"["\ud800"]"#));
    }

    #[test]
    fn deep_values_take_neither_the_stack_nor_a_time_that_grows_with_the_square() {
        let deep = |levels: usize| format!("{}1{}", r#"{"b":"#.repeat(levels), r#","a":1}"#.repeat(levels));
        assert!(equal(&deep(20_000), &format!(" {}", deep(20_000))));
        assert!(!equal(&deep(20_000), &deep(20_001)));
    }
}
