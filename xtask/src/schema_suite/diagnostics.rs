//! What cargo and the compiler say of generated code: which groups do not compile, and which do with warnings.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::generate::Code;

/// The outcome of a compilation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Diagnostics {
    /// Packages that compiled.
    pub(super) compiled: BTreeSet<String>,
    /// Groups with errors, and the first of each.
    pub(super) errors: BTreeMap<String, String>,
    /// Groups with warnings, and the first of each.
    pub(super) warnings: BTreeMap<String, String>,
}

/// A line of `cargo build --message-format=json`.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerArtifact {
        target: Target,
    },
    CompilerMessage {
        message: Message,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    message: String,
    spans: Vec<Span>,
    #[serde(default)]
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

/// Reads what cargo printed, of a compilation of these groups.
pub(super) fn read(output: &str, codes: &[&Code]) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for line in output.lines() {
        match serde_json::from_str(line) {
            Ok(Line::CompilerArtifact { target }) => {
                diagnostics.compiled.insert(target.name);
            }
            Ok(Line::CompilerMessage { message }) => {
                let groups = match message.level.as_str() {
                    "warning" => &mut diagnostics.warnings,
                    level if level.starts_with("error") => &mut diagnostics.errors,
                    _ => continue,
                };
                for (id, line) in culprits(&message, codes) {
                    groups.entry(id.to_owned()).or_insert_with(|| format!("line {line}: {}", message.message));
                }
            }
            Ok(Line::Other) | Err(_) => {}
        }
    }
    diagnostics
}

/// The groups that a message is about, and the line of each in its code.
fn culprits<'a>(message: &Message, codes: &[&'a Code]) -> Vec<(&'a str, usize)> {
    let mut spans: Vec<&Span> = message.spans.iter().collect();
    let mut found = Vec::new();
    while let Some(span) = spans.pop() {
        // Of what a macro made, the place that called the macro counts too.
        spans.extend(span.expansion.as_ref().map(|expansion| &expansion.span));
        let code = codes.iter().find(|code| code.file.as_os_str() == span.file_name.as_str());
        found.extend(code.map(|code| (code.id.as_str(), span.line_start)));
    }
    if found.is_empty() {
        // An error in code of others that was made for a type of a group, such as one that never ends.
        let text = message.rendered.as_deref().unwrap_or_default();
        let named = |code: &&&Code| text.contains(&format!("{}::", code.id));
        found.extend(codes.iter().filter(named).map(|code| (code.id.as_str(), 0)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(id: &str) -> Code {
        Code { id: id.to_owned(), file: format!("/code/{id}/contracts.rs").into(), payload: "Payload".to_owned() }
    }

    fn read_lines(lines: &[serde_json::Value]) -> Diagnostics {
        let codes = [code("draft7_a_1"), code("draft7_a_10")];
        let output: String = lines.iter().map(|line| format!("{line}\n")).collect();
        read(&output, &codes.iter().collect::<Vec<_>>())
    }

    fn message(level: &str, file: &str, rendered: &str) -> serde_json::Value {
        let span = serde_json::json!({"file_name": file, "line_start": 7, "expansion": null});
        let message = serde_json::json!({"level": level, "message": "m", "spans": [span], "rendered": rendered});
        serde_json::json!({"reason": "compiler-message", "message": message})
    }

    fn found(id: &str, text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(id.to_owned(), text.to_owned())])
    }

    #[test]
    fn a_message_in_a_groups_code_is_the_groups() {
        let diagnostics = read_lines(&[
            message("error", "/code/draft7_a_10/contracts.rs", ""),
            message("warning", "/code/draft7_a_1/contracts.rs", ""),
            message("note", "/code/draft7_a_1/contracts.rs", ""),
        ]);
        assert_eq!(diagnostics.errors, found("draft7_a_10", "line 7: m"));
        assert_eq!(diagnostics.warnings, found("draft7_a_1", "line 7: m"));
    }

    #[test]
    fn a_message_in_a_macro_is_of_the_group_that_calls_it() {
        let mut line = message("error", "/macro.rs", "");
        line["message"]["spans"][0]["expansion"] =
            serde_json::json!({"span": {"file_name": "/code/draft7_a_1/contracts.rs", "line_start": 9}});
        assert_eq!(read_lines(&[line]).errors, found("draft7_a_1", "line 9: m"));
    }

    #[test]
    fn a_message_elsewhere_is_of_the_group_that_its_text_names() {
        let line = message("error: internal compiler error", "/serde.rs", "cannot end `x::draft7_a_10::suite::T`");
        assert_eq!(read_lines(&[line]).errors, found("draft7_a_10", "line 0: m"));
        assert_eq!(read_lines(&[message("error", "/serde.rs", "draft7_b_1::T")]).errors, BTreeMap::new());
    }

    #[test]
    fn packages_that_compiled_are_named() {
        let diagnostics = read_lines(&[
            serde_json::json!({"reason": "compiler-artifact", "target": {"name": "groups_0"}}),
            serde_json::json!({"reason": "build-finished", "success": false}),
        ]);
        assert_eq!(diagnostics.compiled, BTreeSet::from(["groups_0".to_owned()]));
    }
}
