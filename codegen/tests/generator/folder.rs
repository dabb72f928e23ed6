//! A schema folder of its own for each test.

use std::fs;
use std::path::{Path, PathBuf};

use babelqueue_codegen::{Config, configure};
use tempfile::TempDir;

/// A folder with schemas and a folder for the output, both gone when it is dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with `files`, each a path below `schemas/` and its content.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir_all(folder.path("out")).expect("a folder");
        files.iter().for_each(|(path, content)| folder.write(path, content));
        folder
    }

    /// A folder with the one schema `content`, the payload of `urn:babel:t:x`.
    pub(crate) fn of_schema(content: &str) -> Self {
        Self::new(&[("registry.json", REGISTRY), ("x.json", content)])
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path("schemas").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.path("out/babelqueue_contracts.rs")
    }

    pub(crate) fn config(&self) -> Config {
        configure().registry(self.path("schemas/registry.json")).out_dir(self.path("out")).rerun_if_changed(false)
    }

    /// The generated code.
    pub(crate) fn code(&self) -> Result<String, String> {
        self.config().generate().map_err(|error| relative(&self.path("schemas"), &error.to_string()))?;
        Ok(fs::read_to_string(self.output()).expect("the generated file"))
    }

    /// The problems of the run, one line each, with paths below `schemas/`.
    pub(crate) fn problems(&self) -> Vec<String> {
        let error = self.code().expect_err("the schemas are refused");
        assert!(!self.output().exists(), "nothing is written when a schema is refused");
        error.lines().map(str::to_owned).collect()
    }
}

fn relative(folder: &Path, text: &str) -> String {
    text.replace(&format!("{}/", folder.display()), "")
}

pub(crate) const REGISTRY: &str = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"}]}"#;
