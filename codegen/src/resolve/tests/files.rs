//! References to files, by path, by `$id` and by a mapping.

use super::{Dialect, Folder};

// B01
#[test]
fn a_path_is_relative_to_the_file_that_writes_it() {
    let mut folder = Folder::new(&[
        ("x.json", r#"{"properties":{"buyer":{"$ref":"parties/party.json"}}}"#),
        (
            "parties/party.json",
            r#"{"allOf":[{"$ref":"../x.json#/properties/buyer"},{"$ref":"./a%20b.json"},{"$ref":"größe 1.json"}]}"#,
        ),
        ("parties/a b.json", "{}"),
        ("parties/größe 1.json", "{}"),
    ]);
    assert_eq!(folder.all("x.json"), ["parties/party.json#"]);
    assert_eq!(
        folder.all("parties/party.json"),
        ["x.json#/properties/buyer", "parties/a b.json#", "parties/größe 1.json#"]
    );
    assert!(folder.problems().is_empty());
}

#[test]
fn files_may_refer_to_each_other_in_a_circle() {
    let mut folder = Folder::new(&[
        ("x.json", r#"{"properties":{"y":{"$ref":"y.json"}}}"#),
        ("y.json", r#"{"properties":{"x":{"$ref":"x.json"}}}"#),
    ]);
    let root = folder.at("x.json");
    folder.resolver.open_reachable(&[root]);
    assert_eq!(folder.resolver.sources.files_read(), ["schemas/x.json", "schemas/y.json"]);
    assert_eq!((folder.all("x.json"), folder.all("y.json")), (vec!["y.json#".to_owned()], vec!["x.json#".to_owned()]));
}

// B01, B04
#[test]
fn nothing_outside_the_folder_is_read() {
    let mut folder = Folder::new(&[("a/x.json", "{}")]);
    std::fs::write(folder.folder.path().join("secret.json"), "{}").expect("a file");
    for text in ["../../secret.json", "%2e%2e/%2e%2e/secret.json", "../..%2fsecret.json"] {
        assert!(folder.leads("a/x.json", text).contains("leads outside the schema folder"), "{text}");
    }
    for text in ["/secret.json", "C:\\secret.json", "c:/secret.json", "..\\..\\secret.json"] {
        assert!(folder.leads("a/x.json", text).contains("is not a relative path with `/` between folders"), "{text}");
    }
    let file = format!("file://{}", folder.folder.path().join("secret.json").display());
    assert!(folder.leads("a/x.json", &file).contains("leads outside the schema folder"));
    assert_eq!(folder.resolver.sources.files_read(), ["schemas/a/x.json"]);
}

// B01, B04
#[test]
fn the_network_is_never_asked_and_the_host_is_named() {
    let mut folder = Folder::new(&[("x.json", "{}")]);
    for text in ["https://e.test/x.json", "//e.test/x.json", "http://e.test:8080/a/b#c"] {
        let outcome = folder.leads("x.json", text);
        assert!(outcome.contains("on the host `e.test`, and the network is never asked"), "{outcome}");
    }
}

// B31, C11
#[test]
fn a_file_that_is_missing_or_broken_is_named() {
    let mut folder = Folder::new(&[("x.json", "{}"), ("y.json", "{\n \"a\": }"), ("z.json", "")]);
    folder.write("z.json", b"\xFF\xFE{\0}\0");
    folder.write("bom.json", b"\xEF\xBB\xBF{\"type\":\"object\"}");
    assert!(folder.leads("x.json", "none.json").starts_with("cannot read `none.json`: "));
    assert_eq!(folder.leads("x.json", "x.json?a=1"), "a reference to a file takes no query");
    assert_eq!(folder.leads("x.json", "bom.json"), "bom.json#");
    for _ in 0..2 {
        assert_eq!(
            (folder.leads("x.json", "y.json"), folder.leads("x.json", "z.json")),
            ("reported".into(), "reported".into())
        );
    }
    let problems = folder.problems();
    assert_eq!(
        problems,
        [
            "schemas/y.json:2:7: not JSON: expected value",
            "schemas/z.json: the file is UTF-16 or UTF-32; save it as UTF-8"
        ]
    );
}

#[test]
fn a_file_is_found_by_its_id_wherever_it_lies() {
    let mut folder = Folder::new(&[
        ("x.json", r#"{"$id":"https://e.test/v1/x.json","$ref":"ignored"}"#),
        ("lib/party.json", r##"{"$id":"HTTPS://e.test:443/v1/./p%61rty.json#","definitions":{"a":{"$id":"#card"}}}"##),
        ("urn.json", r#"{"$id":"urn:uuid:1"}"#),
        ("root.json", r#"{"$id":"/schemas/address"}"#),
        ("broken.json", "{"),
    ]);
    assert_eq!(folder.leads("x.json", "https://e.test/v1/party.json"), "lib/party.json#");
    assert_eq!(folder.leads("urn.json", "https://e.test/v1/party.json#card"), "lib/party.json#/definitions/a");
    assert_eq!(folder.leads("x.json", "urn:uuid:1"), "urn.json#");
    assert_eq!(folder.leads("lib/party.json", "urn:uuid:1"), "urn.json#");
    assert_eq!(folder.leads("x.json", "/schemas/address"), "root.json#");
    // Draft-07 takes no base from an `$id` beside `$ref`, but the file is still called so.
    assert_eq!(folder.leads("urn.json", "https://e.test/v1/x.json"), "x.json#");
    assert_eq!(
        folder.leads("x.json", "urn:uuid:2"),
        "the reference leads nowhere: no file of the schema folder has the `$id` `urn:uuid:2` (`broken.json` is no JSON and was passed over)"
    );
    assert!(folder.problems().is_empty(), "nothing refers to the broken file");
    assert!(
        folder.resolver.sources.files_read().contains(&"schemas/broken.json".to_owned()),
        "the answer depends on it"
    );
}

#[test]
fn a_schema_inside_another_file_is_found_by_its_id_if_no_file_has_it() {
    let mut folder = Folder::new(&[
        ("x.json", "{}"),
        (
            "a.json",
            r##"{"$schema":"unknown","definitions":{"m":{"$id":"urn:money","not":{"$id":"#n"}},"f":{"$id":"urn:file"}}}"##,
        ),
        ("file.json", r#"{"$id":"urn:file"}"#),
        ("y.json", r#"{"definitions":{"t":{"$id":"urn:twice"}}}"#),
        ("z.json", r#"{"definitions":{"t":{"$id":"urn:twice"}}}"#),
    ]);
    assert_eq!(folder.leads("x.json", "urn:file"), "file.json#");
    assert_eq!(folder.leads("x.json", "urn:twice"), "`urn:twice` is an `$id` in two files, `y.json` and `z.json`");
    assert!(folder.problems().is_empty(), "nothing refers to the file yet");
    assert_eq!(folder.leads("x.json", "urn:money#n"), "a.json#/definitions/m/not");
    assert_eq!(folder.leads("x.json", "urn:money#/not"), "a.json#/definitions/m/not");
    assert_eq!(folder.problems().len(), 1);
}

#[test]
fn a_prefix_that_is_no_uri_is_a_problem_of_the_build_script() {
    let mut folder = Folder::of(Dialect::Draft7, &[("schemas/", "vendored")], &[]);
    assert_eq!(folder.problems(), ["build script: `schemas/` is no absolute URI"]);
}

#[test]
fn an_id_that_two_files_have_is_refused_where_it_is_used() {
    let mut folder = Folder::new(&[
        ("x.json", "{}"),
        ("b.json", r#"{"$id":"https://e.test/y"}"#),
        ("a.json", r#"{"$id":"https://e.test/y"}"#),
    ]);
    assert_eq!(
        folder.leads("x.json", "https://e.test/y"),
        "`https://e.test/y` is an `$id` in two files, `a.json` and `b.json`"
    );
    assert_eq!(folder.leads("x.json", "a.json"), "a.json#");
}

#[test]
fn relative_references_of_a_file_with_a_uri_follow_the_uri_first_and_the_path_then() {
    let mut folder = Folder::new(&[
        ("v2/x.json", r#"{"$id":"https://e.test/v1/x.json","definitions":{"a":{"$id":"https://f.test/a"}}}"#),
        ("v2/y.json", r#"{"$id":"https://e.test/v2/y.json"}"#),
        ("v2/z.json", r#"{"$id":"https://e.test/v1/z.json"}"#),
        ("v1/y.json", r#"{"$id":"https://e.test/v1/y.json"}"#),
        ("v2/plain.json", "{}"),
        ("urn/x.json", r#"{"$id":"urn:x"}"#),
        ("urn/y.json", "{}"),
    ]);
    assert_eq!(folder.leads("v2/x.json", "y.json"), "v1/y.json#");
    assert_eq!(folder.leads("v2/x.json", "z.json"), "v2/z.json#");
    assert_eq!(folder.leads("v2/x.json", "plain.json"), "v2/plain.json#");
    assert_eq!(folder.leads("urn/x.json", "y.json"), "urn/y.json#");
    assert!(folder.leads("urn/x.json", "../../y.json").contains("relative to `urn:x`"));
    assert!(folder.leads("v2/x.json", "none.json").starts_with("cannot read `v2/none.json`"));
    // A schema inside the file that has a URI of its own lies nowhere.
    assert!(folder.leads("v2/x.json#/definitions/a", "plain.json").contains("on the host `f.test`"));
}

#[test]
fn a_folder_stands_for_a_uri_prefix() {
    let map = [("http://localhost:1234/", "remotes"), ("http://localhost:1234/draft7/", "old"), ("urn:x:", "remotes")];
    let mut folder = Folder::of(
        Dialect::Draft7,
        &map,
        &[
            ("x.json", "{}"),
            ("remotes/a b.json", "{}"),
            (
                "remotes/nested/y.json",
                r#"{"allOf":[{"$ref":"/a%20b.json"},{"$ref":"../a b.json"},{"$ref":"../../x.json"}]}"#,
            ),
            ("old/z.json", r#"{"$ref":"../nested/y.json"}"#),
        ],
    );
    assert_eq!(folder.leads("x.json", "http://localhost:1234/a%20b.json"), "remotes/a b.json#");
    assert_eq!(folder.leads("x.json", "HTTP://LOCALHOST:1234/draft7/z.json"), "old/z.json#");
    assert_eq!(folder.leads("x.json", "urn:x:nested/y.json"), "remotes/nested/y.json#");
    assert_eq!(folder.all("remotes/nested/y.json"), ["remotes/a b.json#", "remotes/a b.json#", "x.json#"]);
    assert_eq!(folder.all("old/z.json"), ["remotes/nested/y.json#"]);
    assert!(folder.leads("x.json", "http://localhost:1234/../../x.json").contains("cannot read `remotes/x.json`"));
    assert!(folder.leads("x.json", "http://localhost:1234/..%2f..%2fx.json").contains("outside the schema folder"));
    assert!(folder.leads("x.json", "http://localhost:12345/x.json").contains("the network is never asked"));
}

#[test]
fn metaschemas_of_json_schema_are_no_files() {
    let copy =
        r##"{"$id":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$ref":"#"},"b":{"$ref":"schema"}}}"##;
    let mut folder = Folder::new(&[("x.json", "{}"), ("copy.json", copy)]);
    for text in [
        "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger",
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/meta/core",
        "http://json-schema.org/draft-04/schema",
    ] {
        assert_eq!(folder.leads("x.json", text), format!("metaschema"));
    }
    assert_eq!(folder.leads("x.json", "http://json-schema.org/draft-07/schema#"), "metaschema");
    assert_eq!(folder.all("copy.json"), ["copy.json#", "copy.json#"]);
}
