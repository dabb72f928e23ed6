//! Which files an export writes, and what it says of those that are not so.

use std::{fs, path::Path, process::Command};

use babelqueue::{Export, ExportError, babel_job};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

#[babel_job("urn:babel:orders:created", key = id)]
#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderCreated {
    id: u64,
    note: Option<String>,
}

#[babel_job("urn:babel:orders:cancelled")]
#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderCancelled {
    id: u64,
}

/// The first one, after a change.
#[babel_job("urn:babel:orders:created", topic = "orders-eu")]
#[derive(Serialize, Deserialize, JsonSchema)]
struct Changed {
    id: u64,
    note: Option<i32>,
}

const FILES: [&str; 3] = ["orders.cancelled.schema.json", "orders.created.schema.json", "registry.json"];

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn exported() -> Self {
        let folder = Self::new();
        both().write(folder.registry()).unwrap();
        folder
    }

    fn registry(&self) -> std::path::PathBuf {
        self.0.path().join("registry.json")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// Everything in the folder.
    fn content(&self) -> Vec<(String, String)> {
        self.names().into_iter().map(|name| (name.clone(), self.read(&name))).collect()
    }

    /// What the check says, a line a difference, without the folder's path.
    #[track_caller]
    fn differences(&self, export: &Export) -> Vec<String> {
        let before = self.content();
        let error = export.check(self.registry()).unwrap_err();
        assert_eq!(self.content(), before, "a check writes nothing");
        let ExportError::Outdated(differences) = error else { panic!("{error}") };
        let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
        differences.iter().map(|difference| format!("{}: {}", name(&difference.file), difference.problem)).collect()
    }

    #[track_caller]
    fn written(&self, export: &Export) -> Vec<String> {
        let files = export.write(self.registry()).unwrap();
        export.check(self.registry()).unwrap();
        files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }
}

fn both() -> Export {
    Export::of::<OrderCreated>().owner("team-orders").and::<OrderCancelled>()
}

#[test]
fn an_export_writes_a_file_a_urn_and_the_registry() {
    let folder = Folder::new();
    let missing: Vec<_> = ["orders.created.schema.json", "orders.cancelled.schema.json", "registry.json"].into();
    let lines: Vec<_> = missing.iter().map(|name| format!("{name}: is missing")).collect();
    assert_eq!(folder.differences(&both()), lines);
    assert_eq!(folder.written(&both()), missing);
    assert_eq!(folder.names(), FILES);
    let schema = r#"{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "$comment": "Exported from a Rust type: change the type, not this file.",
  "title": "OrderCreated",
  "type": "object",
  "required": [
    "id"
  ],
  "properties": {
    "id": {
      "type": "integer",
      "format": "uint64",
      "minimum": 0
    },
    "note": {
      "type": [
        "string",
        "null"
      ]
    }
  }
}
"#;
    assert_eq!(folder.read("orders.created.schema.json"), schema);
    assert_eq!(both().write(folder.registry()).unwrap(), [""; 0].map(std::path::PathBuf::from));
}

mod reordered {
    use super::*;

    #[babel_job("urn:babel:orders:created", key = id)]
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct OrderCreated {
        count: u8,
        id: u64,
    }
}

mod ordered {
    use super::*;

    #[babel_job("urn:babel:orders:created", key = id)]
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct OrderCreated {
        id: u64,
        count: u8,
    }
}

#[test]
fn the_order_of_fields_is_no_difference() {
    let folder = Folder::new();
    Export::of::<ordered::OrderCreated>().write(folder.registry()).unwrap();
    Export::of::<reordered::OrderCreated>().check(folder.registry()).unwrap();
}

#[test]
fn the_folder_is_made_where_it_is_missing() {
    let folder = Folder::new();
    let registry = folder.0.path().join("deep/schemas/registry.json");
    both().write(&registry).unwrap();
    both().check(&registry).unwrap();
}

#[test]
fn a_change_of_a_type_is_told_with_its_first_place() {
    let folder = Folder::exported();
    let changed = Export::of::<Changed>().and::<OrderCancelled>();
    assert_eq!(
        folder.differences(&changed),
        [
            r#"orders.created.schema.json: /description: the file has nothing, the code has "The first one, after a change.""#,
            r#"registry.json: /schemas/0/topic: the file has nothing, the code has "orders-eu""#,
        ]
    );
    assert_eq!(folder.written(&changed), ["orders.created.schema.json", "registry.json"]);
    // The owner was not given this time.
    assert!(folder.read("registry.json").contains(r#""owner": "team-orders""#));
    assert!(!folder.read("registry.json").contains("key"));
}

#[test]
fn the_error_of_a_test_that_unwraps_it_reads_well() {
    let folder = Folder::exported();
    fs::remove_file(folder.0.path().join("orders.cancelled.schema.json")).unwrap();
    let error = both().check(folder.registry()).unwrap_err();
    let file = folder.0.path().join("orders.cancelled.schema.json");
    let text = format!(
        "the schemas are not those of the types; BABELQUEUE_UPDATE_SCHEMAS=1 writes them anew:\n{}: is missing",
        file.display()
    );
    assert_eq!((format!("{error}"), format!("{error:?}")), (text.clone(), text));
}

#[test]
fn files_are_compared_by_what_they_say() {
    let folder = Folder::exported();
    for name in FILES {
        let value: serde_json::Value = serde_json::from_str(&folder.read(name)).unwrap();
        folder.write(name, &format!("\u{feff}{value}").replace(",\"", ",\r\n\t\""));
    }
    both().check(folder.registry()).unwrap();
    let before = folder.content();
    assert_eq!(folder.written(&both()), [""; 0]);
    assert_eq!(folder.content(), before);
}

#[test]
fn a_file_that_is_no_json_is_written_anew() {
    let folder = Folder::exported();
    folder.write("orders.created.schema.json", "{\n<<<<<<<");
    let line = folder.differences(&both()).join("\n");
    assert!(line.starts_with("orders.created.schema.json: is no JSON: ") && line.contains("line 2"), "{line}");
    assert_eq!(folder.written(&both()), ["orders.created.schema.json"]);
}

#[test]
fn what_others_have_in_the_registry_stays() {
    let folder = Folder::new();
    let theirs =
        "{\"x\": 1.0, \"schemas\": [\n  {\"urn\":\"urn:other\", \"schema\":\"./other.schema.json\", \"rank\":1e2}\n]}";
    folder.write("registry.json", theirs);
    folder.write("other.schema.json", r#"{"$comment":"Exported from a Rust type: change the type, not this file."}"#);
    folder.written(&both());
    assert!(folder.read("registry.json").starts_with(theirs.strip_suffix("\n]}").unwrap()));
    assert!(folder.names().contains(&"other.schema.json".to_owned()));
    // That one is exported by somebody else now.
    folder.written(&Export::of::<OrderCancelled>().deprecated());
    assert!(folder.read("registry.json").contains("urn:babel:orders:created"));
    assert_eq!(folder.names().len(), 4);
}

#[test]
fn an_exported_schema_that_no_entry_names_is_removed_and_any_other_file_is_left() {
    let folder = Folder::exported();
    folder.write("registry.json", r#"{"schemas": []}"#);
    folder.write("by-hand.schema.json", r#"{"$comment": "By hand."}"#);
    folder.write("broken.schema.json", "{");
    folder.write("notes.json", r#"{"$comment": "Exported from a Rust type: change the type, not this file."}"#);
    let created = Export::of::<OrderCreated>();
    assert_eq!(
        folder.differences(&created),
        [
            "orders.cancelled.schema.json: is no longer exported",
            r#"registry.json: /schemas: has no entry for "urn:babel:orders:created""#,
        ]
    );
    assert_eq!(folder.written(&created), ["orders.cancelled.schema.json", "registry.json"]);
    let left =
        ["broken.schema.json", "by-hand.schema.json", "notes.json", "orders.created.schema.json", "registry.json"];
    assert_eq!(folder.names(), left);
}

#[test]
fn a_file_of_another_urn_is_not_written_over() {
    let folder = Folder::new();
    folder.write("registry.json", r#"{"schemas": [{"urn": "urn:other", "schema": "orders.created.schema.json"}]}"#);
    let error = both().write(folder.registry()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not everything can be exported:\n`urn:babel:orders:created`: its file `orders.created.schema.json` is the schema of `urn:other`"
    );
    assert_eq!(folder.names(), ["registry.json"]);
}

#[test]
fn a_registry_that_is_none_is_not_touched() {
    let folder = Folder::new();
    for text in ["", "{\"schemas\": 7}", "[]"] {
        folder.write("registry.json", text);
        for result in [both().check(folder.registry()), both().write(folder.registry()).map(drop)] {
            let error = result.unwrap_err();
            assert!(matches!(&error, ExportError::File { path, .. } if *path == folder.registry()), "{error}");
        }
        assert_eq!(folder.content(), [("registry.json".to_owned(), text.to_owned())]);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("orders.created.schema.json")).unwrap();
    let error = both().write(folder.registry()).unwrap_err();
    assert!(error.to_string().contains("orders.created.schema.json: "), "{error}");
}

#[babel_job("urn:babel:orders:counted")]
#[derive(Serialize, Deserialize, JsonSchema)]
struct Counted(u64);

#[test]
fn all_jobs_that_cannot_be_exported_are_named_and_nothing_is_written() {
    let folder = Folder::new();
    let error = Export::of::<OrderCreated>().and::<Changed>().and::<Counted>().write(folder.registry()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not everything can be exported:\n\
         `urn:babel:orders:counted`: the payload is no JSON object, so it can never be published\n\
         `urn:babel:orders:created`: is exported twice"
    );
    assert_eq!(folder.names(), [""; 0]);
}

/// Run by the test below, with the variable set.
#[test]
#[ignore = "needs a folder in the environment"]
fn check_in_the_folder_of_the_environment() {
    both().check(std::env::var("EXPORT_TEST_REGISTRY").unwrap()).unwrap();
}

#[test]
fn the_variable_has_a_check_write() {
    let folder = Folder::new();
    let check = |value: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "files::check_in_the_folder_of_the_environment"]);
        child.env("EXPORT_TEST_REGISTRY", folder.registry()).env("BABELQUEUE_UPDATE_SCHEMAS", value);
        child.output().unwrap().status.success()
    };
    assert!(!check("0"));
    assert_eq!(folder.names(), [""; 0]);
    assert!(check("1"));
    assert_eq!(folder.names(), FILES);
    assert!(check("0"));
}
