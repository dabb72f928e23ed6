use serde_json::json;

use super::*;

const URN: &str = "urn:babel:orders:created";

fn schemas(schema: &Value) -> Schemas {
    let mut schemas = Schemas::new();
    schemas.insert(URN, schema).unwrap();
    schemas
}

fn violations(schema: &Value, data: &str) -> Vec<(String, String)> {
    sorted(&schemas(schema).validate(URN, data).unwrap_err())
}

/// The order is the validator's own.
fn sorted(violations: &Violations) -> Vec<(String, String)> {
    let mut sorted: Vec<_> = violations.iter().map(|v| (v.pointer.clone(), v.keyword.clone())).collect();
    sorted.sort();
    sorted
}

fn valid(schema: &Value, data: &str) -> bool {
    schemas(schema).validate(URN, data).is_ok()
}

/// A folder with a registry of one URN, and these files.
fn registry(files: &[(&str, &str)]) -> (tempfile::TempDir, Result<Schemas, SchemaError>) {
    let folder = tempfile::tempdir().unwrap();
    let registry = r#"{"schemas":[{"urn":"urn:babel:orders:created","schema":"orders/created.json","owner":"x"}]}"#;
    for (path, text) in [("registry.json", registry)].iter().chain(files) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let schemas = Schemas::from_registry(folder.path().join("registry.json"));
    (folder, schemas)
}

#[test]
fn every_violation_is_listed_with_its_pointer_and_keyword() {
    let schema = json!({
        "type": "object",
        "required": ["order_id"],
        "additionalProperties": false,
        "properties": {
            "order_id": {"type": "integer"},
            "lines": {"items": {"properties": {"a/b": {"minimum": 1}}}},
        },
    });
    assert_eq!(
        violations(&schema, r#"{"lines":[{},{"a/b":0}],"x~y":1,"z":2}"#),
        [
            ("", "required"),
            ("/lines/1/a~1b", "minimum"),
            ("/x~0y", "additionalProperties"),
            ("/z", "additionalProperties"),
        ]
        .map(|(pointer, keyword)| (pointer.to_owned(), keyword.to_owned()))
    );
}

#[test]
fn no_value_of_the_payload_is_told() {
    // Each keyword with a payload that breaks it.
    let schema = json!({
        "properties": {
            "a": {"type": "integer", "x-gdpr-sensitive": true},
            "b": {"pattern": "^[0-9]+$"},
            "c": {"enum": ["x", "y"]},
            "d": {"const": 1},
            "e": {"maxLength": 2},
            "f": {"format": "ipv4"},
            "g": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "h": {"oneOf": [{"type": "string"}, {"minLength": 1}]},
            "i": {"not": {"type": "string"}},
            "j": {"contains": {"type": "integer"}},
            "k": {"uniqueItems": true},
            "l": {"additionalItems": false, "items": [{"type": "string"}]},
            "m": {"propertyNames": {"maxLength": 2}},
            "n": false,
            "o": {"contentEncoding": "base64"},
            "p": {"contentMediaType": "application/json"},
            "q": {"minimum": 918_273_646},
            "r": {"multipleOf": 2},
        },
    });
    let mut data = json!({
        "j": ["SECRET"], "k": ["SECRET", "SECRET"], "l": ["SECRET", "SECRET"], "m": {"SECRET": 1},
        "q": 918_273_645, "r": 918_273_645,
    });
    for name in "abcdefghinop".chars() {
        data[name.to_string()] = json!("SECRET");
    }
    let violations = schemas(&schema).validate(URN, &data.to_string()).unwrap_err();
    assert_eq!(violations.iter().count(), 18, "{violations}");
    let text = format!("{violations} {violations:?}");
    assert!(!text.contains("SECRET") && !text.contains("918273645"), "{text}");
}

#[test]
fn the_text_is_bounded() {
    let schema = json!({"additionalProperties": {"type": "integer"}});
    let data: serde_json::Map<_, _> = (0..1000).map(|n| (format!("{n:03}\n{}", "x".repeat(5000)), json!(""))).collect();
    let violations = schemas(&schema).validate(URN, &Value::from(data).to_string()).unwrap_err();
    assert_eq!((violations.iter().count(), violations.more()), (20, 980));
    let text = violations.to_string();
    assert!(text.len() < 8000 && !text.contains('\n'), "{text}");
    assert!(text.ends_with("; and 980 more"), "{text}");
}

#[test]
fn the_draft_is_07_unless_the_schema_says_otherwise() {
    // An array of `items` is a tuple in draft-07 and an error from 2020-12 on.
    let mut schema = json!({"properties": {"a": {"items": [{"type": "integer"}]}}});
    assert!(!valid(&schema, r#"{"a":["x"]}"#));
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    assert!(Schemas::new().insert(URN, &schema).is_err());
    schema["$schema"] = json!("https://example.com/own-dialect");
    assert!(Schemas::new().insert(URN, &schema).is_err());
}

#[test]
fn the_length_of_a_string_counts_code_points() {
    let schema = json!({"properties": {"a": {"maxLength": 2, "minLength": 2}}});
    for (text, expected) in [("ab", true), ("😀😀", true), ("😀", false), ("e\u{301}", true), ("ğüş", false)] {
        assert_eq!(valid(&schema, &json!({"a": text}).to_string()), expected, "{text}");
    }
}

#[test]
fn integers_of_64_bits_are_compared_exactly() {
    for (limit, data, expected) in [
        (json!({"maximum": 9_007_199_254_740_992_u64}), "9007199254740992", true),
        (json!({"maximum": 9_007_199_254_740_992_u64}), "9007199254740993", false),
        (json!({"minimum": u64::MAX}), "18446744073709551614", false),
        (json!({"exclusiveMinimum": i64::MIN}), "-9223372036854775808", false),
        (json!({"multipleOf": 2}), "9007199254740993", false),
        (json!({"const": 9_007_199_254_740_993_u64}), "9007199254740992", false),
        (json!({"multipleOf": 0.01}), "19.99", true),
        (json!({"multipleOf": 0.01}), "19.995", false),
        // Wider than 64 bits, and still an integer.
        (json!({"type": "integer", "minimum": 0}), "100000000000000000000", true),
        (json!({"type": "integer"}), "1.0", true),
        (json!({"type": "integer"}), "1.5", false),
    ] {
        let schema = json!({"properties": {"a": limit}});
        assert_eq!(valid(&schema, &format!(r#"{{"a":{data}}}"#)), expected, "{schema} {data}");
    }
}

#[test]
fn what_cannot_be_judged_is_a_violation_and_no_crash() {
    let nested = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let list = json!({"anyOf": [{"items": {"$ref": "#/definitions/list"}}, {"type": "integer"}]});
    let schema = json!({"properties": {"a": {"$ref": "#/definitions/list"}}, "definitions": {"list": list}});
    assert!(valid(&schema, &nested(126)));
    for data in [nested(200_000), r#"{"a":"\ud800"}"#.to_owned(), String::new()] {
        assert_eq!(violations(&schema, &data), [(String::new(), String::new())]);
    }
}

#[test]
fn a_schema_that_is_not_valid_is_an_error_with_its_place() {
    for (schema, place) in [
        (json!({"properties": {"a": {"minimum": "x"}}}), "/properties/a/minimum"),
        (json!({"properties": {"a": {"pattern": "("}}}), "/properties/a/pattern"),
        (json!([]), ""),
        (json!({"$ref": "https://example.com/schema.json"}), ""),
        (json!({"$ref": "party.json"}), ""),
        (json!({"$ref": "#/definitions/none"}), ""),
    ] {
        let error = Schemas::new().insert(URN, &schema).unwrap_err().to_string();
        assert!(error.contains(URN) && error.contains(place), "{error}");
    }
    let mut schemas = schemas(&json!(true));
    assert!(schemas.insert(URN, &json!(true)).is_err());
}

#[test]
fn a_schema_that_refers_to_itself_does_not_run_for_ever() {
    for schema in [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}]}), json!({"properties": {"a": {"$ref": "#"}}})]
    {
        let mut schemas = Schemas::new();
        if schemas.insert(URN, &schema).is_ok() {
            let _ = schemas.validate(URN, r#"{"a":{"a":{}}}"#);
        }
    }
}

#[test]
fn a_registry_gives_each_urn_its_schema() {
    let schema = r#"{"$id":"https://example.com/v1/created.json","required":["order_id"],
        "properties":{"buyer":{"$ref":"../common/a%20party.json#/definitions/party"}}}"#;
    let party = "\u{feff}{\"definitions\":{\"party\":{\"items\":[{\"$ref\":\"#/definitions/name\"}]},\"name\":{\"minLength\":1}}}";
    let (_folder, schemas) = registry(&[("orders/created.json", schema), ("common/a party.json", party)]);
    let schemas = schemas.unwrap();
    assert!(schemas.validate(URN, r#"{"order_id":1,"buyer":["x"]}"#).is_ok());
    let violations = schemas.validate(URN, r#"{"buyer":[""]}"#).unwrap_err();
    let expected = [("", "required"), ("/buyer/0", "minLength")];
    assert_eq!(sorted(&violations), expected.map(|(pointer, keyword)| (pointer.to_owned(), keyword.to_owned())));
    assert!(schemas.validate("urn:babel:orders:cancelled", "{}").is_ok());
    assert_eq!(format!("{schemas:?}"), format!("{{{URN:?}}}"));
}

#[test]
fn a_file_is_known_by_its_id_and_what_it_refers_to_lies_beside_it_all_the_same() {
    let schema = r##"{"$id":"https://example.com/created","properties":{
        "buyer":{"$ref":"https://example.com/party#/definitions/party"},
        "seller":{"$ref":"https://example.com/party"},
        "bill":{"$ref":"urn:example:bill#"},
        "default":{"$ref":"urn:example:bill"},
        "said":{"const":{"$ref":"urn:example:bill"}},
        "parent":{"$ref":"https://example.com/created"}}}"##;
    let party = r##"{"$id":"https://example.com/party","allOf":[{"$ref":"#/definitions/party"}],
        "definitions":{"party":{"properties":{"name":{"$ref":"name.json"}}}}}"##;
    let bill = r##"{"$id":"urn:example:bill","properties":{"name":{"$ref":"name.json"}}}"##;
    let name = r#"{"$id":"https://elsewhere.example.com/name","minLength":1}"#;
    let files = [
        ("orders/created.json", schema),
        ("common/party.json", party),
        ("common/bill.json", bill),
        ("common/name.json", name),
        ("common/notes.json", "{"),
    ];
    let (_folder, schemas) = registry(&files);
    let schemas = schemas.unwrap();
    for (name, expected) in [("x", true), ("", false)] {
        for member in ["buyer", "seller", "bill", "default"] {
            let data = json!({"parent": {member: {"name": name}}}).to_string();
            assert_eq!(schemas.validate(URN, &data).is_ok(), expected, "{data}");
        }
    }
    // A value is no reference.
    assert!(schemas.validate(URN, r#"{"said":{"$ref":"urn:example:bill"}}"#).is_ok());
}

#[test]
fn a_path_leads_to_the_file_that_lies_there_whatever_ids_other_files_have() {
    let schema = r##"{"definitions":{"x":{"minimum":1}},
        "properties":{"buyer":{"$ref":"party.json"},"own":{"$ref":"#/definitions/x"}}}"##;
    let (_folder, schemas) = registry(&[
        ("orders/created.json", schema),
        ("orders/party.json", r#"{"minLength":1}"#),
        ("common/party.json", r#"{"$id":"party.json","maxLength":0}"#),
        ("common/bare.json", r##"{"$id":"#"}"##),
    ]);
    let schemas = schemas.unwrap();
    assert!(schemas.validate(URN, r#"{"buyer":"x","own":1}"#).is_ok());
    assert_eq!(sorted(&schemas.validate(URN, r#"{"buyer":"","own":0}"#).unwrap_err()).len(), 2);
}

#[test]
fn a_file_referred_to_is_of_draft_07_as_well() {
    // A keyword of later drafts.
    let party = r#"{"dependentRequired":{"a":["b"]}}"#;
    for (dialect, expected) in [("", true), (r#""$schema":"https://json-schema.org/draft/2020-12/schema","#, false)] {
        let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"../party.json"}"#;
        let party = party.replacen('{', &format!("{{{dialect}"), 1);
        let (_folder, schemas) = registry(&[("orders/created.json", schema), ("party.json", &party)]);
        assert_eq!(schemas.unwrap().validate(URN, r#"{"a":1}"#).is_ok(), expected, "{party}");
    }
}

#[test]
fn a_registry_that_cannot_be_used_names_the_file() {
    assert!(Schemas::from_registry("missing/registry.json").unwrap_err().to_string().contains("missing"));
    for (files, named) in [
        (&[][..], "created.json"),
        (&[("orders/created.json", "{")], "created.json"),
        (&[("orders/created.json", r#"{"minimum":"x"}"#)], "created.json: /minimum: "),
        (&[("orders/created.json", r#"{"$ref":"none.json"}"#)], "none.json"),
        (&[("orders/created.json", r#"{"$ref":"https://example.com/a.json"}"#)], "only files of the schema folder"),
        (&[("orders/created.json", r#"{"$ref":"%2e%2e/%2e%2e/%2e%2e/etc/hostname"}"#)], "hostname"),
        (&[("registry.json", "[]")], "registry.json"),
        (&[("registry.json", r#"{"schemas":[{"urn":" ","schema":"a.json"}]}"#)], "/schemas/0/urn"),
        (&[("registry.json", r#"{"schemas":[{"urn":"urn:x","schema":"../a.json"}]}"#)], "/schemas/0/schema"),
        (&[("registry.json", r#"{"schemas":[{"urn":"urn:x"}]}"#)], "schema"),
    ] {
        let (folder, schemas) = registry(files);
        let error = schemas.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        let folder = folder.path().display().to_string();
        assert!(error.contains(&folder), "{error}");
    }
}
