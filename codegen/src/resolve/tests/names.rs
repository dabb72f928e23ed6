//! References inside a file: JSON Pointers, `$id` and anchors; and the edition that decides what they are.

use super::{Dialect, Folder};

// B02
#[test]
fn a_json_pointer_leads_to_any_place() {
    let mut folder = Folder::new(&[(
        "x.json",
        r#"{"properties":{"a":{"type":"string"},"b%c":{},"d/e~f":{},"":{"g h":{}},"ü":{}},"items":[{},{"not":true}],
            "x-own":{"deep":[{"properties":{"inner":{}}}]},"default":{"looks":{"like":"a schema"}}}"#,
    )]);
    for (text, place) in [
        ("#/properties/a", "/properties/a"),
        ("#/properties/b%25c", "/properties/b%c"),
        ("#/properties/d~1e~0f", "/properties/d~1e~0f"),
        ("#/properties/d%7E1e%7e0f", "/properties/d~1e~0f"),
        ("#/properties//g%20h", "/properties//g h"),
        ("#/properties//g h", "/properties//g h"),
        ("#/properties/%C3%BC", "/properties/ü"),
        ("x.json#/items/1/not", "/items/1/not"),
        ("#/x-own/deep/0/properties/inner", "/x-own/deep/0/properties/inner"),
        ("#/default/looks", "/default/looks"),
        ("#", ""),
        ("", ""),
    ] {
        assert_eq!(folder.leads("x.json", text), format!("x.json#{place}"));
    }
    for (text, reason) in [
        ("#/properties/none", "the reference leads nowhere: `x.json` has no `/properties/none`"),
        ("#/items/01", "`x.json` has no `/items/01`"),
        ("#/properties/d~2e", "a `~` that is neither `~0` nor `~1`"),
        ("#/%FF", "not UTF-8"),
        ("#card", "the reference leads nowhere: `x.json` has no anchor `card`"),
    ] {
        assert!(folder.leads("x.json", text).contains(reason), "{text}: {}", folder.leads("x.json", text));
    }
}

// B04
#[test]
fn a_base_holds_only_inside_the_schema_that_declares_it() {
    let mut folder = Folder::new(&[(
        "root.json",
        r##"{"$id":"https://s.test/v1/root.json","properties":{"a":{"$id":"https://s.test/other/a.json","definitions":{"x":{}},
            "allOf":[{"$ref":"#/definitions/x"},{"$ref":"b.json"}]},"b":{"$ref":"#/definitions/x"},"c":{"$ref":"#card"}},
            "definitions":{"x":{"$id":"#card"},"y":{"$id":"../other/b.json"}}}"##,
    )]);
    assert_eq!(
        folder.all("root.json"),
        [
            "root.json#/properties/a/definitions/x",
            "root.json#/definitions/y",
            "root.json#/definitions/x",
            "root.json#/definitions/x"
        ]
    );
    assert_eq!(folder.leads("root.json", "#/properties/a/definitions/x"), "root.json#/properties/a/definitions/x");
    assert_eq!(folder.leads("root.json#/properties/a", "/v1/root.json#card"), "root.json#/definitions/x");
    assert_eq!(
        folder.leads("root.json#/properties/a", "#card"),
        "the reference leads nowhere: `/properties/a` in `root.json` has no anchor `card`"
    );
}

#[test]
fn the_edition_decides_what_is_a_name() {
    let schema = r##"{"definitions":{
        "a":{"id":"urn:a"},"b":{"$id":"urn:b"},"c":{"$anchor":"c"},"d":{"$dynamicAnchor":"d"},"e":{"$id":"#e"},"f":{"id":"#f"},
        "g":{"$id":"urn:g#g"},"h":{"$id":"urn:h","$ref":"#"}}}"##;
    let found = |dialect| {
        let mut folder = Folder::of(dialect, &[], &[("x.json", schema)]);
        let texts = ["urn:a", "urn:b", "#c", "#d", "#e", "#f", "urn:g#g", "urn:h"];
        let found = texts.iter().filter(|text| folder.leads("x.json", text).starts_with("x.json#"));
        found.copied().collect::<Vec<_>>()
    };
    assert_eq!(found(Dialect::Draft4), ["urn:a", "#f"]);
    assert_eq!(found(Dialect::Draft6), ["urn:b", "#e", "urn:g#g"]);
    assert_eq!(found(Dialect::Draft7), ["urn:b", "#e", "urn:g#g"]);
    assert_eq!(found(Dialect::Draft2019), ["urn:b", "#c", "urn:h"]);
    assert_eq!(found(Dialect::Draft2020), ["urn:b", "#c", "#d", "urn:h"]);
}

#[test]
fn names_inside_values_and_unknown_keywords_are_none() {
    let named = r#"{"$id":"urn:x","$anchor":"x"}"#;
    for keyword in ["const", "default", "x-own", "dependentRequired"] {
        let mut folder = Folder::modern(&format!(r#"{{"{keyword}":{named},"$defs":{{"x":{{}}}}}}"#));
        assert!(folder.leads("x.json", "urn:x").contains("leads nowhere"), "{keyword}");
        assert!(folder.leads("x.json", "#x").contains("no anchor"), "{keyword}");
    }
    let mut folder = Folder::modern(&format!(
        r#"{{"enum":[{named}],"examples":[{named}],"properties":{{"enum":{{"const":{named}}},"$id":{{"type":"string"}}}}}}"#
    ));
    assert!(folder.leads("x.json", "urn:x").contains("leads nowhere"));
    assert!(folder.problems().is_empty());
    let mut folder = Folder::modern(&format!(r#"{{"properties":{{"const":{named}}}}}"#));
    assert_eq!(folder.leads("x.json", "urn:x"), "x.json#/properties/const");
}

#[test]
fn a_place_that_a_reference_has_made_a_schema_has_names_of_its_own_and_sees_those_around_it() {
    let schema = r##"{"$id":"https://e.test/x.json","$defs":{"s":{"$anchor":"seen"}},"components":{"a":{"$id":"https://e.test/sub/a.json",
        "allOf":[{"$ref":"#own"},{"$ref":"../x.json#seen"},{"$ref":"#/x-b"}],"$anchor":"own","x-b":{"$anchor":"b","not":{"$ref":"#b"}}},
        "c":{"$anchor":"c","allOf":[{"$ref":"#c"},{"$ref":"#seen"},{"$ref":"#/$defs/s"}]}}}"##;
    let mut folder = Folder::modern(schema);
    for turn in 0..2 {
        // The names stay unknown outside, also once the place is a schema.
        assert!(folder.leads("x.json", "#c").contains("no anchor"), "{turn}");
        assert!(folder.leads("x.json", "https://e.test/sub/a.json").contains("the network is never asked"), "{turn}");
        assert_eq!(folder.leads("x.json", "#/components/a"), "x.json#/components/a");
        assert_eq!(folder.leads("x.json", "#/components/c"), "x.json#/components/c");
        assert_eq!(folder.leads("x.json#/components/a/allOf/0", "#own"), "x.json#/components/a");
        assert_eq!(folder.leads("x.json#/components/a/allOf/1", "../x.json#seen"), "x.json#/$defs/s");
        assert_eq!(folder.leads("x.json#/components/a", "https://e.test/sub/a.json"), "x.json#/components/a");
        assert_eq!(folder.leads("x.json#/components/a/allOf/2", "#/x-b"), "x.json#/components/a/x-b");
        assert_eq!(folder.leads("x.json#/components/a/x-b/not", "#b"), "x.json#/components/a/x-b");
        assert_eq!(folder.leads("x.json#/components/c/allOf/0", "#c"), "x.json#/components/c");
        assert_eq!(folder.leads("x.json#/components/c/allOf/0", "https://e.test/x.json#c"), "x.json#/components/c");
        assert_eq!(folder.leads("x.json#/components/c/allOf/1", "#seen"), "x.json#/$defs/s");
        assert_eq!(folder.leads("x.json#/components/c/allOf/2", "#/$defs/s"), "x.json#/$defs/s");
    }
}

#[test]
fn names_that_come_twice_are_refused_where_they_are_used() {
    let mut folder = Folder::modern(
        r#"{"$defs":{"a":{"$anchor":"x","$id":"urn:a"},"b":{"$anchor":"y"},"c":{"$anchor":"y"},"d":{"$id":"urn:a"}}}"#,
    );
    assert_eq!(
        folder.leads("x.json", "#y"),
        "the anchor `y` is ambiguous: `x.json` has it at `/$defs/b` and at `/$defs/c`"
    );
    assert_eq!(
        folder.leads("x.json", "urn:a"),
        "`urn:a` is the `$id` of two schemas in `x.json`, at `/$defs/a` and at `/$defs/d`"
    );
    assert!(folder.problems().is_empty());
}

// B32
#[test]
fn both_keywords_for_definitions_are_read_in_every_edition() {
    for dialect in [Dialect::Draft4, Dialect::Draft7, Dialect::Draft2020] {
        let id = if dialect == Dialect::Draft4 { "id" } else { "$id" };
        let schema = format!(
            r#"{{"definitions":{{"a":{{"{id}":"urn:old"}},"b":{{}}}},"$defs":{{"a":{{"{id}":"urn:new"}},"b":{{}}}}}}"#
        );
        let mut folder = Folder::of(dialect, &[], &[("x.json", &schema)]);
        assert_eq!(folder.leads("x.json", "urn:old"), "x.json#/definitions/a");
        assert_eq!(folder.leads("x.json", "urn:new"), "x.json#/$defs/a");
        assert_eq!(folder.leads("x.json", "#/definitions/b"), "x.json#/definitions/b");
        assert_eq!(folder.leads("x.json", "#/$defs/b"), "x.json#/$defs/b");
    }
}

#[test]
fn a_schema_is_read_by_the_edition_that_it_or_what_is_around_it_names() {
    let mut folder = Folder::of(
        Dialect::Draft6,
        &[("https://map.test/", "meta")],
        &[
            ("none.json", "{}"),
            (
                "x.json",
                r#"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"inner":{"$schema":"https://json-schema.org/draft/2020-12/schema",
                    "$id":"urn:inner","$defs":{"a":{"$anchor":"a"}}},"nameless":{"$schema":"https://json-schema.org/draft/2020-12/schema"},
                    "old":{"$schema":"http://json-schema.org/draft-04/schema#","id":"urn:old"}}}"#,
            ),
            ("meta/own.json", r#"{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://e.test/own"}"#),
            ("meta/silent.json", "{}"),
            ("meta/loop.json", r#"{"$schema":"https://e.test/loop","$id":"https://e.test/loop"}"#),
            ("meta/next.json", r#"{"$schema":"https://e.test/own#"}"#),
            ("own.json", r#"{"$schema":"https://e.test/own"}"#),
            ("silent.json", r#"{"$schema":"https://map.test/silent.json"}"#),
            ("next.json", r#"{"$schema":"https://map.test/next.json"}"#),
            ("loop.json", "{\n\"$schema\":\"https://e.test/loop\"}"),
            ("unknown.json", r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#),
            ("number.json", r#"{"$schema":7}"#),
            ("outside.json", r#"{"$schema":"https://map.test/..%2f..%2fsecret.json"}"#),
        ],
    );
    let secret = r#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#;
    std::fs::write(folder.folder.path().join("secret.json"), secret).expect("a file");
    for (place, dialect) in [
        ("none.json", Dialect::Draft6),
        ("outside.json", Dialect::Draft6),
        ("x.json#/definitions", Dialect::Draft7),
        ("x.json#/definitions/inner/$defs/a", Dialect::Draft2020),
        ("x.json#/definitions/nameless", Dialect::Draft7),
        ("x.json#/definitions/old", Dialect::Draft4),
        ("own.json", Dialect::Draft7),
        ("silent.json", Dialect::Draft6),
        ("next.json", Dialect::Draft7),
        ("loop.json", Dialect::Draft6),
        ("unknown.json", Dialect::Draft6),
        ("unknown.json#/title", Dialect::Draft6),
        ("number.json", Dialect::Draft6),
    ] {
        let at = folder.at(place);
        assert_eq!(folder.resolver.dialect(&at), dialect, "{place}");
    }
    assert_eq!(folder.leads("x.json", "urn:inner#a"), "x.json#/definitions/inner/$defs/a");
    assert_eq!(folder.leads("x.json", "urn:old"), "x.json#/definitions/old");
    let problems = folder.problems();
    assert_eq!(problems.len(), 4, "{problems:#?}");
    for (problem, start) in problems.iter().zip([
        "schemas/outside.json:1:2: /$schema: the dialect `https://map.test/..%2f..%2fsecret.json` is neither",
        "schemas/loop.json:2:1: /$schema: the dialect `https://e.test/loop` is neither",
        "schemas/unknown.json:1:2: /$schema: the dialect `http://json-schema.org/draft-03/schema#` is neither",
        "schemas/number.json:1:2: /$schema: `$schema` must be a string",
    ]) {
        assert!(problem.starts_with(start), "{problem}");
    }
}

// B04
#[test]
fn an_id_that_is_none_is_reported_at_its_place() {
    let mut folder = Folder::of(
        Dialect::Draft2020,
        &[],
        &[
            ("a.json", r#"{"$id":7}"#),
            ("b.json", r#"{"$defs":{"x":{"$id":"../../y.json"}}}"#),
            ("c.json", r#"{"$id":"urn:c","$defs":{"x":{"$id":"y.json"}}}"#),
            ("d.json", r#"{"$id":"100%"}"#),
            ("e.json", r##"{"$id":"","$defs":{"x":{"$id":"#"}}}"##),
        ],
    );
    for file in ["a.json", "b.json", "c.json", "d.json", "e.json"] {
        assert_eq!(folder.leads(file, "#"), format!("{file}#"));
    }
    let problems = folder.problems();
    for (problem, start) in problems.iter().zip([
        "schemas/a.json:1:2: /$id: `$id` must be a string",
        "schemas/b.json:1:16: /$defs/x/$id: `../../y.json` leads outside the schema folder",
        "schemas/c.json:1:30: /$defs/x/$id: `y.json` cannot be read as relative to `urn:c`",
        "schemas/d.json:1:2: /$id: `100%` is no URI reference",
    ]) {
        assert!(problem.starts_with(start), "{problem}");
    }
    assert_eq!(problems.len(), 4, "{problems:#?}");
}
