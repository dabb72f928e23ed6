//! What a schema must not say is refused at its file, line and JSON Pointer, never passed over.

use crate::folder::{Folder, REGISTRY};

/// The problems of a payload with the one property `p`.
fn property(schema: &str) -> Vec<String> {
    Folder::of_schema(&format!("{{\"type\":\"object\",\"properties\":{{\n\"p\":{schema}}}}}")).problems()
}

/// Asserts that the property is refused once, at `pointer` below it, with a reason that holds `reason`.
#[track_caller]
fn refused(schema: &str, pointer: &str, reason: &str) {
    let problems = property(schema);
    let place = format!(": /properties/p{pointer}: ");
    let [problem] = problems.as_slice() else { panic!("{schema}: not one problem: {problems:#?}") };
    assert!(
        problem.starts_with("x.json:2:") && problem.contains(&place) && problem.contains(reason),
        "{schema}: {problem}"
    );
}

#[test]
fn a_keyword_with_a_value_that_it_cannot_have_is_refused() {
    for (keyword, value, reason) in [
        ("type", "\"text\"", "`text` is no type of JSON Schema"),
        ("type", "7", "`type` must be"),
        ("type", "[]", "`type` must be"),
        ("enum", "\"a\"", "`enum` must be a list"),
        ("minimum", "\"1\"", "`minimum` must be a number"),
        ("exclusiveMaximum", "true", "`exclusiveMaximum` must be a number"),
        ("maxLength", "-1", "`maxLength` must be a whole number"),
        ("minItems", "1.5", "`minItems` must be a whole number"),
        ("minItems", "15e-1", "`minItems` must be a whole number"),
        ("uniqueItems", "1", "`uniqueItems` must be true or false"),
        // B29
        ("pattern", "\"(\"", "no regular expression"),
        ("pattern", "\"\\\\\"", "no regular expression"),
        ("format", "1", "`format` must be a string"),
        ("allOf", "{}", "`allOf` must be a list of schemas"),
        ("oneOf", "[]", "`oneOf` must be a list of schemas"),
        ("not", "7", "a schema must be an object"),
        ("if", "null", "a schema must be an object"),
        ("properties", "[]", "`properties` must be an object"),
        ("required", "\"a\"", "`required` must be a list of strings"),
        ("additionalProperties", "\"no\"", "a schema must be an object"),
        ("dependencies", "[]", "`dependencies` must be an object"),
        ("title", "7", "`title` must be a string"),
        ("x-rust-name", "\"two words\"", "asked for as a Rust name"),
    ] {
        let pointer = if keyword == "x-rust-name" { String::new() } else { format!("/{keyword}") };
        refused(&format!("{{\"{keyword}\":{value}}}"), &pointer, reason);
    }
    refused(r#"{"patternProperties":{"(":{}}}"#, "/patternProperties/(", "no regular expression");
    refused("1", "", "a schema must be an object");
}

// B29
#[test]
fn a_pattern_with_a_look_around_is_a_pattern() {
    assert!(Folder::of_schema(r#"{"properties":{"p":{"pattern":"^(?=.*\\d).{8,}$"}}}"#).code().is_ok());
}

// B08
#[test]
fn what_nothing_satisfies_is_refused() {
    for schema in [
        r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"enum":[]}"#,
        r#"{"const":1,"type":"string"}"#,
        r#"{"type":"string","minLength":3,"maxLength":2}"#,
        r#"{"anyOf":[false,false]}"#,
        r#"{"not":{}}"#,
        "false",
    ] {
        let property = format!("{{\"type\":\"object\",\"required\":[\"p\"],\"properties\":{{\n\"p\":{schema}}}}}");
        let problems = Folder::of_schema(&property).problems();
        assert_eq!(
            problems,
            ["x.json:2:1: /properties/p: no value satisfies this schema, and the member `p` is required"],
            "{schema}"
        );
    }
    let problems = Folder::of_schema(r#"{"allOf":[{"type":"object"},{"type":"string"}]}"#).problems();
    assert_eq!(problems, ["x.json:1:1: /: no object satisfies this schema, and a payload is an object"]);
}

// B30
#[test]
fn each_impossible_type_in_a_schema_of_thousands_of_lines_is_named() {
    let definition = |index: usize| match index {
        1499 => r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":[1]}}}"#.to_owned(),
        2499 => r#"{"required":["b"],"allOf":[{"type":"object"}],"additionalProperties":false}"#.to_owned(),
        _ => r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#.to_owned(),
    };
    let definitions: Vec<_> = (0..3000).map(|index| format!("\"d{index}\":{}", definition(index))).collect();
    let members: Vec<_> =
        (0..3000).map(|index| format!(r##""m{index}":{{"$ref":"#/definitions/d{index}"}}"##)).collect();
    let schema = format!(
        "{{\"required\":[\"m1499\",\"m2499\"],\"properties\":{{{}}},\"definitions\":{{\n{}}}}}",
        members.join(","),
        definitions.join(",\n")
    );
    assert_eq!(
        Folder::of_schema(&schema).problems(),
        [
            "x.json:1501:57: /definitions/d1499/properties/a: no value satisfies this schema, and the member `a` is required",
            "x.json:2501:55: /definitions/d2499/additionalProperties: no value satisfies this schema, and the member `b` is required",
        ]
    );
}

// B32
#[test]
fn both_keywords_for_definitions_are_read_and_one_name_in_both_is_no_merger() {
    let schema = |dialect: &str, old: &str, new: &str| {
        format!(
            r##"{{"$schema":"{dialect}","properties":{{"p":{{"$ref":"#/definitions/{old}"}},"q":{{"$ref":"#/$defs/{new}"}}}},
            "definitions":{{"{old}":{{"type":"object","properties":{{"x":{{"type":"string"}}}}}}}},
            "$defs":{{"{new}":{{"type":"object","properties":{{"y":{{"type":"string"}}}}}}}}}}"##
        )
    };
    for dialect in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let code = Folder::of_schema(&schema(dialect, "old", "new")).code().expect("code");
        assert!(code.contains("Option<Old>") && code.contains("Option<New>"), "{code}");
        let problems = Folder::of_schema(&schema(dialect, "same", "same")).problems();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(problem.starts_with("x.json:2:28: /definitions/same: the type would be called `Same`, "), "{problem}");
        assert!(problem.contains("as that of `x.json` at `/$defs/same`"), "{problem}");
    }
}

#[test]
fn annotations_are_taken() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://e.test/x.json","$comment":"c",
        "title":"t","description":"d","examples":[1],"deprecated":true,"x-owner":{"a":1},"type":"object","properties":
        {"p":{"type":"string","readOnly":true,"writeOnly":false,"format":"anything","x-gdpr-sensitive":true}}}"##;
    assert!(Folder::of_schema(schema).code().expect("code").contains("pub p: "));
}

// B02, C11
#[test]
fn references_that_lead_nowhere_are_refused() {
    refused(r##"{"$ref":"#/definitions/none"}"##, "/$ref", "`x.json` has no `/definitions/none`");
    refused(r##"{"$ref":"#card"}"##, "/$ref", "`x.json` has no anchor `card`");
    refused(r##"{"$ref":"#/a~2"}"##, "/$ref", "neither `~0` nor `~1`");
    refused(r#"{"$ref":"none.json"}"#, "/$ref", "cannot read `none.json`");
    refused(r#"{"$ref":7}"#, "/$ref", "must be a string");
    refused(r##"{"$ref":"#/properties/p"}"##, "", "leads back to itself");
    let dynamic =
        r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"p":{"$dynamicRef":"#none"}}}"##;
    assert_eq!(
        Folder::of_schema(dynamic).problems(),
        ["x.json:1:78: /properties/p/$dynamicRef: the reference leads nowhere: `x.json` has no anchor `none`"]
    );
}

// B01, B04
#[test]
fn nothing_is_read_outside_the_folder_or_from_the_network() {
    for reference in ["../secret.json", "a/../../secret.json"] {
        let folder =
            Folder::of_schema(&format!(r#"{{"type":"object","properties":{{"p":{{"$ref":"{reference}"}}}}}}"#));
        std::fs::write(folder.path("secret.json"), r#"{"type":"string"}"#).expect("a file");
        let problems = folder.problems();
        assert!(problems.len() == 1 && problems[0].contains("outside the schema folder"), "{problems:?}");
    }
    for reference in ["https://e.test/x.json", "//e.test/x.json"] {
        refused(&format!(r#"{{"$ref":"{reference}"}}"#), "/$ref", "the network is never asked");
    }
    refused(r#"{"$ref":"file:///etc/passwd"}"#, "/$ref", "leads outside the schema folder");
    refused(r#"{"$ref":"urn:uuid:1"}"#, "/$ref", "no file of the schema folder has the `$id` `urn:uuid:1`");
    refused(r#"{"$ref":"/etc/passwd"}"#, "/$ref", "is not a relative path");
}

// C24
#[test]
fn a_payload_is_an_object() {
    let problems = Folder::of_schema(r#"{"type":"string"}"#).problems();
    assert_eq!(problems, ["x.json:1:1: /: no object satisfies this schema, and a payload is an object"]);
    for schema in ["{}", "true", r#"{"type":["object","null"]}"#, r#"{"additionalProperties":{"type":"string"}}"#] {
        assert!(Folder::of_schema(schema).code().is_ok_and(|code| code.contains("pub struct X {")), "{schema}");
    }
}

#[test]
fn another_dialect_is_refused() {
    let problems = Folder::of_schema(r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#).problems();
    assert!(problems[0].contains("/$schema: the dialect") && problems.len() == 1, "{problems:?}");
}

#[test]
fn definitions_that_nothing_refers_to_are_checked_in_every_file() {
    let folder = Folder::new(&[
        ("registry.json", REGISTRY),
        ("x.json", r#"{"type":"object","properties":{"p":{"$ref":"y.json"}},"definitions":{"a":{"type":"strng"}}}"#),
        ("y.json", r#"{"type":"string","$defs":{"b":{"type":"string","definitions":{"c":{"minimum":"1"}}}}}"#),
    ]);
    let problems = folder.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("x.json:1:") && problems[0].contains(": /definitions/a/type: "), "{problems:?}");
    assert!(
        problems[1].contains("y.json:1:") && problems[1].contains(": /$defs/b/definitions/c/minimum: "),
        "{problems:?}"
    );
}

// B30
#[test]
fn all_problems_of_a_run_are_reported_at_once() {
    let folder = Folder::new(&[
        (
            "registry.json",
            r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"},{"urn":"urn:babel:t:y","schema":"y.json"},{"urn":"urn:babel:t:z","schema":"z.json"},{"urn":"odd","schema":"x.json"}]}"#,
        ),
        (
            "x.json",
            "{\"type\":\"object\",\"properties\":{\n\"a\":{\"minimum\":\"1\",\"type\":\"number\",\"maximum\":{}},\n\"b\":7}}",
        ),
        ("y.json", "{\n  \"type\": }\n"),
    ]);
    let problems = folder.problems();
    let starts = [
        "registry.json:1:120: /schemas/2/schema: cannot read `z.json`",
        "registry.json:1:140: /schemas/3/urn: the URN is not",
        "x.json:2:6: /properties/a/minimum: ",
        "x.json:2:36: /properties/a/maximum: ",
        "x.json:3:1: /properties/b: ",
        "y.json:2:11: not JSON: expected value",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem} is not {start}");
    }
}

#[test]
fn a_rust_type_that_is_no_path_is_refused_however_deep_it_nests() {
    let deep = format!("{}u8{}", "Vec<".repeat(100_000), ">".repeat(100_000));
    for path in ["Vec<", "1 +", "a b", "", deep.as_str()] {
        refused(&format!("{{\"x-rust-type\":\"{path}\"}}"), "/x-rust-type", "is no path of a Rust type");
    }
}

#[test]
fn a_problem_is_one_line_whatever_the_names_in_the_schema_are() {
    let problems = Folder::of_schema(
        r##"{"properties":{"a":{"$ref":"#/$defs/x\nx"},"b":{"$ref":"#/$defs/y"}},
        "$defs":{"x\nx":{"title":"T","properties":{"v":{}}},"y":{"title":"T","x-rust-name":"XX","properties":{"v":{}}}}}"##,
    )
    .problems();
    let [problem] = problems.as_slice() else { panic!("not one line: {problems:#?}") };
    assert!(problem.contains(r"/$defs/x\nx: the type would be called `XX`"), "{problem}");
}
