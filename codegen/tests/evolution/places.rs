//! Where breaks are told, and how often.

use crate::states::{REGISTRY, States};

#[test]
fn every_break_of_a_run_is_told_once() {
    let earlier = r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/d"},"b":{"$ref":"#/definitions/d"},"c":{"type":"string"}},
        "definitions":{"d":{"type":"object","properties":{"x":{"type":"integer"}}}}}"##;
    let now = "{\"type\":\"object\",\n\"required\":[\"c\"],\n\"properties\":{\"a\":{\"$ref\":\"#/definitions/d\"},\"b\":{\"$ref\":\"#/definitions/d\"},\n\
               \"c\":{\"type\":\"string\",\"maxLength\":3}},\n\"definitions\":{\"d\":{\"type\":\"object\",\n\"properties\":{\"x\":{\"type\":\"string\"}}}}}";
    let registry = REGISTRY;
    let two = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"},
        {"urn":"urn:babel:t:y","schema":"x.json"}]}"#;
    let states = States::of_schemas(earlier, now);
    let breaks = [
        "now/x.json:2:1: /required: BACKWARD: `c` is required, and earlier data may lack it",
        "now/x.json:4:22: /properties/c/maxLength: BACKWARD: earlier data need not keep to `maxLength` 3 of this schema",
        "now/x.json:6:20: /definitions/d/properties/x/type: BACKWARD: earlier data may be an integer, and this schema takes only a string",
    ];
    let advice = "now/registry.json:1:14: /schemas/0/urn: BACKWARD: the payload of `urn:babel:t:x` breaks, and a URN never \
                  changes its meaning (contract section 7): take the change back, or mint `urn:babel:t:x.v2` for it";
    assert_eq!(states.backward(), [&[advice], breaks.as_slice()].concat());
    // Two messages of one schema.
    let states =
        States::new(&[("registry.json", two), ("x.json", earlier)], &[("registry.json", two), ("x.json", now)]);
    let found = states.backward();
    assert_eq!(found.len(), 5, "{found:#?}");
    assert_eq!(found[2..], breaks);
    assert!(
        found[1].starts_with("now/registry.json:2:10: /schemas/1/urn: ") && found[1].contains("`urn:babel:t:y.v2`")
    );
    let _ = registry;
}

#[test]
fn both_directions_are_told_by_the_full_check() {
    let states = States::of_schemas(
        r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
    );
    let (backward, forward, full) = (states.backward(), states.forward(), states.full());
    assert_eq!((backward.len(), forward.len(), full.len()), (2, 2, 4));
    assert!(backward.iter().all(|line| line.contains(": BACKWARD: ") && full.contains(line)));
    assert!(forward.iter().all(|line| line.contains(": FORWARD: ") && full.contains(line)));
}

#[test]
fn backward_is_asked_unless_another_check_is_chosen() {
    let states = States::of_schemas(r#"{"type":"object","required":["a"]}"#, r#"{"type":"object"}"#);
    let gate = babelqueue_codegen::evolution(states.path("now/registry.json"))
        .against_folder(states.path("earlier/registry.json"));
    assert!(gate.clone().check().is_ok());
    assert!(gate.forward().check().is_err());
}
