//! The rules of contract section 7, one by one, and changes of documentation.

use crate::states::{OK, check};

const A: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
const CLOSED: &str = r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#;

#[test]
fn what_the_contract_calls_breaking_breaks() {
    let required = r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}"#;
    check(&[
        // A new required field.
        (
            A,
            r#"{"type":"object","required":["b"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}}"#,
            "/required: BACKWARD: `b` is a new member and required",
            OK,
        ),
        // An optional field made required.
        (A, required, "/required: BACKWARD: `a` is required, and earlier data may lack it", OK),
        // A field removed, from an open and from a closed object.
        (
            A,
            r#"{"type":"object","properties":{}}"#,
            "/properties: BACKWARD: the member `a` is gone or has another name: contract section 7",
            OK,
        ),
        (
            CLOSED,
            r#"{"type":"object","properties":{},"additionalProperties":false}"#,
            "/additionalProperties: BACKWARD: earlier data may have the member `a`, which this schema does not allow",
            OK,
        ),
        (
            required,
            r#"{"type":"object"}"#,
            "the member `a` is gone",
            ": /: FORWARD: `a` is gone, and the earlier schema requires it",
        ),
        // Renamed.
        (A, r#"{"type":"object","properties":{"b":{"type":"string"}}}"#, "`a` is gone or has another name", OK),
        (
            required,
            r#"{"type":"object","required":["b"],"properties":{"b":{"type":"string"}}}"#,
            "`b` is a new member and required",
            "/required: FORWARD: `a` is gone, and the earlier schema requires it",
        ),
        // Retyped.
        (
            A,
            r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
            "/properties/a/type: BACKWARD: earlier data may be a string, and this schema takes only an integer",
            "/properties/a/type: FORWARD: new data may be an integer, and the earlier schema takes only a string",
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"number"}}}"#,
            "`integer` has become `number`: every earlier value is still valid, but contract section 7",
            "new data may be a number with a fraction, and the earlier schema takes only an integer",
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"number"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
            "earlier data may be a number with a fraction, and this schema takes only an integer",
            OK,
        ),
        // `additionalProperties` from true to false.
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}"#,
            CLOSED,
            "/additionalProperties: BACKWARD: earlier data may have members that no schema names, and this schema allows none",
            OK,
        ),
        (A, CLOSED, "/additionalProperties: BACKWARD: earlier data may have members", OK),
        // An enum value dropped, an enum where any value was allowed.
        (
            r#"{"type":"object","properties":{"a":{"enum":["x","y","z"]}}}"#,
            r#"{"type":"object","properties":{"a":{"enum":["x"]}}}"#,
            "/properties/a/enum: BACKWARD: earlier data may be `\"y\"`, `\"z\"`, which this schema does not take",
            OK,
        ),
        (
            A,
            r#"{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}"#,
            "/properties/a/enum: BACKWARD: earlier data may be any value of its type, and this schema lists those that it takes",
            OK,
        ),
    ]);
}

#[test]
fn what_the_contract_calls_compatible_is() {
    check(&[
        // A new optional field, in an open and in a closed object.
        (A, r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}"#, OK, OK),
        (
            CLOSED,
            r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}"#,
            OK,
            "/properties/b: FORWARD: new data may have the member `b`, which the earlier schema does not allow",
        ),
        // A wider enum.
        (
            r#"{"type":"object","properties":{"a":{"enum":["x"]}}}"#,
            r#"{"type":"object","properties":{"a":{"enum":["y","x"]}}}"#,
            OK,
            "/properties/a/enum: FORWARD: new data may be `\"y\"`, which the earlier schema does not take",
        ),
        (
            r#"{"type":"object","properties":{"a":{"enum":["x"]}}}"#,
            A,
            OK,
            "/properties/a: FORWARD: new data may be any value of its type, and the earlier schema lists those",
        ),
        // A relaxed bound.
        (
            r#"{"type":"object","properties":{"a":{"type":"integer","minimum":5}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"integer","minimum":4}}}"#,
            OK,
            "/properties/a/minimum: FORWARD: new data need not keep to `minimum` 5 of the earlier schema",
        ),
        // A required field made optional.
        (
            r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}"#,
            A,
            OK,
            "FORWARD: `a` may be missing, and the earlier schema requires it",
        ),
        // `additionalProperties` from false to true.
        (CLOSED, A, OK, "FORWARD: new data may have members that no schema names, and the earlier schema allows none"),
    ]);
}

#[test]
fn the_rules_of_the_contract_hold_at_any_depth() {
    let nest = |inner: &str| {
        format!(
            r#"{{"type":"object","properties":{{"list":{{"type":"array","items":{{"type":"object","properties":{{"inner":{inner}}}}}}}}}}}"#
        )
    };
    check(&[
        (
            &nest(A),
            &nest(r#"{"type":"object"}"#),
            "/properties/list/items/properties/inner: BACKWARD: the member `a` is gone",
            OK,
        ),
        (
            &nest(r#"{"type":"integer"}"#),
            &nest(r#"{"type":"number"}"#),
            "/properties/list/items/properties/inner/type: BACKWARD: `integer` has become `number`",
            "FORWARD",
        ),
    ]);
}

#[test]
fn changes_of_documentation_are_no_breaks() {
    let plain = r##"{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"$ref":"#/definitions/d"}},
        "definitions":{"d":{"type":"integer","minimum":0},"unused":{"type":"string"}}}"##;
    check(&[
        (
            plain,
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://e.test/x","$comment":"c","title":"T",
                "description":"D","examples":[{}],"default":{},"deprecated":true,"readOnly":true,"writeOnly":true,
                "x-gdpr-sensitive":true,"x-rust-name":"N","foo":1,
                "definitions":{"d":{"minimum":0.0,"type":"integer","title":"d"},"unused":{"type":"integer"}},
                "properties":{"b":{"$ref":"#/definitions/d"},"a":{"type":"string","description":"a","default":"x"}},
                "required":["b","a"],"type":"object"}"##,
            OK,
            OK,
        ),
        // A definition that is renamed, one that goes, one that is written where it is used.
        (
            plain,
            r##"{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"$ref":"#/$defs/e"}},
                "$defs":{"e":{"type":"integer","minimum":0}}}"##,
            OK,
            OK,
        ),
        (
            plain,
            r#"{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"minimum":0,"type":["integer"]}}}"#,
            OK,
            OK,
        ),
        // `format` is an annotation, and so is what a string holds.
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","format":"uuid","contentEncoding":"base64"}}}"#,
            OK,
            OK,
        ),
        // The same by other keywords.
        (
            r#"{"type":"object","properties":{"a":{"const":1}}}"#,
            r#"{"type":"object","properties":{"a":{"enum":[1.0]}}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}"#,
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{}}"#,
            OK,
            OK,
        ),
    ]);
}
