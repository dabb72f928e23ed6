//! The official JSON Schema test suite: where it lies, and the groups in it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::files;
use super::group::{Group, Part, Source, Value, identifier};
use super::options::Options;
use super::rules::{Documents, Rules};
use crate::archive::Archive;
use crate::paths;

/// Names a folder with the suite.
const SUITE: &str = "JSON_SCHEMA_TEST_SUITE";

/// The suite travels in the source archive of `jsonschema` for Python, too.
const ARCHIVE: Archive = Archive {
    name: "jsonschema-4.26.0",
    requirement: "jsonschema==4.26.0 \
        --hash=sha256:0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326\n",
    wanted: "json",
};

/// How schemas of the suite name the documents in its folder `remotes`.
pub(super) const REMOTES: &str = "http://localhost:1234/";

/// The suite's folders.
#[derive(Debug)]
pub(super) struct Suite {
    /// Holds a folder for each draft.
    tests: PathBuf,
    remotes: PathBuf,
}

/// A group as the suite's files hold it, its JSON as it is written.
#[derive(Deserialize)]
struct Written<'a> {
    description: String,
    #[serde(borrow)]
    schema: &'a RawValue,
    #[serde(borrow)]
    tests: Vec<WrittenTest<'a>>,
}

#[derive(Deserialize)]
struct WrittenTest<'a> {
    description: String,
    #[serde(borrow)]
    data: &'a RawValue,
    valid: bool,
}

impl Suite {
    /// The suite beside the project, else the one that the environment names, else the one in the archive.
    ///
    /// # Errors
    /// If the folder is none of the suite, or the archive cannot be had.
    pub(super) fn find() -> Result<Self> {
        let beside = paths::beside("json-schema-test-suite");
        let named = env::var_os(SUITE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let folder = match (beside, named) {
            (Some(folder), _) | (None, Some(folder)) => folder,
            (None, None) => ARCHIVE.unpacked("json-schema-test-suite")?,
        };
        println!("The suite: {}", folder.display());
        Self::in_folder(&folder)
            .with_context(|| format!("{} holds neither draft7/ nor tests/draft7/, with remotes/", folder.display()))
    }

    /// A selection of the suite has its drafts at the top; the suite's own repository has them in `tests`.
    fn in_folder(folder: &Path) -> Option<Self> {
        let remotes = folder.join("remotes");
        let tests = [folder.to_path_buf(), folder.join("tests")].into_iter();
        let tests = tests.into_iter().find(|tests| tests.join(Source::Draft7.name()).is_dir())?;
        remotes.is_dir().then_some(Self { tests, remotes })
    }

    /// The wanted groups of a draft, their schema folders written below `schemas`.
    ///
    /// # Errors
    /// If a file cannot be read or written, or is no file of the suite.
    pub(super) fn groups(&self, source: Source, options: &Options, schemas: &Path) -> Result<Vec<Group>> {
        let folder = self.tests.join(source.name());
        let mut groups = Vec::new();
        for path in files::below(&folder, ".json")? {
            if !options.wants_file(&path) {
                continue;
            }
            let text = fs::read_to_string(folder.join(&path))?;
            let written: Vec<Written<'_>> =
                serde_json::from_str(&text).with_context(|| format!("{path} is no file of the suite"))?;
            for (index, written) in written.iter().enumerate() {
                groups.push(self.group(source, &path, index, written, schemas)?);
            }
        }
        ensure!(!groups.is_empty() || options.file.is_some(), "{} holds no groups", folder.display());
        Ok(groups)
    }

    fn group(&self, source: Source, path: &str, index: usize, written: &Written<'_>, schemas: &Path) -> Result<Group> {
        let stem = path.trim_end_matches(".json");
        let id = identifier(&format!("{} {stem} {index}", source.name()));
        let folder = schemas.join(&id);
        self.write_folder(&folder, source, written.schema.get())?;
        let part = if path.starts_with("optional/") { Part::Optional } else { Part::Required };
        // In the required parts a format is a note, whatever the draft. The files of formats ask for a check; in the
        // other optional ones the draft and its vocabularies say what a format is.
        let formats = match part {
            Part::Required => Some(false),
            Part::Optional if path.starts_with("optional/format/") => Some(true),
            Part::Optional => None,
        };
        let values = written.tests.iter().map(|test| Value {
            title: test.description.clone(),
            text: test.data.get().to_owned(),
            valid: test.valid,
        });
        Ok(Group {
            title: format!("{}/{path} #{index} {:?}", source.name(), written.description),
            registry: folder.join(files::REGISTRY),
            wrapped: true,
            rules: Rules {
                schema: serde_json::from_str(written.schema.get())?,
                source,
                formats,
                documents: Documents { prefix: REMOTES, folder: self.remotes.clone() },
            },
            values: values.collect(),
            id,
            source,
            part,
        })
    }

    fn write_folder(&self, folder: &Path, source: Source, schema: &str) -> Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("group.json"), schema)?;
        fs::write(folder.join(files::WRAPPER), files::wrapper("group.json", source))?;
        fs::write(folder.join(files::REGISTRY), files::registry(&[files::WRAPPER]))?;
        if schema.contains(REMOTES) {
            files::copy(&self.remotes, &folder.join("remotes"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"[{"description": "numbers", "schema": {"const": 1.0},
        "tests": [{"description": "one", "data": 1.00, "valid": true}]}]"#;

    fn suite(tests: &str) -> (tempfile::TempDir, Suite) {
        let folder = tempfile::tempdir().unwrap();
        for path in ["draft7/const.json", "draft7/optional/format/date.json", "draft2020-12/const.json"] {
            let path = folder.path().join(tests).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, FILE).unwrap();
        }
        fs::create_dir_all(folder.path().join("remotes")).unwrap();
        let suite = Suite::in_folder(folder.path()).unwrap();
        (folder, suite)
    }

    #[test]
    fn both_layouts_of_the_suite_hold_the_same_groups() {
        for tests in ["", "tests"] {
            let (folder, suite) = suite(tests);
            let schemas = folder.path().join("schemas");
            let groups = suite.groups(Source::Draft7, &Options::default(), &schemas).unwrap();
            let ids: Vec<_> = groups.iter().map(|group| (group.id.as_str(), group.part)).collect();
            let expected = [("draft7_const_0", Part::Required), ("draft7_optional_format_date_0", Part::Optional)];
            assert_eq!(ids, expected);
            assert_eq!(groups[0].title, r#"draft7/const.json #0 "numbers""#);
            assert!(groups[0].registry.is_file());
        }
        assert!(Suite::in_folder(tempfile::tempdir().unwrap().path()).is_none());
    }

    #[test]
    fn schema_and_values_keep_their_spelling() {
        let (folder, suite) = suite("");
        let schemas = folder.path().join("schemas");
        let groups = suite.groups(Source::Draft2020, &Options::default(), &schemas).unwrap();
        assert_eq!(groups[0].message(&groups[0].values[0]), r#"{"value":1.00}"#);
        let written = fs::read_to_string(schemas.join("draft2020_12_const_0/group.json")).unwrap();
        assert_eq!(written, r#"{"const": 1.0}"#);
    }

    #[test]
    fn formats_are_checked_where_the_suite_asks_for_it() {
        let (folder, suite) = suite("");
        let groups = suite.groups(Source::Draft7, &Options::default(), folder.path()).unwrap();
        assert_eq!(groups.iter().map(|group| group.rules.formats).collect::<Vec<_>>(), [Some(false), Some(true)]);
    }
}
