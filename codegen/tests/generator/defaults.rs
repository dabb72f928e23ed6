//! Defaults that are filled in, and those that must not be.

use crate::folder::Folder;

/// The generated code, its white space as single spaces.
fn code(schema: &str) -> String {
    let code = Folder::of_schema(schema).code().expect("code");
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_default_is_not_filled_in_where_its_member_could_break_a_rule_of_the_object() {
    const FILLED: &str = "pub a: i64,";
    const OPTION: &str = "pub a: ::core::option::Option<i64>,";
    for (rule, field) in [
        (r#""minProperties":1"#, FILLED),
        (r#""dependencies":{"b":["a"]}"#, FILLED),
        (r#""maxProperties":1"#, OPTION),
        (r#""dependencies":{"a":["b"]}"#, OPTION),
    ] {
        let properties = r#""properties":{"a":{"type":"integer","default":7},"b":{"type":"string"}}"#;
        let code = code(&format!("{{{properties},{rule}}}"));
        assert!(code.contains(field), "{rule}: {code}");
    }
}

#[test]
fn a_default_gives_an_option_to_a_member_whose_own_default_does_not_fit() {
    let code = code(
        r##"{"properties":{"t":{"$ref":"#/definitions/T","default":{"a":1}}},
        "definitions":{"T":{"properties":{"a":{"type":"integer","default":"x"}}}}}"##,
    );
    assert!(code.contains("pub a: ::core::option::Option<i64>,"), "{code}");
    assert!(code.contains("a: ::core::option::Option::Some(1"), "{code}");
}
