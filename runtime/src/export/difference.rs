//! What of the files is not as the types have it.

use std::{collections::BTreeSet, fmt, path::PathBuf};

use serde_json::Value;

/// How many characters of a value are shown.
const SHOWN: usize = 160;

/// A file that is not as the types have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it; of content that differs, the JSON Pointer of the first place, and what is there and in the
    /// code.
    pub problem: String,
}

impl Difference {
    pub(super) fn new(file: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self { file: file.into(), problem: problem.into() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.problem)
    }
}

/// The first place where two values differ, in words; `None` when they are alike.
pub(super) fn first(file: &Value, code: &Value) -> Option<String> {
    let mut pointer = String::new();
    let (file, code) = descend(file, code, &mut pointer)?;
    Some(at(&pointer, file, code))
}

/// A place that differs, in words.
pub(super) fn at(pointer: &str, file: Option<&Value>, code: Option<&Value>) -> String {
    let pointer = if pointer.is_empty() { "/" } else { pointer };
    format!("{}: the file has {}, the code has {}", pointer.escape_debug(), show(file), show(code))
}

fn show(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

type Sides<'a> = (Option<&'a Value>, Option<&'a Value>);

/// Goes as deep as the values, one of which was read from a text, and such are at most 127 deep.
fn descend<'a>(file: &'a Value, code: &'a Value, pointer: &mut String) -> Option<Sides<'a>> {
    let mut step = |name: &str, file: Option<&'a Value>, code: Option<&'a Value>| {
        let len = pointer.len();
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let found = match (file, code) {
            (Some(file), Some(code)) => descend(file, code, pointer),
            one_side => Some(one_side),
        };
        if found.is_none() {
            pointer.truncate(len);
        }
        found
    };
    match (file, code) {
        (Value::Object(file), Value::Object(code)) => {
            let names: BTreeSet<_> = file.keys().chain(code.keys()).collect();
            names.into_iter().find_map(|name| step(name, file.get(name), code.get(name)))
        }
        (Value::Array(file), Value::Array(code)) => {
            let longest = file.len().max(code.len());
            (0..longest).find_map(|index| step(&index.to_string(), file.get(index), code.get(index)))
        }
        (file, code) => (file != code).then_some((Some(file), Some(code))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_place_is_named_with_what_is_on_either_side() {
        let file = json!({"a": {"b/c": [1, 2]}, "z": 1});
        let found = |code: Value| first(&file, &code).unwrap_or_default();
        assert_eq!(found(file.clone()), "");
        assert_eq!(found(json!({"a": {"b/c": [1, 3]}, "z": 2})), "/a/b~1c/1: the file has 2, the code has 3");
        assert_eq!(found(json!({"a": {"b/c": [1]}, "z": 1})), "/a/b~1c/1: the file has 2, the code has nothing");
        assert_eq!(found(json!({"a": {"b/c": [1, 2]}, "y": 0, "z": 1})), "/y: the file has nothing, the code has 0");
        assert_eq!(found(json!([])), r#"/: the file has {"a":{"b/c":[1,2]},"z":1}, the code has []"#);
    }

    #[test]
    fn a_long_value_is_cut_between_characters() {
        let shown = first(&json!("é".repeat(1000)), &json!(1)).unwrap();
        assert!(shown.chars().count() < 250 && shown.contains('…'), "{shown}");
    }
}
