//! Every keyword, made narrower, made wider, added and dropped.

use crate::states::{OK, Row, check};

/// Checks rows whose schemas are those of a member `a`, in the newest edition.
#[track_caller]
fn check_member(rows: &[Row<'_>]) {
    let wrap = |schema: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{"a":{schema}}}}}"#
        )
    };
    let wrapped: Vec<_> = rows.iter().map(|(earlier, now, b, f)| (wrap(earlier), wrap(now), *b, *f)).collect();
    let rows: Vec<Row<'_>> =
        wrapped.iter().map(|(earlier, now, b, f)| (earlier.as_str(), now.as_str(), *b, *f)).collect();
    check(&rows);
}

#[test]
fn types() {
    check_member(&[
        (
            r#"{"type":"string"}"#,
            r#"{"type":["string","null"]}"#,
            OK,
            "may be null, and the earlier schema takes only a string",
        ),
        (
            r#"{"type":["string","integer"]}"#,
            r#"{"type":"string"}"#,
            "may be an integer, and this schema takes only a string",
            OK,
        ),
        (
            r#"{"type":["string","integer"]}"#,
            r#"{"type":["integer","boolean"]}"#,
            "may be a string",
            "may be a boolean",
        ),
        (r#"{"type":"string"}"#, "{}", OK, "may be null or a boolean or a number or an array or an object"),
        ("{}", r#"{"type":"object"}"#, "may be null", OK),
        ("true", r#"{"type":"string"}"#, "takes only a string", OK),
        (r#"{"type":"string"}"#, "true", OK, "FORWARD"),
        (r#"{"type":"string"}"#, "false", "takes only nothing", OK),
        ("false", r#"{"type":"string"}"#, OK, "the earlier schema takes only nothing"),
        (r#"{"type":["integer","number"]}"#, r#"{"type":"number"}"#, OK, OK),
        (r#"{"type":["integer","string"]}"#, r#"{"type":["number","string"]}"#, OK, "a number with a fraction"),
    ]);
}

#[test]
fn known_values() {
    check_member(&[
        (
            r#"{"const":"a"}"#,
            r#"{"const":"b"}"#,
            "/properties/a/const: BACKWARD: earlier data may be `\"a\"`",
            "may be `\"b\"`",
        ),
        (r#"{"const":"a"}"#, r#"{"enum":["a","b"]}"#, OK, "/properties/a/enum: FORWARD: new data may be `\"b\"`"),
        (r#"{"enum":["a","bc"]}"#, r#"{"type":"string","maxLength":2}"#, OK, "FORWARD"),
        (
            r#"{"enum":["a","bc"]}"#,
            r#"{"type":"string","maxLength":1}"#,
            "/properties/a: BACKWARD: earlier data may be `\"bc\"`",
            "FORWARD",
        ),
        (r#"{"enum":["a","bc"]}"#, r#"{"type":"string","pattern":"^[a-c]+$"}"#, OK, "FORWARD"),
        (r#"{"enum":["a","d"]}"#, r#"{"type":"string","pattern":"^[a-c]+$"}"#, "may be `\"d\"`", "FORWARD"),
        (r#"{"enum":[1,2]}"#, r#"{"type":"integer","minimum":1,"maximum":2}"#, OK, "FORWARD"),
        (r#"{"enum":[1,2,"x"]}"#, r#"{"type":"integer","multipleOf":2}"#, "may be `1`, `\"x\"`", "FORWARD"),
        (r#"{"type":"boolean"}"#, r#"{"enum":[true,false]}"#, OK, OK),
        (r#"{"type":["boolean","null"]}"#, r#"{"enum":[true,null]}"#, "may be `false`", OK),
        (r#"{"type":["string","null"]}"#, r#"{"enum":["a",null]}"#, "any value of its type", OK),
        (r#"{"enum":[{"k":[1,{"l":null}]}]}"#, r#"{"enum":[{"k":[1.0,{"l":null}]},2]}"#, OK, "may be `2`"),
        (r#"{"enum":[[1,2]]}"#, r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#, OK, "FORWARD"),
        (
            r#"{"enum":[[1,1]]}"#,
            r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#,
            "may be `[1,1]`",
            "FORWARD",
        ),
        (
            r#"{"enum":[{"k":1}]}"#,
            r#"{"type":"object","required":["k"],"properties":{"k":{"type":"integer"}}}"#,
            OK,
            "FORWARD",
        ),
        (
            r#"{"enum":["a"]}"#,
            r#"{"oneOf":[{"const":"a"},{"type":"string","maxLength":3}]}"#,
            "may be `\"a\"`",
            "FORWARD",
        ),
        (r#"{"enum":["a"]}"#, r#"{"not":{"type":"integer"}}"#, OK, "FORWARD"),
        (r#"{"enum":["a","b"],"type":"string"}"#, r#"{"enum":["b","a",3],"type":"string"}"#, OK, OK),
    ]);
}

#[test]
fn bounds_of_numbers() {
    check_member(&[
        (
            r#"{"type":"number","minimum":1}"#,
            r#"{"type":"number","minimum":2}"#,
            "need not keep to `minimum` 2 of this schema",
            OK,
        ),
        (r#"{"type":"number"}"#, r#"{"type":"number","minimum":2}"#, "/properties/a/minimum: BACKWARD", OK),
        (r#"{"type":"number","minimum":1}"#, r#"{"type":"number","minimum":1.0}"#, OK, OK),
        (r#"{"type":"number","maximum":100}"#, r#"{"type":"number","maximum":1e2}"#, OK, OK),
        (r#"{"type":"number","maximum":5}"#, r#"{"type":"number","maximum":4}"#, "`maximum` 4", OK),
        (r#"{"type":"number","exclusiveMinimum":1}"#, r#"{"type":"number","minimum":1}"#, OK, "`exclusiveMinimum` 1"),
        (r#"{"type":"number","exclusiveMaximum":1}"#, r#"{"type":"number","maximum":1}"#, OK, "`exclusiveMaximum` 1"),
        (r#"{"type":"integer","exclusiveMinimum":1}"#, r#"{"type":"integer","minimum":2}"#, OK, OK),
        (r#"{"type":"integer","exclusiveMaximum":3}"#, r#"{"type":"integer","maximum":2.5}"#, OK, OK),
        (r#"{"type":"integer","minimum":-1}"#, r#"{"type":"integer","exclusiveMinimum":-2}"#, OK, OK),
        (r#"{"type":"integer","minimum":-1}"#, r#"{"type":"integer","exclusiveMinimum":-1.5}"#, OK, OK),
        (r#"{"type":"number","minimum":-1}"#, r#"{"type":"number","exclusiveMinimum":-2}"#, OK, "`minimum` -1"),
        (r#"{"type":"number","maximum":1e400}"#, r#"{"type":"number","maximum":9e399}"#, "`maximum` 9e399", OK),
        (
            r#"{"minimum":1,"type":["number","string"]}"#,
            r#"{"minimum":1,"exclusiveMinimum":0,"type":["number","string"]}"#,
            OK,
            OK,
        ),
        (r#"{"type":"string","minimum":1}"#, r#"{"type":"string","minimum":2}"#, OK, OK),
        (r#"{"allOf":[{"type":"integer"},{"minimum":3},{"minimum":1}]}"#, r#"{"type":"integer","minimum":3}"#, OK, OK),
    ]);
}

#[test]
fn divisors() {
    check_member(&[
        (r#"{"type":"integer","multipleOf":6}"#, r#"{"type":"integer","multipleOf":3}"#, OK, "`multipleOf` 6"),
        (r#"{"type":"integer","multipleOf":3}"#, r#"{"type":"integer","multipleOf":6}"#, "`multipleOf` 6", OK),
        (
            r#"{"type":"integer","multipleOf":3}"#,
            r#"{"type":"integer","multipleOf":2}"#,
            "`multipleOf` 2",
            "`multipleOf` 3",
        ),
        (r#"{"type":"number","multipleOf":0.1}"#, r#"{"type":"number","multipleOf":0.01}"#, OK, "`multipleOf` 0.1"),
        (r#"{"type":"integer"}"#, r#"{"type":"integer","multipleOf":0.5}"#, OK, OK),
        (r#"{"type":"number"}"#, r#"{"type":"number","multipleOf":0.5}"#, "`multipleOf` 0.5", OK),
        (r#"{"type":"number","multipleOf":2}"#, r#"{"type":"number"}"#, OK, "`multipleOf` 2"),
    ]);
}

#[test]
fn strings() {
    check_member(&[
        (r#"{"type":"string","minLength":1}"#, r#"{"type":"string","minLength":2}"#, "`minLength` 2", OK),
        (r#"{"type":"string","minLength":1}"#, r#"{"type":"string","minLength":0}"#, OK, "`minLength` 1"),
        (r#"{"type":"string","maxLength":9}"#, r#"{"type":"string","maxLength":8}"#, "`maxLength` 8", OK),
        (r#"{"type":"string"}"#, r#"{"type":"string","maxLength":8}"#, "`maxLength` 8", OK),
        (r#"{"type":"integer","maxLength":9}"#, r#"{"type":"integer","maxLength":8}"#, OK, OK),
        (r#"{"type":"string","pattern":"^a"}"#, r#"{"type":"string","pattern":"^a"}"#, OK, OK),
        (
            r#"{"type":"string","pattern":"^a"}"#,
            r#"{"type":"string","pattern":"^(a|b)"}"#,
            "/properties/a/pattern: BACKWARD: earlier data may not match the `pattern` `^(a|b)` of this schema: patterns cannot be compared",
            "patterns cannot be compared, so another one is a possible break",
        ),
        (r#"{"type":"string","pattern":"^a"}"#, r#"{"type":"string"}"#, OK, "need not match the `pattern` `^a`"),
        (r#"{"type":"string"}"#, r#"{"type":"string","pattern":"^a"}"#, "need not match the `pattern`", OK),
        (r#"{"type":"string"}"#, r#"{"type":"string","pattern":""}"#, OK, OK),
        (r#"{"type":"integer"}"#, r#"{"type":"integer","pattern":"^a"}"#, OK, OK),
    ]);
}

#[test]
fn arrays() {
    check_member(&[
        (r#"{"type":"array","minItems":1}"#, r#"{"type":"array","minItems":2}"#, "`minItems` 2", OK),
        (r#"{"type":"array","maxItems":1}"#, r#"{"type":"array","maxItems":2}"#, OK, "`maxItems` 1"),
        (r#"{"type":"array","uniqueItems":true}"#, r#"{"type":"array"}"#, OK, "`uniqueItems` true"),
        (r#"{"type":"array","uniqueItems":false}"#, r#"{"type":"array","uniqueItems":true}"#, "`uniqueItems` true", OK),
        (r#"{"type":"array","maxItems":1}"#, r#"{"type":"array","maxItems":1,"uniqueItems":true}"#, OK, OK),
        (
            r#"{"type":"array","items":{"type":"string"}}"#,
            r#"{"type":"array","items":{"type":"integer"}}"#,
            "/properties/a/items/type: BACKWARD: earlier data may be a string",
            "/properties/a/items/type: FORWARD: new data may be an integer",
        ),
        (
            r#"{"type":"array"}"#,
            r#"{"type":"array","items":{"type":"string"}}"#,
            "/properties/a/items/type: BACKWARD",
            OK,
        ),
        (r#"{"type":"array","items":{"type":"string"}}"#, r#"{"type":"array"}"#, OK, "/properties/a: FORWARD"),
        (r#"{"type":"array","items":{"type":"string"}}"#, r#"{"type":"array","items":false}"#, "`maxItems` 0", OK),
        (r#"{"type":"array","maxItems":0}"#, r#"{"type":"array","items":{"type":"string"}}"#, OK, "FORWARD"),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"integer"}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":{"type":"integer"}}"#,
            "/properties/a/prefixItems/1/type: BACKWARD: earlier data may be an integer",
            "/properties/a/prefixItems/1/type: FORWARD: new data may be a string",
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":false}"#,
            OK,
            "`maxItems` 1",
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"}]}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"}],"unevaluatedItems":false}"#,
            "/properties/a/unevaluatedItems: BACKWARD: earlier data may have more elements than this schema allows",
            OK,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"}],"unevaluatedItems":{"type":"integer"}}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"}],"unevaluatedItems":{"type":["integer","null"]}}"#,
            OK,
            "may be null",
        ),
        (
            r#"{"type":"array","contains":{"type":"string"}}"#,
            r#"{"type":"array"}"#,
            OK,
            "`contains` of the earlier schema",
        ),
        (
            r#"{"type":"array"}"#,
            r#"{"type":"array","contains":{"type":"string"}}"#,
            "/properties/a/contains: BACKWARD",
            OK,
        ),
        (
            r#"{"type":"array","contains":{"const":1}}"#,
            r#"{"type":"array","contains":{"type":"integer"}}"#,
            OK,
            "`contains`",
        ),
        (
            r#"{"type":"array","contains":{"type":"integer"},"minContains":2}"#,
            r#"{"type":"array","contains":{"type":"integer"}}"#,
            OK,
            "`contains`",
        ),
        (
            r#"{"type":"array","contains":{"type":"integer"}}"#,
            r#"{"type":"array","contains":{"type":"integer"},"maxContains":3}"#,
            "`contains`",
            OK,
        ),
        (
            r#"{"type":"array","maxItems":2,"contains":{"type":"integer"}}"#,
            r#"{"type":"array","contains":{"type":"integer"},"maxContains":3}"#,
            OK,
            "FORWARD",
        ),
        (r#"{"type":"array"}"#, r#"{"type":"array","contains":{"type":"integer"},"minContains":0}"#, OK, OK),
    ]);
}

#[test]
fn objects() {
    check_member(&[
        (r#"{"type":"object","minProperties":1}"#, r#"{"type":"object","minProperties":2}"#, "`minProperties` 2", OK),
        (r#"{"type":"object","maxProperties":2}"#, r#"{"type":"object","maxProperties":1}"#, "`maxProperties` 1", OK),
        (
            r#"{"type":"object","required":["k","l"]}"#,
            r#"{"type":"object","required":["k","l"],"minProperties":2}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{}},"additionalProperties":false}"#,
            r#"{"type":"object","properties":{"k":{}},"additionalProperties":false,"maxProperties":1}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
            r#"{"type":"object","additionalProperties":{"type":["string","null"]}}"#,
            OK,
            "/properties/a/additionalProperties/type: FORWARD: new data may be null",
        ),
        (
            r#"{"type":"object"}"#,
            r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
            "/properties/a/additionalProperties/type: BACKWARD",
            OK,
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
            r#"{"type":"object","properties":{"k":{"type":"integer"}},"additionalProperties":{"type":"string"}}"#,
            "/properties/a/properties/k/type: BACKWARD: earlier data may be a string",
            "/properties/a/properties/k/type: FORWARD: new data may be an integer",
        ),
        (
            r#"{"type":"object","properties":{"k":{"type":"integer"}},"additionalProperties":{"type":"string"}}"#,
            r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
            "may be an integer",
            "may be a string",
        ),
        // A member that must be there is known, also without a schema of its own.
        (
            r#"{"type":"object","required":["k"]}"#,
            r#"{"type":"object","required":["k"],"properties":{"k":{"type":"integer"}}}"#,
            "/properties/a/properties/k/type: BACKWARD",
            OK,
        ),
        // Of a value that may be anything, nobody knows what publishers write.
        ("{}", r#"{"properties":{"k":{"type":"integer"}}}"#, "/properties/a/properties/k/type: BACKWARD", OK),
        (r#"{"type":"object"}"#, r#"{"type":"object","properties":{"k":{"type":"integer"}}}"#, OK, OK),
        // A member that could never be there.
        (
            r#"{"type":"object","properties":{"k":false}}"#,
            r#"{"type":"object","properties":{"k":{"type":"integer"}}}"#,
            OK,
            "/properties/a/properties/k/type: FORWARD",
        ),
        (
            r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}}}"#,
            r#"{"type":"object","patternProperties":{"^x-":{"type":"integer"}}}"#,
            "/properties/a/patternProperties/^x-/type: BACKWARD",
            "/properties/a/patternProperties/^x-/type: FORWARD",
        ),
        (
            r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#,
            r#"{"type":"object","patternProperties":{"^y-":{"type":"string"}},"additionalProperties":false}"#,
            "earlier data may have members like `^x-`, which this schema does not allow",
            "new data may have members like `^y-`, which the earlier schema does not allow",
        ),
        (
            r#"{"type":"object","properties":{"x-k":{"type":"string"}}}"#,
            r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","properties":{"x-k":{"type":"string"}}}"#,
            r#"{"type":"object","patternProperties":{"^x-":{"type":"integer"}}}"#,
            "/properties/a/patternProperties/^x-/type: BACKWARD: earlier data may be a string",
            "FORWARD",
        ),
        (
            r#"{"type":"object","patternProperties":{"^a":{"type":"string"},"^b":{"type":"integer"}}}"#,
            r#"{"type":"object","properties":{"c":{}},"patternProperties":{"^a":{"type":"string"},"^b":{"type":"integer"}}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","propertyNames":{"maxLength":3}}"#,
            r#"{"type":"object","propertyNames":{"maxLength":2}}"#,
            "/properties/a/propertyNames: BACKWARD",
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{}},"additionalProperties":false}"#,
            r#"{"type":"object","properties":{"k":{}},"additionalProperties":false,"propertyNames":{"maxLength":2}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object"}"#,
            r#"{"type":"object","propertyNames":{"maxLength":2}}"#,
            "`propertyNames` of this schema",
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{},"l":{}}}"#,
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependentRequired":{"k":["l"]}}"#,
            "/properties/a/dependentRequired: BACKWARD: earlier data may have `k` without `l`",
            OK,
        ),
        (
            r#"{"type":"object","required":["l"],"properties":{"k":{},"l":{}}}"#,
            r#"{"type":"object","required":["l"],"properties":{"k":{},"l":{}},"dependentRequired":{"k":["l"]}}"#,
            OK,
            OK,
        ),
        // A rule about a member that nobody writes yet.
        (
            r#"{"type":"object","properties":{"k":{}}}"#,
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependentRequired":{"l":["k"]}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","required":["k"],"dependentRequired":{"k":["l"]},"properties":{"k":{},"l":{}}}"#,
            r#"{"type":"object","required":["k","l"],"properties":{"k":{},"l":{}}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{},"l":{}}}"#,
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependentSchemas":{"k":{"required":["l"]}}}"#,
            "/properties/a/dependentSchemas/k/required: BACKWARD",
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{},"l":{"type":"string"}},"dependentSchemas":{"k":{"required":["l"]}}}"#,
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependentSchemas":{"k":{"required":["l"]}}}"#,
            OK,
            "FORWARD",
        ),
        (
            r#"{"type":"object","properties":{"k":{"type":"string"}}}"#,
            r#"{"type":"object","properties":{"k":{"type":"string"}},"unevaluatedProperties":false}"#,
            "/properties/a/unevaluatedProperties: BACKWARD: earlier data may have members that no schema names",
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{}},"additionalProperties":false}"#,
            r#"{"type":"object","allOf":[{"properties":{"k":{}}}],"unevaluatedProperties":false}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","allOf":[{"properties":{"k":{}}}],"unevaluatedProperties":false}"#,
            r#"{"type":"object","allOf":[{"properties":{"k":{},"l":{}}}],"unevaluatedProperties":false}"#,
            OK,
            "may have the member `l`",
        ),
        // A schema does not see what stands beside it.
        (
            r#"{"type":"object","allOf":[{"properties":{"k":{}}}],"unevaluatedProperties":false}"#,
            r#"{"type":"object","allOf":[{"properties":{"k":{}}},{"unevaluatedProperties":false}]}"#,
            "may have the member `k`",
            OK,
        ),
        (
            r#"{"type":"object","unevaluatedProperties":{"type":"string"}}"#,
            r#"{"type":"object","unevaluatedProperties":{"type":"integer"}}"#,
            "may be a string",
            "may be an integer",
        ),
    ]);
}

#[test]
fn other_editions() {
    check(&[
        // `items` as a list, `additionalItems`, `dependencies`, `definitions`.
        (
            r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}"#,
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"null"}}}}"#,
            OK,
            "`maxItems` 1",
        ),
        (
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependencies":{"k":["l"]}}"#,
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"k":{},"l":{}},"dependentRequired":{"k":["l"]}}"#,
            OK,
            OK,
        ),
        (
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependencies":{"k":{"required":["l"]}}}"#,
            r#"{"type":"object","properties":{"k":{},"l":{}}}"#,
            OK,
            "`l` may be missing, and the earlier schema requires it",
        ),
        // What another edition reads otherwise: up to draft-07 nothing beside `$ref` counts.
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/d","maxLength":3}},"$defs":{"d":{"type":"string"}}}"##,
            r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"a":{"$ref":"#/$defs/d","maxLength":3}},"$defs":{"d":{"type":"string"}}}"##,
            "/properties/a/maxLength: BACKWARD: earlier data need not keep to `maxLength` 3",
            OK,
        ),
        // `dependencies` say nothing in newer ones.
        (
            r#"{"type":"object","properties":{"k":{},"l":{}},"dependencies":{"k":["l"]}}"#,
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"k":{},"l":{}},"dependencies":{"k":["l"]}}"#,
            OK,
            "new data may have `k` without `l`",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",
                "properties":{"a":{"type":"number","minimum":3,"exclusiveMinimum":true}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":3}}}"#,
            OK,
            OK,
        ),
    ]);
}
