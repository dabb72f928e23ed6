//! A JSON document whose values know where they are.
//!
//! `serde_json` judges the syntax; this reader then only walks text that is known to be JSON. It exists because a
//! problem must name line and column, members keep their order, and a member written twice must not pass silently.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use crate::lines::Lines;
use crate::pointer::Pointer;

/// How deep values may nest; deeper documents are refused rather than risked on the stack.
const MAX_DEPTH: usize = 128;

/// A value and the byte offset at which it begins.
#[derive(Debug)]
pub(crate) struct Json {
    pub(crate) at: usize,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// The spelling of the number.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(IndexMap<String, Member>),
}

/// A member of an object: its value and the byte offset of its name.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name_at: usize,
    pub(crate) json: Json,
}

/// Why a text is not taken, with line and column from 1.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) place: (usize, usize),
    pub(crate) reason: String,
}

/// Reads `text` as exactly one JSON value.
pub(crate) fn parse(text: &str) -> Result<Json, SyntaxError> {
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or(&full);
        return Err(SyntaxError {
            place: syntax_place(text, error.line(), error.column()),
            reason: format!("not JSON: {reason}"),
        });
    }
    Reader { text, at: 0 }.value(0)
}

/// `serde_json` counts columns in bytes up to the last one that it read, so a line break is column 0 of the next line.
fn syntax_place(text: &str, line: usize, column: usize) -> (usize, usize) {
    let line_of = |line: usize| text.split('\n').nth(line.saturating_sub(1)).unwrap_or("");
    match column {
        0 if line > 1 => (line - 1, line_of(line - 1).chars().count() + 1),
        _ => (line, line_of(line).get(..column).map_or(column, |read| read.chars().count()).max(1)),
    }
}

impl Json {
    /// The value at `pointer` below this one.
    pub(crate) fn pointer(&self, pointer: &Pointer) -> Option<&Self> {
        pointer.tokens().try_fold(self, |json, token| json.step(&token).map(|(_, json)| json))
    }

    /// The byte offset that shows a reader `pointer`: the member's name where there is one, else the value. Of a
    /// pointer that leads nowhere, the last step that exists.
    pub(crate) fn locate(&self, pointer: &Pointer) -> usize {
        let (mut at, mut json) = (self.at, self);
        for token in pointer.tokens() {
            let Some((next_at, next)) = json.step(&token) else { break };
            (at, json) = (next_at, next);
        }
        at
    }

    /// The member or element `token`, and the byte offset that shows it to a reader.
    pub(crate) fn step(&self, token: &str) -> Option<(usize, &Self)> {
        match &self.value {
            Value::Object(members) => members.get(token).map(|member| (member.name_at, &member.json)),
            Value::Array(items) => {
                let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
                let canonical = token == "0" || digits && !token.starts_with('0');
                let index = canonical.then(|| token.parse::<usize>().ok()).flatten()?;
                items.get(index).map(|json| (json.at, json))
            }
            _ => None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name).map(|member| &member.json)
    }

    pub(crate) fn as_object(&self) -> Option<&IndexMap<String, Member>> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, SyntaxError> {
        self.space();
        let at = self.at;
        if depth > MAX_DEPTH {
            return Err(self.refuse(at, format!("values nest deeper than {MAX_DEPTH} levels")));
        }
        let value = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::String(self.string()?),
            _ => self.scalar(at)?,
        };
        Ok(Json { at, value })
    }

    fn object(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let mut members = IndexMap::new();
        self.at += 1;
        while self.more(b'}') {
            let name_at = self.at;
            let name = self.string()?;
            self.space();
            self.at += 1; // the colon
            let json = self.value(depth + 1)?;
            if members.contains_key(&name) {
                return Err(self.refuse(name_at, format!("the member {name:?} is written twice")));
            }
            members.insert(name, Member { name_at, json });
        }
        Ok(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let mut items = Vec::new();
        self.at += 1;
        while self.more(b']') {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::Array(items))
    }

    /// Steps over a separator to the next member or element, or over the closing bracket.
    fn more(&mut self, close: u8) -> bool {
        self.space();
        if self.peek() == Some(b',') {
            self.at += 1;
            self.space();
        }
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                false
            }
            next => next.is_some(),
        }
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        let spelling = self.text.get(start..self.at).unwrap_or("");
        serde_json::from_str(spelling).map_err(|error| self.refuse(start, format!("not a JSON string: {error}")))
    }

    fn scalar(&mut self, start: usize) -> Result<Value, SyntaxError> {
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        match self.text.get(start..self.at) {
            Some("null") => Ok(Value::Null),
            Some("true") => Ok(Value::Bool(true)),
            Some("false") => Ok(Value::Bool(false)),
            Some(number) if !number.is_empty() => Ok(Value::Number(number.to_owned())),
            _ => Err(self.refuse(start, "not a JSON value".to_owned())),
        }
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn refuse(&self, at: usize, reason: String) -> SyntaxError {
        SyntaxError { place: Lines::new(self.text).place(self.text, at), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"a\\u0062\": [1, {\"ü\": null, \"k\": [ ] }],\n  \"z\": \"}\\\"]\"\n}";

    #[test]
    fn members_are_found_with_their_line_and_column() {
        let json = parse(TEXT).expect("JSON");
        let at =
            |pointer: &str| Lines::new(TEXT).place(TEXT, json.locate(&Pointer::parse(pointer).expect("a pointer")));
        assert_eq!(at(""), (1, 1));
        assert_eq!(at("/ab"), (2, 3));
        assert_eq!(at("/ab/0"), (2, 15));
        assert_eq!(at("/ab/1/k"), (2, 30));
        assert_eq!(at("/z"), (3, 3));
        assert_eq!(at("/ab/7/k"), (2, 3));
        assert_eq!(json.get("z").and_then(Json::as_str), Some("}\"]"));
    }

    #[test]
    fn only_a_plain_number_is_an_index() {
        let json = parse("[[1], 2]").expect("JSON");
        let holds = |pointer: &str| json.pointer(&Pointer::parse(pointer).expect("a pointer")).is_some();
        assert!(holds("/0/0") && holds("/1"));
        for pointer in ["/2", "/01", "/+1", "/-1", "/", "/-", "/1/0", "/99999999999999999999999"] {
            assert!(!holds(pointer), "{pointer}");
        }
    }

    #[test]
    fn broken_json_names_line_and_column() {
        let error = parse("{\n  \"a\": tru\n}").expect_err("broken");
        assert_eq!(error.place, (2, 11));
        assert!(error.reason.starts_with("not JSON: "), "{}", error.reason);
    }

    #[test]
    fn a_member_written_twice_is_refused() {
        let error = parse("{\"a\": 1,\n \"a\": 2}").expect_err("twice");
        assert_eq!((error.place, error.reason.as_str()), ((2, 2), "the member \"a\" is written twice"));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        let error = parse(&("[".repeat(200_000) + &"]".repeat(200_000))).expect_err("deep");
        assert!(error.reason.contains("nest deeper") || error.reason.contains("recursion"), "{}", error.reason);
    }
}
