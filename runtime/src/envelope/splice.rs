//! Changes an envelope by bytes: everything that a hop does not own stays as it was spelled (contract section 1).

use std::{borrow::Cow, ops::Range};

use super::{
    DeadLetter, Poison,
    decode::{Identity, identity, text},
    layout::{Layout, Member, Name},
    scan::Raw,
};

/// The body of the next hop: `attempts` set, everything else byte for byte, but for members that must not be sent again
/// (the forbidden ones, and `urn`, which is written as `job`).
///
/// ```
/// use babelqueue::envelope::with_attempts;
///
/// let body = br#"{"job":"urn:x","data":{"amount":1.50},"attempts":0,"vendor":1e2}"#;
/// let next = with_attempts(body, 1).unwrap();
/// assert_eq!(next, br#"{"job":"urn:x","data":{"amount":1.50},"attempts":1,"vendor":1e2}"#);
/// ```
///
/// # Errors
///
/// The body is no JSON object.
pub fn with_attempts(body: &[u8], attempts: i64) -> Result<Vec<u8>, Poison> {
    rewrite(body, attempts, Block::Keep)
}

/// The body of a dead letter: `attempts` and `dead_letter` set, everything else as [`with_attempts`] leaves it.
///
/// # Errors
///
/// The body is no JSON object.
pub fn with_dead_letter(body: &[u8], attempts: i64, block: &DeadLetter<'_>) -> Result<Vec<u8>, Poison> {
    rewrite(body, attempts, Block::Set(block))
}

/// The body of a dead letter that starts over (contract section 5): `attempts` 0 and `dead_letter` gone, everything else
/// as [`with_attempts`] leaves it.
///
/// ```
/// use babelqueue::envelope::redriven;
///
/// let body = br#"{"job":"urn:x","data":{"amount":1.50},"attempts":3,"dead_letter":{"reason":"failed"},"vendor":1e2}"#;
/// let next = redriven(body).unwrap();
/// assert_eq!(next, br#"{"job":"urn:x","data":{"amount":1.50},"attempts":0,"vendor":1e2}"#);
/// ```
///
/// # Errors
///
/// The body is no JSON object.
pub fn redriven(body: &[u8]) -> Result<Vec<u8>, Poison> {
    rewrite(body, 0, Block::Remove)
}

/// What happens to `dead_letter`.
#[derive(Clone, Copy)]
enum Block<'a> {
    Keep,
    Set(&'a DeadLetter<'a>),
    Remove,
}

/// Replace a range of a text by this one.
pub(crate) struct Edit<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) text: Cow<'a, str>,
}

fn rewrite(body: &[u8], attempts: i64, block: Block<'_>) -> Result<Vec<u8>, Poison> {
    Layout::read(text(body)?)?.rewrite(attempts, block)
}

impl Layout<'_> {
    /// As [`redriven`].
    pub(crate) fn redriven(self) -> Result<Vec<u8>, Poison> {
        self.rewrite(0, Block::Remove)
    }

    fn rewrite(self, attempts: i64, block: Block<'_>) -> Result<Vec<u8>, Poison> {
        let Self { text, start, mut members, metas, job, urn } = self;
        let mut edits = Vec::new();
        for meta in &metas {
            remove(meta, &mut edits);
        }
        write_urn_as_job(&mut members, job, urn, &mut edits)?;
        let attempts = attempts.to_string();
        let mut added = Vec::new();
        set(&members, Name::Attempts, "attempts", &attempts, &mut edits, &mut added);
        let block = match block {
            Block::Keep => None,
            Block::Set(block) => Some(block.to_json()),
            Block::Remove => {
                forbid(&mut members, Name::DeadLetter);
                None
            }
        };
        if let Some(block) = &block {
            set(&members, Name::DeadLetter, "dead_letter", block, &mut edits, &mut added);
        }
        let end = remove(&members, &mut edits);
        append(&added, end.unwrap_or(start + 1), end.is_none(), &mut edits);
        Ok(apply(text, edits).into_bytes())
    }
}

fn forbid(members: &mut [Member], name: Name) {
    for member in members.iter_mut().filter(|member| member.name == name) {
        member.name = Name::Forbidden;
    }
}

/// Leaves one identity: `job`. Where `urn` named it, `urn` becomes `job` and the unusable `job` goes.
fn write_urn_as_job(
    members: &mut [Member],
    job: Option<Raw<'_>>,
    urn: Option<Raw<'_>>,
    edits: &mut Vec<Edit<'_>>,
) -> Result<(), Poison> {
    if matches!(identity(job, urn)?, Identity::Urn(_)) {
        forbid(members, Name::Job);
        if let Some(member) = members.iter_mut().rfind(|member| member.name == Name::Urn) {
            edits.push(Edit { range: member.start..member.value.start, text: "\"job\":".into() });
            member.name = Name::Other;
        }
    }
    forbid(members, Name::Urn);
    Ok(())
}

/// Gives every occurrence of a member the value, or notes that the member is to be added.
fn set<'a>(
    members: &[Member],
    name: Name,
    key: &'static str,
    value: &'a str,
    edits: &mut Vec<Edit<'a>>,
    added: &mut Vec<String>,
) {
    let mut found = false;
    for member in members.iter().filter(|member| member.name == name) {
        edits.push(Edit { range: member.value.clone(), text: value.into() });
        found = true;
    }
    if !found {
        added.push(format!("\"{key}\":{value}"));
    }
}

/// Drops the forbidden members; returns where the last member that stays ends.
fn remove(members: &[Member], edits: &mut Vec<Edit<'_>>) -> Option<usize> {
    let kept = members.iter().rposition(|member| member.name != Name::Forbidden);
    let inner = &members[..kept.map_or(0, |kept| kept + 1)];
    for (member, next) in inner.iter().zip(inner.iter().skip(1)) {
        if member.name == Name::Forbidden {
            edits.push(Edit { range: member.start..next.start, text: "".into() });
        }
    }
    let end = inner.last().map(|member| member.value.end);
    if let (Some(first), Some(last)) = (members.get(inner.len()), members.last()) {
        edits.push(Edit { range: end.unwrap_or(first.start)..last.value.end, text: "".into() });
    }
    end
}

fn append(added: &[String], at: usize, first: bool, edits: &mut Vec<Edit<'_>>) {
    if added.is_empty() {
        return;
    }
    let comma = if first { "" } else { "," };
    edits.push(Edit { range: at..at, text: format!("{comma}{}", added.join(",")).into() });
}

/// The text with all edits made; every other byte stays.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit<'_>>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut next = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut at = 0;
    for edit in edits {
        next.push_str(text.get(at..edit.range.start).unwrap_or_default());
        next.push_str(&edit.text);
        at = edit.range.end;
    }
    next.push_str(text.get(at..).unwrap_or_default());
    next
}

#[cfg(test)]
mod tests {
    use super::{super::decode_with_layout, *};

    fn next(body: &str) -> String {
        String::from_utf8(with_attempts(body.as_bytes(), 1).unwrap()).unwrap()
    }

    #[test]
    fn only_attempts_changes_when_nothing_is_forbidden() {
        let body = "{ \"job\" : \"urn:x\",\n \"attempts\" : 0 , \"data\":{\"n\":1.0e0, \"attempts\":7}, \"\\u00e9\":18446744073709551616 }";
        assert_eq!(next(body), body.replace(": 0 ,", ": 1 ,"));
    }

    #[test]
    fn absent_attempts_are_added_and_repeated_ones_all_set() {
        assert_eq!(next(r#"{"job":"urn:x"}"#), r#"{"job":"urn:x","attempts":1}"#);
        assert_eq!(next("{}"), r#"{"attempts":1}"#);
        assert_eq!(next(r#"{"attempts":0,"attempts":null}"#), r#"{"attempts":1,"attempts":1}"#);
        assert_eq!(next(r#"{"\u0061ttempts":0}"#), r#"{"\u0061ttempts":1}"#);
    }

    #[test]
    fn forbidden_members_go_wherever_they_stand() {
        let clean = r#"{"job":"urn:x","meta":{"id":"i"},"attempts":1}"#;
        for body in [
            r#"{"timestamp":1,"job":"urn:x","meta":{"id":"i"},"attempts":0}"#,
            r#"{"job":"urn:x","timestamp":{},"timestamp":[],"meta":{"id":"i","ts":1,"source":2},"attempts":0}"#,
            r#"{"job":"urn:x","meta":{"max_retries":1,"id":"i","attempts":3},"attempts":0,"timestamp":1,"urn":"urn:y"}"#,
            r#"{"job":"urn:x","urn":5,"meta":{"id":"i"},"attempts":0}"#,
        ] {
            assert_eq!(next(body), clean, "{body}");
        }
        assert_eq!(next(r#"{"timestamp":1}"#), r#"{"attempts":1}"#);
        assert_eq!(next(r#"{"meta":{"ts":1},"attempts":0}"#), r#"{"meta":{},"attempts":1}"#);
    }

    #[test]
    fn an_alias_that_named_the_message_becomes_job() {
        assert_eq!(next(r#"{"urn":" urn:y ","attempts":0}"#), r#"{"job":" urn:y ","attempts":1}"#);
        assert_eq!(next(r#"{"job":5,"urn":"urn:a","urn":"urn:y","attempts":0}"#), r#"{"job":"urn:y","attempts":1}"#);
        assert_eq!(next(r#"{"attempts":0,"urn":"urn:y","job":" "}"#), r#"{"attempts":1,"job":"urn:y"}"#);
    }

    #[test]
    fn a_redriven_body_starts_over_without_its_blocks() {
        let again = |body: &str| String::from_utf8(redriven(body.as_bytes()).unwrap()).unwrap();
        let kept = r#"{ "job" : "urn:x" , "data":{"dead_letter":1e400}, "\u00e9":1.0, "attempts":0 }"#;
        assert_eq!(again(&kept.replace(":0 }", ":7, \"dead_letter\" : {\"a\":[1]} }")), kept);
        assert_eq!(again(&kept.replace("{ \"job\"", "{ \"dead\\u005fletter\":null , \"job\"")), kept);
        assert_eq!(again(r#"{"dead_letter":1,"job":"urn:x","dead_letter":{}}"#), r#"{"job":"urn:x","attempts":0}"#);
        assert_eq!(again(r#"{"dead_letter":{}}"#), r#"{"attempts":0}"#);
        assert_eq!(
            again(r#"{"urn":"urn:x","meta":{"ts":1},"timestamp":1}"#),
            r#"{"job":"urn:x","meta":{},"attempts":0}"#
        );
    }

    #[test]
    fn a_body_that_was_decoded_is_redriven_without_another_scan_all_the_same() {
        for body in [
            r#" { "job" : "urn:x" , "data" : {"a":[1, 2]} , "attempts" : 3 , "dead_letter" : {"reason":"failed"} } "#,
            r#"{"dead_letter":{},"meta":{"ts":1,"id":"i","attempts":2},"job":"urn:x","x":1e400,"timestamp":1}"#,
            r#"{"urn":"urn:x","job":5,"urn":"urn:y","meta":null,"meta":{"source":1},"dead\u005fletter":null}"#,
            r#"{"job":"urn:x","urn":"urn:y","attempts":1,"attempts":2}"#,
        ] {
            let (_, layout) = decode_with_layout(body.as_bytes()).unwrap();
            assert_eq!(layout.redriven(), redriven(body.as_bytes()), "{body}");
        }
        assert!(decode_with_layout(b"{}").is_none() && decode_with_layout(b"null").is_none());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for body in [&b"null"[..], b"[1]", b"{", b"{} {}", b"\xff"] {
            assert!(with_attempts(body, 1).is_err());
            assert!(redriven(body).is_err());
        }
    }
}
