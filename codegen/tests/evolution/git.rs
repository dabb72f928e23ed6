//! A git revision as the earlier state.

use std::path::Path;
use std::process::Command;

use babelqueue_codegen::evolution;
use tempfile::TempDir;

use crate::states::{REGISTRY, write};

const X: &str = r#"{"type":"object","properties":{"a":{"$ref":"common/a.json"}}}"#;

/// A repository with a package in a folder of its own, whose schemas are committed and tagged `released`.
fn repository() -> TempDir {
    let repository = tempfile::tempdir().expect("a folder");
    let package = repository.path().join("package");
    write(&package, "schemas/registry.json", REGISTRY);
    write(&package, "schemas/x.json", X);
    write(&package, "schemas/common/a.json", r#"{"type":"string"}"#);
    git(repository.path(), &["init", "--quiet", "--initial-branch=trunk"]);
    commit(repository.path(), "first");
    git(repository.path(), &["tag", "released"]);
    repository
}

fn commit(repository: &Path, message: &str) {
    git(repository, &["add", "--all"]);
    git(repository, &["commit", "--quiet", "--message", message]);
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=n", "-c", "user.email=e@e.test", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status()
        .expect("git");
    assert!(status.success(), "git {arguments:?}");
}

/// The problems against `revision`, one line each, with paths below the package.
fn against(repository: &Path, revision: &str) -> Vec<String> {
    let package = repository.join("package");
    let registry = package.join("schemas/registry.json");
    let result = evolution(registry).against_git(revision).backward().check();
    let text = result.err().map(|error| error.to_string()).unwrap_or_default();
    text.replace(&format!("{}/", package.display()), "").lines().map(str::to_owned).collect()
}

#[test]
fn a_break_against_a_revision_is_told_in_the_files_of_now() {
    let repository = repository();
    let path = repository.path();
    assert_eq!(against(path, "released"), Vec::<String>::new());
    write(path, "package/schemas/common/a.json", r#"{"type":"string","maxLength":3}"#);
    for revision in ["released", "trunk", "HEAD", "refs/tags/released", "HEAD^{commit}"] {
        let found = against(path, revision);
        assert_eq!(found.len(), 2, "{revision}: {found:#?}");
        assert!(found[0].starts_with("schemas/common/a.json:1:18: /maxLength: BACKWARD: "), "{revision}: {found:#?}");
    }
    commit(path, "second");
    assert_eq!(against(path, "HEAD"), Vec::<String>::new());
    assert_eq!(against(path, "HEAD~1").len(), 2);
}

#[test]
fn files_that_only_the_revision_has_are_read_from_it() {
    let repository = repository();
    let path = repository.path();
    std::fs::remove_file(path.join("package/schemas/common/a.json")).expect("a file");
    write(path, "package/schemas/x.json", r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#);
    let found = against(path, "released");
    assert!(found.iter().any(|line| line.contains("earlier data may be a string")), "{found:#?}");
}

#[cfg(unix)]
#[test]
fn links_inside_the_revision_are_followed() {
    let repository = repository();
    let path = repository.path();
    std::os::unix::fs::symlink("common/a.json", path.join("package/schemas/link.json")).expect("a link");
    write(path, "package/schemas/x.json", r#"{"type":"object","properties":{"a":{"$ref":"link.json"}}}"#);
    commit(path, "link");
    assert_eq!(against(path, "HEAD"), Vec::<String>::new());
    write(path, "package/schemas/common/a.json", r#"{"type":"integer"}"#);
    assert_eq!(against(path, "HEAD").len(), 2);
}

#[test]
fn an_unknown_revision_is_an_error() {
    let repository = repository();
    for revision in ["nowhere", "released:package", "0123456789012345678901234567890123456789"] {
        let found = against(repository.path(), revision);
        let expected =
            format!("schemas/registry.json: no git revision `{revision}`: git does not know it: fetch it first");
        assert_eq!(found, [expected]);
    }
    for revision in ["", "-h", "--output=x"] {
        let found = against(repository.path(), revision);
        assert_eq!(found, [format!("schemas/registry.json: `{revision}` is no git revision")]);
    }
}

#[test]
fn a_shallow_clone_without_the_revision_says_so() {
    let repository = repository();
    write(repository.path(), "package/schemas/common/a.json", r#"{"type":["string","null"]}"#);
    commit(repository.path(), "second");
    let clone = tempfile::tempdir().expect("a folder");
    let from = format!("file://{}", repository.path().display());
    git(clone.path(), &["clone", "--quiet", "--depth=1", "--no-tags", &from, "."]);
    assert_eq!(against(clone.path(), "HEAD"), Vec::<String>::new());
    let found = against(clone.path(), "HEAD~1");
    assert_eq!(
        found,
        [
            "schemas/registry.json: no git revision `HEAD~1`: this clone is shallow and does not have it: fetch it first \
          (`git fetch --unshallow`)"
        ]
    );
}

#[test]
fn a_folder_outside_of_any_repository_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "package/schemas/registry.json", REGISTRY);
    write(folder.path(), "package/schemas/x.json", r#"{"type":"object"}"#);
    let found = against(folder.path(), "HEAD");
    assert!(
        found.len() == 1 && found[0].starts_with("schemas/registry.json: git: fatal: not a git repository"),
        "{found:?}"
    );
}

#[test]
fn a_revision_without_the_registry_is_an_error() {
    let repository = tempfile::tempdir().expect("a folder");
    write(repository.path(), "readme", "");
    git(repository.path(), &["init", "--quiet", "--initial-branch=trunk"]);
    commit(repository.path(), "first");
    write(repository.path(), "package/schemas/registry.json", r#"{"schemas":[]}"#);
    let found = against(repository.path(), "HEAD");
    assert!(
        found.len() == 1
            && found[0].contains("registry.json: cannot read `registry.json`: git has no such file at `HEAD`"),
        "{found:?}"
    );
}
