//! Schemas that hold for the same value.

use crate::states::{OK, check};

fn tagged(branches: &[&str]) -> String {
    format!(r#"{{"type":"object","required":["kind"],"oneOf":[{}]}}"#, branches.join(","))
}

const CARD: &str = r#"{"required":["kind"],"properties":{"kind":{"const":"card"},"number":{"type":"string"}}}"#;
const CASH: &str = r#"{"required":["kind"],"properties":{"kind":{"const":"cash"},"amount":{"type":"integer"}}}"#;
const GIFT: &str = r#"{"required":["kind"],"properties":{"kind":{"const":"gift"}}}"#;

#[test]
fn tagged_branches_are_compared_by_their_tag() {
    let card = |more: &str| {
        format!(
            r#"{{"required":["kind"{more}],"properties":{{"kind":{{"const":"card"}},"number":{{"type":"string"}},"name":{{"type":"string"}}}}}}"#
        )
    };
    check(&[
        (&tagged(&[CARD, CASH]), &tagged(&[CASH, CARD]), OK, OK),
        (
            &tagged(&[CARD, CASH]),
            &tagged(&[CARD, CASH, GIFT]),
            OK,
            "/oneOf: FORWARD: some new data fits no branch of `oneOf`",
        ),
        (&tagged(&[CARD, CASH]), &tagged(&[CARD]), "/oneOf: BACKWARD: some earlier data fits no branch", OK),
        (
            &tagged(&[CARD, CASH, GIFT]),
            &tagged(&[CARD, CASH]),
            "/oneOf: BACKWARD: some earlier data fits no branch",
            OK,
        ),
        // A new optional member of one branch, also one that another branch has.
        (&tagged(&[CARD, CASH]), &tagged(&[&card(""), CASH]), OK, OK),
        (
            &tagged(&[CARD, CASH]),
            &tagged(&[
                r#"{"required":["kind"],"properties":{"kind":{"const":"card"},"number":{"type":"string"},"amount":{"type":"string"}}}"#,
                CASH,
            ]),
            OK,
            OK,
        ),
        // A required one is told in its branch.
        (
            &tagged(&[CARD, CASH]),
            &tagged(&[&card(r#","name""#), CASH]),
            "/oneOf/0/required: BACKWARD: `name` is a new member and required",
            OK,
        ),
        (
            &tagged(&[CARD, CASH]),
            &tagged(&[
                CASH,
                r#"{"required":["kind"],"properties":{"kind":{"const":"card"},"number":{"type":"integer"}}}"#,
            ]),
            "/oneOf/1/properties/number/type: BACKWARD: earlier data may be a string",
            "/oneOf/1/properties/number/type: FORWARD",
        ),
        (
            &tagged(&[CARD, CASH]),
            &tagged(&[r#"{"required":["kind"],"properties":{"kind":{"const":"card"}}}"#, CASH]),
            "the member `number` is gone",
            OK,
        ),
        // From a union to what holds all of it, and back.
        (
            &tagged(&[CARD, CASH]),
            r#"{"type":"object","required":["kind"],"properties":{"kind":{"enum":["card","cash"]},"number":{"type":"string"},"amount":{"type":"integer"}}}"#,
            OK,
            "no single branch of `oneOf` of the earlier schema",
        ),
    ]);
}

#[test]
fn closed_branches() {
    let closed = |more: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["kind"],
            "properties":{{"id":{{"type":"integer"}}}},"oneOf":[
            {{"required":["kind"],"properties":{{"kind":{{"const":"card"}},"number":{{"type":"string"}}{more}}}}},{CASH}],"unevaluatedProperties":false}}"#
        )
    };
    check(&[
        (&closed(""), &closed(r#","name":{}"#), OK, "FORWARD: new data may have the member `name`, which the earlier"),
        (
            &closed(r#","name":{}"#),
            &closed(""),
            "BACKWARD: earlier data may have the member `name`, which this schema",
            OK,
        ),
        (&closed(""), &closed(r#","amount":{}"#), OK, "FORWARD: new data may have the member `amount`"),
    ]);
}

#[test]
fn unions_by_kind() {
    let member = |schema: &str| format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
    check(&[
        (&member(r#"{"type":["string","null"]}"#), &member(r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#), OK, OK),
        (&member(r#"{"type":["string","null"]}"#), &member(r#"{"oneOf":[{"type":"null"},{"type":"string"}]}"#), OK, OK),
        (
            &member(r#"{"type":"string"}"#),
            &member(r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#),
            OK,
            "FORWARD: new data may be `null`",
        ),
        (
            &member(r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#),
            &member(r#"{"anyOf":[{"type":"integer"}]}"#),
            "fits no branch",
            OK,
        ),
        (
            &member(r#"{"type":["string","integer"]}"#),
            &member(r#"{"anyOf":[{"type":"string"},{"type":"boolean"}]}"#),
            "may be an integer, and this schema takes only a string",
            "FORWARD",
        ),
        (
            &member(r#"{"type":["string","integer"],"maxLength":3,"minimum":2}"#),
            &member(r#"{"anyOf":[{"type":"string","maxLength":4},{"type":"integer","minimum":1}]}"#),
            OK,
            "FORWARD",
        ),
        (
            &member(r#"{"type":["string","integer"],"maxLength":3,"minimum":0}"#),
            &member(r#"{"anyOf":[{"type":"string","maxLength":4},{"type":"integer","minimum":1}]}"#),
            "`minimum` 1",
            "FORWARD",
        ),
    ]);
}

#[test]
fn branches_that_overlap() {
    let member = |schema: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{"a":{schema}}}}}"#
        )
    };
    check(&[
        (
            &member(r#"{"anyOf":[{"type":"string","maxLength":3},{"type":"string","pattern":"^x"}]}"#),
            &member(r#"{"anyOf":[{"type":"string","pattern":"^x"},{"type":"string","maxLength":4}]}"#),
            OK,
            "/properties/a/anyOf/1/maxLength: FORWARD",
        ),
        (
            &member(r#"{"oneOf":[{"type":"string","maxLength":3},{"type":"string","pattern":"^x"}]}"#),
            &member(r#"{"title":"t","oneOf":[{"type":"string","pattern":"^x"},{"type":"string","maxLength":3}]}"#),
            OK,
            OK,
        ),
        // What fits a second branch of `oneOf` is not valid.
        (
            &member(r#"{"type":"string","maxLength":3}"#),
            &member(r#"{"oneOf":[{"type":"string","maxLength":3},{"type":"string","pattern":"^x"}]}"#),
            "some earlier data may fit more than one branch of `oneOf`",
            "FORWARD",
        ),
        (
            &member(r#"{"oneOf":[{"type":"string","maxLength":3},{"type":"integer"}]}"#),
            &member(
                r#"{"oneOf":[{"type":"string","maxLength":3},{"type":"integer"},{"type":["null","string"],"maxLength":2}]}"#,
            ),
            "some earlier data may fit more than one branch of `oneOf`",
            "FORWARD",
        ),
        (
            &member(r#"{"type":"number","minimum":5}"#),
            &member(r#"{"oneOf":[{"type":"number","minimum":4},{"type":"number","maximum":3}]}"#),
            OK,
            "FORWARD",
        ),
        (
            &member(r#"{"anyOf":[{"const":1},{"const":2}]}"#),
            &member(r#"{"enum":[1,2,3]}"#),
            OK,
            "may be `3`, which the earlier schema does not take",
        ),
    ]);
}

#[test]
fn several_schemas_together() {
    let member = |schema: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{"a":{schema}}}}}"#
        )
    };
    check(&[
        (
            &member(r#"{"allOf":[{"type":"string"},{"maxLength":3}]}"#),
            &member(r#"{"type":"string","maxLength":3}"#),
            OK,
            OK,
        ),
        (
            &member(r#"{"type":"string"}"#),
            &member(r#"{"type":"string","allOf":[{"maxLength":3}]}"#),
            "/properties/a/allOf/0/maxLength: BACKWARD",
            OK,
        ),
        (
            &member(r#"{"type":"object","properties":{"o":{"type":"object","properties":{"x":{},"y":{}}}}}"#),
            &member(
                r#"{"type":"object","allOf":[{"properties":{"o":{"type":"object","properties":{"x":{}}}}},{"properties":{"o":{"properties":{"y":{}}}}}]}"#,
            ),
            OK,
            OK,
        ),
    ]);
}

#[test]
fn what_is_refused() {
    let member = |schema: &str| format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
    check(&[
        (
            &member(r#"{"type":"string"}"#),
            &member(r#"{"type":"string","not":{"const":"x"}}"#),
            "/properties/a/not: BACKWARD: whether `not` of this schema refuses some earlier data cannot be told",
            OK,
        ),
        (
            &member(r#"{"type":"string","not":{"const":"x"}}"#),
            &member(r#"{"type":"string","not":{"const":"x","title":"t"}}"#),
            OK,
            OK,
        ),
        (
            &member(r#"{"not":{"enum":["x","y"]}}"#),
            &member(r#"{"not":{"const":"x"}}"#),
            OK,
            "`not` of the earlier schema",
        ),
        (
            &member(r#"{"not":{"type":"string","minLength":3}}"#),
            &member(r#"{"not":{"type":"string","minLength":4}}"#),
            OK,
            "possible break",
        ),
        (&member(r#"{"type":"integer"}"#), &member(r#"{"type":"integer","not":{"type":"string"}}"#), OK, OK),
        (
            &member(r#"{"type":"integer","minimum":3}"#),
            &member(r#"{"type":"integer","not":{"maximum":2}}"#),
            OK,
            "FORWARD",
        ),
        (
            &member(r#"{"type":"object","properties":{"k":{"type":"string"}}}"#),
            &member(r#"{"type":"object","properties":{"k":{"type":"string"}},"not":{"required":["l"]}}"#),
            OK,
            OK,
        ),
        (
            &member(r#"{"type":"object","properties":{"k":{}},"required":["k"]}"#),
            &member(r#"{"type":"object","properties":{"k":{}},"required":["k"],"not":{"required":["k"]}}"#),
            "possible break",
            OK,
        ),
    ]);
}

#[test]
fn conditions() {
    let object = |more: &str| {
        format!(
            r#"{{"type":"object","required":["a"],"properties":{{"a":{{"enum":["x","y"]}},"b":{{"type":"string"}},"c":{{"type":"string"}}}}{more}}}"#
        )
    };
    let when = |asked: &str| {
        object(&format!(r#","if":{{"properties":{{"a":{{"const":"x"}}}}}},"then":{{"required":[{asked}]}}"#))
    };
    check(&[
        (&object(""), &when(r#""b""#), "/then/required: BACKWARD: `b` is required, and earlier data may lack it", OK),
        (&when(r#""b","c""#), &when(r#""b""#), OK, "FORWARD: `c` may be missing"),
        (&when(r#""b""#), &when(r#""b","c""#), "/then/required: BACKWARD: `c` is required", OK),
        (&when(r#""b""#), &object(""), OK, "FORWARD: `b` may be missing, and the earlier schema requires it"),
        (&object(r#","required":["a","b"]"#).replacen(r#""required":["a"],"#, "", 1), &when(r#""b""#), OK, "FORWARD"),
        // A condition on a member that nobody writes yet.
        (
            &object(""),
            &object(r#","if":{"required":["new"],"properties":{"new":{"const":1}}},"then":{"required":["b"]}"#),
            OK,
            OK,
        ),
        (
            &object(""),
            &object(r#","if":{"properties":{"a":{"const":"x"}}},"then":{},"else":{"required":["c"]}"#),
            "/else/required: BACKWARD: `c` is required",
            OK,
        ),
        // Without `then` and `else` it says nothing.
        (&object(""), &object(r#","if":{"required":["b"]}"#), OK, OK),
    ]);
}
