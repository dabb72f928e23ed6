//! References, recursion, and how large comparisons may become.

use std::fmt::Write as _;

use crate::states::{OK, REGISTRY, States, check};

#[test]
fn references_are_followed_in_both_states() {
    check(&[
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"type":"string"}}}"##,
            r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"type":"integer"}}}"##,
            "/definitions/d/type: BACKWARD: earlier data may be a string",
            "/definitions/d/type: FORWARD: new data may be an integer",
        ),
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"$ref":"#/definitions/e"},"e":{"type":"string"}}}"##,
            r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            OK,
            OK,
        ),
        (
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string","maxLength":4}}}"#,
            r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"$ref":"#d","maxLength":4}},
                "$defs":{"d":{"$anchor":"d","type":["string","null"]}}}"##,
            OK,
            "may be null",
        ),
    ]);
}

#[test]
fn recursion_ends() {
    let tree = |value: &str| {
        format!(
            r##"{{"type":"object","properties":{{"value":{value},"children":{{"type":"array","items":{{"$ref":"#"}}}},"next":{{"anyOf":[{{"$ref":"#"}},{{"type":"null"}}]}}}}}}"##
        )
    };
    let string = r#"{"type":"string"}"#;
    check(&[
        (&tree(string), &tree(r#"{"type":"string","title":"t"}"#), OK, OK),
        (&tree(string), &tree(r#"{"type":["string","null"]}"#), OK, "/properties/value/type: FORWARD"),
        (
            &tree(string),
            &tree(r#"{"type":"integer"}"#),
            "/properties/value/type: BACKWARD",
            "/properties/value/type: FORWARD",
        ),
        // The same tree, unrolled once.
        (
            &tree(string),
            r##"{"$ref":"#/definitions/t","definitions":{"t":{"type":"object","properties":{"value":{"type":"string"},
                "children":{"type":"array","items":{"$ref":"#/definitions/u"}},"next":{"anyOf":[{"$ref":"#/definitions/t"},{"type":"null"}]}}},
                "u":{"type":"object","properties":{"value":{"type":"string"},
                "children":{"type":"array","items":{"$ref":"#/definitions/t"}},"next":{"anyOf":[{"$ref":"#/definitions/u"},{"type":"null"}]}}}}}"##,
            OK,
            OK,
        ),
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}"##,
            r#"{"type":"object","properties":{"a":{}}}"#,
            OK,
            OK,
        ),
    ]);
}

#[test]
fn untagged_branches_of_a_recursive_schema_are_compared() {
    let expression = |constant: &str| {
        format!(
            r##"{{"type":"object","properties":{{"e":{{"$ref":"#/definitions/e"}}}},"definitions":{{"e":{{"anyOf":[
            {{"type":"object","properties":{{"left":{{"$ref":"#/definitions/e"}},"right":{{"$ref":"#/definitions/e"}}}}}},
            {{"type":"object","properties":{{"operand":{{"$ref":"#/definitions/e"}}}}}},
            {constant}]}}}}}}"##
        )
    };
    check(&[
        (&expression(r#"{"type":"integer"}"#), &expression(r#"{"type":["integer","string"]}"#), OK, "FORWARD"),
        (&expression(r#"{"type":["integer","string"]}"#), &expression(r#"{"type":"integer"}"#), "BACKWARD", OK),
        (&expression(r#"{"type":"integer"}"#), &expression(r#"{"type":"integer","title":"t"}"#), OK, OK),
    ]);
}

#[test]
fn schemas_in_other_files_are_followed() {
    let files = |party: &'static str| {
        [
            ("registry.json", REGISTRY),
            ("x.json", r#"{"type":"object","properties":{"a":{"$ref":"common/party.json"}}}"#),
            ("common/party.json", party),
        ]
    };
    let states = States::new(&files(r#"{"type":"object"}"#), &files("{\"type\":\"object\",\n\"required\":[\"id\"]}"));
    let found = states.backward();
    assert_eq!(found[0], "now/common/party.json:2:1: /required: BACKWARD: `id` is a new member and required");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(states.forward(), Vec::<String>::new());
}

#[test]
fn a_reference_that_depends_on_the_way_to_it_is_told_once_something_has_changed() {
    let tree = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"node","type":"object",
        "properties":{"value":{},"children":{"type":"array","items":{"$dynamicRef":"#node"}}}}"##;
    let strict = |more: &str| {
        format!(
            r##"{{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"node","$ref":"tree.json"{more}}}"##
        )
    };
    let registry = r#"{"schemas":[{"urn":"urn:babel:t:strict","schema":"strict.json"},{"urn":"urn:babel:t:tree","schema":"tree.json"}]}"#;
    for (more, changed) in [(r#","title":"t""#, false), (r#","maxProperties":3"#, true)] {
        let files = |strict| [("registry.json", registry), ("tree.json", tree), ("strict.json", strict)];
        let states = States::new(&files(&strict("")), &files(&strict(more)));
        for found in [states.backward(), states.forward()] {
            let told: Vec<_> = found.iter().filter(|line| line.contains("so a possible break")).collect();
            assert_eq!(!told.is_empty(), changed, "{found:#?}");
            assert!(told.iter().all(|line| line.starts_with("now/tree.json:2:")), "{found:#?}");
            assert!(found.iter().all(|line| !line.contains("`urn:babel:t:tree` breaks")), "{found:#?}");
        }
    }
}

/// A chain of definitions, each the member of the one before, the last of them `last`.
fn chain(length: usize, link: &str, last: &str) -> String {
    let mut definitions = String::new();
    for index in 0..length {
        let next = link.replace('@', &format!(r##"{{"$ref":"#/definitions/d{}"}}"##, index + 1));
        let _ = write!(
            definitions,
            r##""d{index}":{{"type":"object","properties":{{"m":{next},"n":{{"$ref":"#/definitions/d0"}}}}}},"##
        );
    }
    format!(
        r##"{{"type":"object","properties":{{"a":{{"$ref":"#/definitions/d0"}}}},"definitions":{{{definitions}"d{length}":{last}}}}}"##
    )
}

#[test]
fn long_ways_are_no_deep_recursion() {
    for link in ["@", r#"{"anyOf":[@,{"type":"null"}]}"#] {
        let states = States::of_schemas(
            &chain(1_000, link, r#"{"type":"object"}"#),
            &chain(1_000, link, r#"{"type":"object","required":["x"]}"#),
        );
        let found = states.full();
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[1].contains("/definitions/d1000/required: BACKWARD: `x` is a new member"), "{found:#?}");
    }
}

#[test]
fn many_ways_are_no_endless_comparison() {
    // Each definition refers to the next one twice, by branches that cannot be told apart.
    let doubled = |last: &str| chain(60, r#"{"anyOf":[{"allOf":[@]},{"allOf":[@],"minProperties":0}]}"#, last);
    let states =
        States::of_schemas(&doubled(r#"{"type":"object"}"#), &doubled(r#"{"type":"object","required":["x"]}"#));
    assert!(!states.backward().is_empty());
    assert_eq!(states.forward(), Vec::<String>::new());
}

#[test]
fn unions_beside_and_in_unions_are_no_endless_comparison() {
    let pairs = |last: &str| {
        let unions: Vec<_> = (0..30)
            .map(|n| format!(r#"{{"oneOf":[{{"required":["a{n}"]}},{{"required":["b{n}"]}}]}}"#))
            .chain([format!(r#"{{"required":["{last}"]}}"#)])
            .collect();
        format!(r#"{{"allOf":[{}]}}"#, unions.join(","))
    };
    let levels = |link: &str, last: &str| {
        let next = |n: usize| link.replace('@', &format!(r##"{{"$ref":"#/definitions/d{}"}}"##, n + 1));
        let definitions: String = (0..50).map(|n| format!(r#""d{n}":{},"#, next(n))).collect();
        format!(
            r##"{{"properties":{{"p":{{"$ref":"#/definitions/d0"}}}},"definitions":{{{definitions}"d50":{last}}}}}"##
        )
    };
    let (choice, condition) = (r#"{"anyOf":[@,@,{"type":"null"}]}"#, r#"{"if":@,"then":@,"else":@}"#);
    for (earlier, now) in [
        (pairs("c"), pairs("d")),
        (levels(choice, r#"{"type":"string"}"#), levels(choice, r#"{"type":"integer"}"#)),
        (levels(condition, r#"{"anyOf":[false]}"#), levels(condition, r#"{"type":"string"}"#)),
    ] {
        assert!(!States::of_schemas(&earlier, &now).backward().is_empty());
    }
}
