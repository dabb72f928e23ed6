//! References that depend on the way to them.

use super::{Dialect, Folder, shown};

impl Folder {
    /// Opens what the files lead to; where the dynamic reference at `place` leads then.
    fn leads_from(&mut self, roots: &[&str], place: &str, text: &str) -> String {
        let roots: Vec<_> = roots.iter().map(|root| self.at(root)).collect();
        self.resolver.open_reachable(&roots);
        let at = self.at(place);
        shown(self.resolver.dynamic_reference(&at, text))
    }
}

fn modern(files: &[(&str, &str)]) -> Folder {
    Folder::of(Dialect::Draft2020, &[], files)
}

const TREE: (&str, &str) =
    ("tree.json", r##"{"$dynamicAnchor":"node","properties":{"children":{"items":{"$dynamicRef":"#node"}}}}"##);
const STRICT: (&str, &str) =
    ("strict.json", r#"{"$dynamicAnchor":"node","$ref":"tree.json","unevaluatedProperties":false}"#);
const ITEMS: &str = "tree.json#/properties/children/items";

#[test]
fn a_name_that_is_declared_once_is_certain() {
    let mut folder = modern(&[TREE, STRICT, ("x.json", r#"{"properties":{"t":{"$ref":"tree.json"}}}"#)]);
    assert_eq!(folder.leads_from(&["x.json"], ITEMS, "#node"), "tree.json#");
    assert_eq!(folder.leads_from(&["x.json", "tree.json"], ITEMS, "#node"), "tree.json#");
}

#[test]
fn the_root_of_a_payload_is_further_out_than_everything() {
    let mut folder = modern(&[TREE, STRICT, ("x.json", r#"{"properties":{"t":{"$ref":"strict.json"}}}"#)]);
    assert_eq!(folder.leads_from(&["strict.json"], ITEMS, "#node"), "strict.json#");
    // From here the strict tree is further out, but only a look at each way would show it.
    assert_eq!(folder.leads_from(&["x.json"], ITEMS, "#node"), "dynamic");
}

#[test]
fn payloads_that_give_a_name_other_places_leave_it_uncertain() {
    let mut folder = modern(&[TREE, STRICT]);
    assert_eq!(folder.leads_from(&["strict.json", "tree.json"], ITEMS, "#node"), "dynamic");
}

#[test]
fn what_no_payload_leads_to_is_uncertain_and_so_is_everything_before_the_ways_are_known() {
    let mut folder = modern(&[TREE, STRICT, ("x.json", "{}")]);
    let at = folder.at(ITEMS);
    assert_eq!(shown(folder.resolver.dynamic_reference(&at, "#node")), "dynamic");
    assert_eq!(folder.leads_from(&["strict.json"], ITEMS, "#node"), "strict.json#");
}

#[test]
fn a_reference_without_such_a_name_is_an_ordinary_one() {
    let schema = r##"{"$dynamicAnchor":"d","$defs":{"a":{"$anchor":"a"},"b":{"$id":"b","$dynamicAnchor":"d","$defs":{"p":{"$anchor":"plain"}}}}}"##;
    let mut folder = modern(&[("x.json", schema)]);
    assert_eq!(folder.leads_from(&["x.json"], "x.json", "#a"), "x.json#/$defs/a");
    assert_eq!(folder.leads_from(&["x.json"], "x.json", "#/$defs/b"), "x.json#/$defs/b");
    assert_eq!(folder.leads_from(&["x.json"], "x.json", "b#plain"), "x.json#/$defs/b/$defs/p");
    assert_eq!(folder.leads_from(&["x.json"], "x.json", "b"), "x.json#/$defs/b");
    assert!(folder.leads_from(&["x.json"], "x.json", "#none").contains("no anchor `none`"));
}

#[test]
fn a_place_that_only_a_dynamic_reference_leads_to_is_opened_and_counts() {
    // Through its own name, the root leads to a file that declares a third place.
    let mut folder = modern(&[
        TREE,
        ("x.json", r#"{"$ref":"tree.json","$defs":{"n":{"$dynamicAnchor":"node","allOf":[{"$ref":"more.json"}]}}}"#),
        ("more.json", r#"{"$dynamicAnchor":"node","$ref":"last.json"}"#),
        ("last.json", "{}"),
    ]);
    assert_eq!(folder.leads_from(&["x.json"], ITEMS, "#node"), "x.json#/$defs/n");
    assert!(folder.resolver.sources.files_read().contains(&"schemas/last.json".to_owned()));
}

#[test]
fn a_metaschema_counts_unless_somebody_extends_it() {
    let meta = "https://json-schema.org/draft/2020-12/schema#meta";
    let mut folder = modern(&[("x.json", "{}"), ("y.json", r#"{"$dynamicAnchor":"meta"}"#)]);
    assert_eq!(folder.leads_from(&["x.json"], "x.json", meta), format!("metaschema {meta}"));
    assert_eq!(folder.leads_from(&["x.json", "y.json"], "x.json", meta), "dynamic");
}

#[test]
fn the_recursive_reference_of_2019_leads_to_the_outermost_recursive_schema() {
    let tree = r##"{"$recursiveAnchor":true,"properties":{"children":{"items":{"$recursiveRef":"#"}}}}"##;
    let files = [
        ("tree.json", tree),
        ("strict.json", r#"{"$recursiveAnchor":true,"$ref":"tree.json"}"#),
        ("loose.json", r#"{"$recursiveAnchor":false,"$ref":"tree.json"}"#),
    ];
    let mut folder = Folder::of(Dialect::Draft2019, &[], &files);
    assert_eq!(folder.leads_from(&["tree.json"], ITEMS, "#"), "tree.json#");
    assert_eq!(folder.leads_from(&["loose.json"], ITEMS, "#"), "tree.json#");
    assert_eq!(folder.leads_from(&["strict.json"], ITEMS, "#"), "strict.json#");
    assert_eq!(folder.leads_from(&["strict.json", "loose.json"], ITEMS, "#"), "dynamic");
    assert_eq!(folder.leads_from(&["loose.json"], "loose.json", "#"), "loose.json#");
    assert_eq!(folder.leads_from(&["loose.json"], ITEMS, "#x"), "`$recursiveRef` must be `#`");
}
