//! Changes of the registry itself.

use crate::states::States;

const X: &str = r#"{"type":"object","required":["k","l"],"properties":{"k":{"type":"string"},"l":{"type":"string"}}}"#;

/// Two states whose registries have these entries, one a line from line 2.
fn states(earlier: &[&str], now: &[&str]) -> States {
    let registry = |entries: &[&str]| format!("{{\"schemas\":[\n{}\n]}}", entries.join(",\n"));
    let files = |registry| [("registry.json", registry), ("x.json", X), ("moved/x.json", X)];
    let (earlier, now) = (registry(earlier), registry(now));
    States::new(&files(&earlier), &files(&now))
}

const PLAIN: &str = r#"{"urn":"urn:babel:t:x","schema":"x.json"}"#;

#[test]
fn a_new_urn_is_no_break() {
    let states = states(&[PLAIN], &[PLAIN, r#"{"urn":"urn:babel:t:y","schema":"x.json"}"#]);
    assert_eq!(states.full(), Vec::<String>::new());
}

#[test]
fn a_removed_urn_breaks_consumers_of_now_only() {
    let states = states(&[PLAIN, r#"{"urn":"urn:babel:t:y","schema":"x.json"}"#], &[PLAIN]);
    assert_eq!(
        states.backward(),
        [
            "now/registry.json:1:2: /schemas: BACKWARD: the URN `urn:babel:t:y` is gone, and consumers would not know the \
          messages that were sent with it: keep its entry, with the status `deprecated`"
        ]
    );
    assert_eq!(states.forward(), Vec::<String>::new());
    assert_eq!(states.full().len(), 1);
}

#[test]
fn another_topic_breaks_every_check() {
    let states = states(&[PLAIN], &[r#"{"urn":"urn:babel:t:x","schema":"x.json","topic":"u"}"#]);
    let expected = "now/registry.json:2:42: /schemas/0/topic: the topic was `t` and is `u`: consumers of one state do not \
                    see what publishers of the other one send";
    assert_eq!(states.backward(), [expected]);
    assert_eq!(states.forward(), [expected]);
    assert_eq!(states.full(), [expected]);
}

#[test]
fn the_default_topic_written_down_is_no_break() {
    let states = states(&[PLAIN], &[r#"{"urn":"urn:babel:t:x","schema":"x.json","topic":"t"}"#]);
    assert_eq!(states.full(), Vec::<String>::new());
}

#[test]
fn another_key_breaks_every_check() {
    let keyed = |key: &str| format!(r#"{{"urn":"urn:babel:t:x","schema":"x.json","key":"{key}"}}"#);
    for (earlier, now, reason) in [
        (PLAIN, keyed("/k").as_str(), "the key was none and is `/k`"),
        (keyed("/k").as_str(), PLAIN, "the key was `/k` and is none"),
        (keyed("/k").as_str(), keyed("/l").as_str(), "the key was `/k` and is `/l`"),
    ] {
        let states = states(&[earlier], &[now]);
        for found in [states.backward(), states.forward(), states.full()] {
            assert!(found.len() == 1 && found[0].contains(reason), "{found:?}");
        }
    }
}

#[test]
fn status_owner_and_the_path_of_the_schema_are_no_breaks() {
    let states = states(
        &[PLAIN],
        &[r#"{"urn":"urn:babel:t:x","schema":"moved/x.json","status":"deprecated","owner":"somebody","team":1}"#],
    );
    assert_eq!(states.full(), Vec::<String>::new());
}

#[test]
fn the_next_version_is_advised_and_not_one_that_is_there() {
    let entries =
        [r#"{"urn":"urn:babel:t:x.v2","schema":"x.json"}"#, r#"{"urn":"urn:babel:t:x.v3","schema":"moved/x.json"}"#];
    let states = states(&entries, &entries);
    std::fs::write(states.path("now/x.json"), r#"{"type":"object","required":["new"]}"#).expect("a file");
    let found = states.backward();
    assert!(
        found.iter().any(|line| line.contains("`urn:babel:t:x.v2` breaks") && line.contains("mint `urn:babel:t:x.v4`")),
        "{found:#?}"
    );
}

#[test]
fn what_is_wrong_with_either_state_is_told_and_never_passed_over() {
    let states = states(&[PLAIN], &[PLAIN]);
    std::fs::write(states.path("earlier/x.json"), "broken").expect("a file");
    std::fs::write(states.path("now/x.json"), r#"{"type":"text"}"#).expect("a file");
    let found = states.backward();
    assert_eq!(
        found,
        ["earlier/x.json:1:1: not JSON: expected value", "now/x.json:1:2: /type: `text` is no type of JSON Schema"]
    );
    std::fs::remove_file(states.path("earlier/registry.json")).expect("a file");
    let found = states.backward();
    assert!(found[0].starts_with("earlier/registry.json: cannot read `registry.json`: "), "{found:?}");
}
