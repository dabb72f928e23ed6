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
fn every_keyword_without_support_is_named() {
    for (keyword, value) in [
        ("minimum", "1"),
        ("maxLength", "1"),
        ("pattern", "\"(\""),
        ("const", "\"a\""),
        ("allOf", "[{\"type\":\"string\"},{\"type\":\"integer\"}]"),
        ("oneOf", "[]"),
        ("anyOf", "[]"),
        ("not", "{}"),
        ("if", "{}"),
        ("$anchor", "\"a\""),
        ("$dynamicRef", "\"#a\""),
        ("unevaluatedProperties", "false"),
    ] {
        let schema = format!("{{\"type\":\"string\",\"{keyword}\":{value}}}");
        refused(&schema, &format!("/{keyword}"), &format!("keyword `{keyword}` is not supported yet"));
    }
}

#[test]
fn a_misspelt_keyword_is_told_from_an_unsupported_one() {
    refused(r#"{"type":"string","minLenght":1}"#, "/minLenght", "`minLenght` is no keyword of JSON Schema");
    refused(r#"{"type":"string","items":{}}"#, "/items", "keyword `items` has no meaning for a string");
    refused(r#"{"type":"string","$id":"x"}"#, "/$id", "keyword `$id` inside a schema file is not supported yet");
}

#[test]
fn annotations_are_taken() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://e.test/x.json","$comment":"c",
        "title":"t","description":"d","examples":[1],"deprecated":true,"x-owner":{"a":1},"type":"object","properties":
        {"p":{"type":"string","readOnly":true,"writeOnly":false,"format":"anything","x-gdpr-sensitive":true}}}"##;
    assert!(Folder::of_schema(schema).code().expect("code").contains("pub p: "));
}

#[test]
fn types_that_cannot_be_told_are_refused() {
    refused("true", "", "only `true` or `false`");
    refused("1", "", "a schema must be an object");
    refused("{}", "", "takes any JSON value");
    refused(r#"{"properties":{}}"#, "", "add `\"type\": \"object\"`");
    refused(r#"{"type":["string","integer"]}"#, "/type", "more than one type");
    refused(r#"{"type":"null"}"#, "/type", "only null");
    refused(r#"{"type":"text"}"#, "/type", "`text` is no type of JSON Schema");
    refused(r#"{"type":7}"#, "/type", "`type` must be");
    refused(r#"{"type":"array"}"#, "", "an array without `items`");
    refused(r#"{"type":"array","items":[{"type":"string"}]}"#, "/items", "a list of schemas");
    refused(r#"{"type":"object"}"#, "", "whose members are any JSON values");
    refused(r#"{"type":"object","additionalProperties":true}"#, "", "whose members are any JSON values");
}

#[test]
fn objects_that_no_struct_or_map_holds_are_refused() {
    refused(
        r#"{"type":"object","properties":{},"additionalProperties":{"type":"string"}}"#,
        "/additionalProperties",
        "beside `properties` is not supported yet",
    );
    refused(
        r#"{"type":"object","properties":{},"required":["a"]}"#,
        "/required/0",
        "`a` is not among the `properties`",
    );
    refused(r#"{"type":"object","properties":{},"required":"a"}"#, "/required", "must be a list of strings");
    refused(r#"{"type":"object","properties":[]}"#, "/properties", "`properties` must be an object");
    refused(
        r#"{"type":"object","additionalProperties":{"type":"string"},"required":["a"]}"#,
        "/required",
        "without `properties`",
    );
}

#[test]
fn an_unknown_format_of_a_number_is_refused() {
    refused(r#"{"type":"integer","format":"int128"}"#, "/format", "one of `int8`");
    refused(r#"{"type":"number","format":"decimal"}"#, "/format", "`float` or `double`");
}

#[test]
fn an_enum_of_other_values_than_strings_is_refused() {
    refused(r#"{"enum":[0,1,2,""]}"#, "/enum", "other values than strings");
    refused(r#"{"enum":[true,"x"]}"#, "/enum", "other values than strings");
    refused(r#"{"enum":[]}"#, "/enum", "without a string");
    refused(r#"{"enum":"a"}"#, "/enum", "must be a list");
    refused(r#"{"type":"integer","enum":[1]}"#, "/enum", "other values than strings");
}

#[test]
fn a_default_that_does_not_fit_is_refused_where_it_breaks() {
    refused(r#"{"type":"integer","default":"zero"}"#, "/default", "it is no integer");
    refused(r#"{"type":"integer","default":1.0}"#, "/default", "it is no integer");
    refused(r#"{"type":"integer","format":"uint8","default":256}"#, "/default", "does not fit `u8`");
    refused(r#"{"type":"number","default":1e999}"#, "/default", "out of range");
    refused(r#"{"type":"string","default":null}"#, "/default", "it is no string");
    refused(r#"{"enum":["a"],"default":"b"}"#, "/default", "none of the values");
    refused(r#"{"type":"array","items":{"type":"boolean"},"default":[true,1]}"#, "/default/1", "it is no boolean");
    refused(
        r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string"}},"default":{}}"#,
        "/default",
        "the member `a` is missing",
    );
    refused(r#"{"type":"object","properties":{},"default":{"a":1}}"#, "/default/a", "not among the `properties`");
    refused(
        r##"{"type":"object","properties":{"n":{"$ref":"#/properties/p","default":{}}}}"##,
        "/properties/n/default",
        "without end",
    );
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    refused(r##"{"$ref":"#/definitions/none"}"##, "/$ref", "`x.json` has no `/definitions/none`");
    refused(r##"{"$ref":"#card"}"##, "/$ref", "`x.json` has no anchor `card`");
    refused(r##"{"$ref":"#/a~2"}"##, "/$ref", "neither `~0` nor `~1`");
    refused(r#"{"$ref":"none.json"}"#, "/$ref", "cannot read `none.json`");
    refused(r#"{"$ref":7}"#, "/$ref", "must be a string");
    refused(r##"{"$ref":"#/properties/p"}"##, "/$ref", "leads back to itself");
    refused(r##"{"type":"array","items":{"$ref":"#/properties/p"}}"##, "/items", "or for ever");
}

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

#[test]
fn only_annotations_stand_beside_a_reference() {
    let schema = r##"{"$ref":"#/definitions/d","type":"string"}"##;
    let folder = Folder::of_schema(&format!(
        "{{\"type\":\"object\",\"definitions\":{{\"d\":{{\"type\":\"string\"}}}},\"properties\":{{\n\"p\":{schema}}}}}"
    ));
    let problems = folder.problems();
    assert_eq!(problems, ["x.json:2:31: /properties/p/type: keyword `type` is not supported yet beside `$ref`"]);
}

#[test]
fn a_payload_is_an_object() {
    for schema in [r#"{"type":"string"}"#, r#"{"type":["object","null"],"properties":{}}"#] {
        let problems = Folder::of_schema(schema).problems();
        assert_eq!(
            problems,
            ["x.json:1:1: /: the root of a payload must be an object with `properties`, and not null"]
        );
    }
    let problems = Folder::of_schema(r#"{"additionalProperties":{"type":"string"}}"#).problems();
    assert!(problems[0].contains("at the root of a payload"), "{problems:?}");
}

#[test]
fn another_dialect_is_refused() {
    let problems =
        Folder::of_schema(r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}"#).problems();
    assert!(problems[0].contains("/$schema: the dialect") && problems.len() == 1, "{problems:?}");
}

#[test]
fn definitions_that_nothing_refers_to_are_checked_in_every_file() {
    let folder = Folder::new(&[
        ("registry.json", REGISTRY),
        ("x.json", r#"{"type":"object","properties":{"p":{"$ref":"y.json"}},"definitions":{"a":{"type":"strng"}}}"#),
        ("y.json", r#"{"type":"string","$defs":{"b":{"type":"string","definitions":{"c":{"minimum":1}}}}}"#),
    ]);
    let problems = folder.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("x.json:1:") && problems[0].contains(": /definitions/a/type: "), "{problems:?}");
    assert!(
        problems[1].contains("y.json:1:") && problems[1].contains(": /$defs/b/definitions/c/minimum: "),
        "{problems:?}"
    );
}

#[test]
fn all_problems_of_a_run_are_reported_at_once() {
    let folder = Folder::new(&[
        (
            "registry.json",
            r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"},{"urn":"urn:babel:t:y","schema":"y.json"},{"urn":"urn:babel:t:z","schema":"z.json"},{"urn":"odd","schema":"x.json"}]}"#,
        ),
        (
            "x.json",
            "{\"type\":\"object\",\"properties\":{\n\"a\":{\"minimum\":1,\"type\":\"number\",\"maximum\":2},\n\"b\":{}}}",
        ),
        ("y.json", "{\n  \"type\": }\n"),
    ]);
    let problems = folder.problems();
    let starts = [
        "registry.json:1:120: /schemas/2/schema: cannot read `z.json`",
        "registry.json:1:140: /schemas/3/urn: the URN is not",
        "x.json:2:6: /properties/a/minimum: ",
        "x.json:2:34: /properties/a/maximum: ",
        "x.json:3:1: /properties/b: ",
        "y.json:2:11: not JSON: expected value",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem} is not {start}");
    }
}
