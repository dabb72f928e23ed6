//! What is wrong with a registry is reported at the line of its entry.

use crate::folder::Folder;

const SCHEMA: &str = r#"{"type":"object","required":["a","o"],"properties":{"a":{"type":"string"},"opt":{"type":"integer"},
    "o":{"type":"object","properties":{"b":{"type":"string"}}},"maybe":{"type":"object","properties":{"b":{"type":"string"}}},
    "both":{"type":["string","null"]},"list":{"type":"array","items":{"type":"string"}},"x/y":{"type":"boolean"}}}"#;

/// The problems of a registry of `entries`, one a line from line 2.
fn problems(entries: &[&str]) -> Vec<String> {
    let registry = format!("{{\"schemas\":[\n{}\n]}}", entries.join(",\n"));
    Folder::new(&[("registry.json", &registry), ("x.json", SCHEMA), ("y.json", SCHEMA)]).problems()
}

/// Asserts that the one entry is refused at its member `name` for a reason that holds `reason`.
#[track_caller]
fn refused(entry: &str, name: &str, reason: &str) {
    let problems = problems(&[entry]);
    let [problem] = problems.as_slice() else { panic!("{entry}: not one problem: {problems:#?}") };
    assert!(problem.starts_with("registry.json:2:"), "{entry}: {problem}");
    assert!(problem.contains(&format!(": /schemas/0/{name}: ")) && problem.contains(reason), "{entry}: {problem}");
}

#[test]
fn a_missing_schema_names_the_registry_line() {
    let good = r#"{"urn":"urn:babel:t:x","schema":"x.json"}"#;
    let problems = problems(&[good, r#"{"urn":"urn:babel:t:y","schema":"typo.json"}"#]);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("registry.json:3:24: /schemas/1/schema: cannot read `typo.json`: "),
        "{problems:?}"
    );
}

#[test]
fn a_urn_that_comes_twice_names_both_lines() {
    let entry = |file: &str| format!(r#"{{"urn":"urn:babel:t:x","schema":"{file}"}}"#);
    let problems = problems(&[&entry("x.json"), &entry("y.json")]);
    assert!(
        problems.contains(
            &"registry.json:3:2: /schemas/1/urn: the URN `urn:babel:t:x` has a schema already, in line 2".to_owned()
        ),
        "{problems:?}"
    );
}

#[test]
fn entries_without_their_members_are_refused() {
    refused(r#"{"schema":"x.json","topic":"t"}"#, "urn", "the entry has no `urn`");
    refused(r#"{"urn":"urn:babel:t:x"}"#, "schema", "the entry has no `schema`");
    refused(r#"{"urn":7,"schema":"x.json","topic":"t"}"#, "urn", "must be a string");
    refused(r#"{"urn":"urn:babel:t:x","schema":"x.json","owner":7}"#, "owner", "must be a string");
    refused(r#"{"urn":"urn:babel:t:x","schema":"x.json","status":"retired"}"#, "status", "`active` or `deprecated`");
}

#[test]
fn bad_urns_and_topics_are_refused() {
    refused(r#"{"urn":" urn:x","schema":"x.json","topic":"t"}"#, "urn", "begins or ends with whitespace");
    refused(r#"{"urn":"urn:acme:x","schema":"x.json"}"#, "urn", "must name its `topic`");
    refused(r#"{"urn":"urn:babel:t:x","schema":"x.json","topic":"a b"}"#, "topic", "holds ' '");
    refused(r#"{"urn":"urn:babel:t:x","schema":"x.json","topic":".."}"#, "topic", "cannot be called");
    refused(r#"{"urn":"urn:babel:t:x","schema":"x.json","topic":""}"#, "topic", "is empty");
}

#[test]
fn a_schema_outside_the_folder_is_refused() {
    refused(r#"{"urn":"urn:babel:t:x","schema":"../x.json"}"#, "schema", "outside the schema folder");
    refused(r#"{"urn":"urn:babel:t:x","schema":"/x.json"}"#, "schema", "is not a relative path");
    refused(r#"{"urn":"urn:babel:t:x","schema":"C:\\x.json"}"#, "schema", "is not a relative path");
}

#[test]
fn a_key_that_leads_to_no_string_or_integer_is_refused() {
    for (key, reason) in [
        ("a", "must be a JSON Pointer"),
        ("", "must be a JSON Pointer"),
        ("/none", "the payload has no `/none`"),
        ("/a/b", "`/a` is no object"),
        ("/o", "`/o` is neither a string nor an integer"),
        ("/list", "`/list` is neither"),
        ("/list/0", "`/list` is no object"),
        ("/x~1y", "`/x~1y` is neither"),
        ("/maybe/b", "`/maybe` may be missing or null"),
    ] {
        refused(&format!(r#"{{"urn":"urn:babel:t:x","schema":"x.json","key":"{key}"}}"#), "key", reason);
    }
}

#[test]
fn a_key_may_lead_to_an_optional_member_of_a_required_object() {
    let registry = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json","key":"/o/b"}]}"#;
    let code = Folder::new(&[("registry.json", registry), ("x.json", SCHEMA)]).code().expect("code");
    assert!(code.contains("key = o.b"), "{code}");
}

#[test]
fn a_key_may_be_missing_and_may_be_null() {
    let registry = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json","key":"/both"}]}"#;
    let code = Folder::new(&[("registry.json", registry), ("x.json", SCHEMA)]).code().expect("code");
    assert!(code.contains("key = both"), "{code}");
}

#[test]
fn one_schema_for_two_urns_of_a_topic_is_refused() {
    let entry = |urn: &str| format!(r#"{{"urn":"urn:babel:t:{urn}","schema":"x.json"}}"#);
    let problems = problems(&[&entry("b"), &entry("a")]);
    assert!(problems.len() == 1 && problems[0].contains("is the payload of another URN"), "{problems:?}");
}

#[test]
fn topics_that_would_share_a_module_are_refused() {
    let entry = |topic: &str, file: &str| format!(r#"{{"urn":"urn:{topic}","topic":"{topic}","schema":"{file}"}}"#);
    let problems = problems(&[&entry("a-b", "x.json"), &entry("a.b", "y.json")]);
    assert!(
        problems.len() == 1 && problems[0].contains("the topics `a-b` and `a.b` would share a module"),
        "{problems:?}"
    );
}

#[test]
fn types_with_one_name_are_refused_by_an_error_that_names_both() {
    let two = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"},{"urn":"urn:babel:t:y","schema":"y.json"}]}"#;
    let titled = r#"{"title":"Same","type":"object"}"#;
    let problems = Folder::new(&[("registry.json", two), ("x.json", titled), ("y.json", titled)]).problems();
    let reason =
        "the type would be called `Same`, as that of `x.json` at `/`; change a title or the name of a definition";
    assert_eq!(problems, [format!("y.json:1:1: /: {reason}")]);

    // B18
    for (first, second, name) in
        [("OrderLine", "order_line", "OrderLine"), ("SessionStatus", "session.status", "SessionStatus")]
    {
        let schema = format!(
            r##"{{"type":"object","properties":{{"a":{{"$ref":"#/definitions/{first}"}},"b":{{"$ref":"#/definitions/{second}"}}}},
            "definitions":{{"{first}":{{"type":"object","properties":{{"a":{{}}}}}},"{second}":{{"type":"object","properties":{{"b":{{}}}}}}}}}}"##
        );
        let problems = Folder::of_schema(&schema).problems();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        let reason = format!(
            "/definitions/{second}: the type would be called `{name}`, as that of `x.json` at `/definitions/{first}`"
        );
        assert!(problem.contains(&reason), "{problem}");
    }
}

#[test]
fn a_registry_that_is_none_is_refused() {
    for (text, start) in [
        ("[]", "registry.json:1:1: /schemas: the registry has no list `schemas`"),
        ("{\"schemas\":{}}", "registry.json:1:2: /schemas: the registry has no list `schemas`"),
        ("{\"schemas\":[7]}", "registry.json:1:13: /schemas/0: an entry must be an object"),
        ("{\n", "registry.json:1:2: not JSON: EOF while parsing an object"),
        ("", "registry.json:1:1: not JSON: EOF while parsing a value"),
    ] {
        let problems = Folder::new(&[("registry.json", text)]).problems();
        assert!(problems[0].starts_with(start), "{problems:?}");
    }
    let problems = Folder::new(&[]).problems();
    assert!(problems[0].starts_with("registry.json: cannot read `registry.json`"), "{problems:?}");
}
