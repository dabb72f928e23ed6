//! The evolution gate: whether a change of the schemas breaks those who read or write messages.
//!
//! It compares the schemas of now with an earlier state, a folder or a git revision, and fails with every break. It
//! runs in a test:
//!
//! ```no_run
//! #[test]
//! fn consumers_can_read_what_was_sent_before() {
//!     babelqueue_codegen::evolution("schemas/registry.json").against_git("origin/main").backward().check().unwrap();
//! }
//! # fn main() {}
//! ```
//!
//! or in `build.rs`, where a break fails the build:
//!
//! ```no_run
//! fn main() -> Result<(), babelqueue_codegen::Error> {
//!     babelqueue_codegen::evolution("schemas/registry.json").against_folder("released/registry.json").full().check()?;
//!     babelqueue_codegen::configure().registry("schemas/registry.json").generate()
//! }
//! ```
//!
//! A package that others build should have it in a test: whoever builds it from a registry has no git repository, and
//! a revision that cannot be read is an error, never a silent pass.
//!
//! # What is asked
//!
//! | check | question |
//! |---|---|
//! | [`backward`](Gate::backward) | do consumers with the schemas of now take all data of the earlier state? |
//! | [`forward`](Gate::forward) | do consumers with the earlier schemas take all data of now? |
//! | [`full`](Gate::full) | both |
//!
//! Data is what publishers write. Members that their schema leaves open, but does not name, are taken as not written:
//! so a new optional member is no break, as contract section 7 says, although an earlier object may hold anything under
//! its name. Whatever else is valid by the one schema must be valid by the other.
//!
//! # What is compared
//!
//! | keyword | compatible when data comes from the first schema and is read by the second |
//! |---|---|
//! | `type` | the same or more types |
//! | `enum`, `const` | the same or more values; none at all. Each value is tried |
//! | `minimum`, `maximum`, `exclusive…`, `min…`, `max…`, `uniqueItems` | the same or wider, by value and whatever the spelling |
//! | `multipleOf` | a divisor of the first one; 1 where all numbers are whole |
//! | `pattern` | the same text, or none: which of two patterns is wider is not known |
//! | `required`, `dependentRequired` | the same or fewer members |
//! | `properties`, `patternProperties`, `additionalProperties`, `unevaluatedProperties` | each member has a schema as wide; an open object stays open |
//! | `items`, `prefixItems`, `additionalItems`, `unevaluatedItems` | each element has a schema as wide |
//! | `contains`, `minContains`, `maxContains` | an element of the first is one of the second, and no more or fewer are asked for |
//! | `propertyNames` | the names of the first are names of the second |
//! | `allOf`, `$ref` | their schemas together; names of definitions mean nothing |
//! | `anyOf`, `oneOf` | each branch of the first has a branch of the second that takes it. For `oneOf` it must be plain that no other branch does |
//! | `if`, `then`, `else`, `dependentSchemas` | as the cases that they are |
//! | `not` | it refuses what the first one refuses |
//! | `format`, `content…`, `default`, `title`, `description`, `$comment`, `examples`, `deprecated`, `readOnly`, `writeOnly`, `x-…` | always: annotations. A type of your own for a `format` ([`Config::format`](crate::Config::format)) is your own business |
//!
//! Each schema is read by its own edition: another `$schema` is a change where keywords then mean something else. What
//! cannot be compared, such as a `$dynamicRef` whose target depends on the way that led to it, is told as a *possible*
//! break when anything about the message has changed. A definition that nothing refers to is not looked at.
//!
//! Contract section 7 counts two more things as breaks of `backward`, although all data stays valid: a member that is
//! removed or renamed from an open object, and an `integer` that becomes a `number`.
//!
//! # The registry
//!
//! | change | verdict |
//! |---|---|
//! | a new URN | compatible: consumers that do not know it have a rule for unknown URNs |
//! | a URN is removed | a break of `backward`: what was sent with it is not known any more. Consumers of the earlier state do not mind |
//! | another topic, also by default | a break of every check: consumers of one state do not see what publishers of the other one send |
//! | another key | a break of every check: records that belong together are spread over two partitions |
//! | `status`, `owner`, another file with a compatible schema | compatible |
//!
//! A message that breaks gets a line at its entry that names the next URN to mint.
//!
//! # Where others judge otherwise
//!
//! - JSON Schema by itself, as sets of valid values, would call a removed member of an open object and `integer` to
//!   `number` compatible, and a new optional member of an open object a break.
//! - Confluent's schema registry judges an object by its content model: adding a property to an open object is a break
//!   there, removing one is not; adding an optional one to a closed object is compatible, removing one a break. Here
//!   adding is compatible and removing a break in both. Its `FORWARD` is the same with the two schemas exchanged; here
//!   the two additional rules of the contract are for `backward` only.
//!
//! # Cargo
//!
//! In a build script the check prints `cargo:rerun-if-changed` for each file it has read and, for a git revision, for
//! the files in which git keeps the branch or tag (and `HEAD` if that was asked for), as far as they exist. So the check
//! runs again after a `git fetch`, not after every commit.

mod arrays;
mod case;
mod cases;
mod compare;
mod holds;
mod impossible;
mod messages;
mod objects;
mod same;
mod scalars;
mod shape;
mod unions;
mod words;

use std::path::{Path, PathBuf};

use crate::error::{Error, Problem};
use crate::load::git::Tree;
use crate::load::{Entry, Failure, Sources, read_registry};
use crate::pointer::Pointer;
use crate::resolve::{Dialect, Location, Resolver};
use crate::schema::Arena;
use shape::Schemas;
use words::Direction;

/// Starts a comparison of the schemas of the registry file `registry` with an earlier state; see the [module's
/// documentation](mod@crate::evolution). The path is relative to the folder of the package (`CARGO_MANIFEST_DIR`).
pub fn evolution(registry: impl Into<PathBuf>) -> Evolution {
    Evolution { registry: registry.into(), default_dialect: Dialect::Draft7, uris: Vec::new(), rerun_if_changed: true }
}

/// The schemas of now.
#[derive(Clone, Debug)]
#[must_use = "nothing is compared before `check` is called"]
pub struct Evolution {
    registry: PathBuf,
    default_dialect: Dialect,
    uris: Vec<(String, String)>,
    rerun_if_changed: bool,
}

/// The schemas of now and an earlier state of them.
#[derive(Clone, Debug)]
#[must_use = "nothing is compared before `check` is called"]
pub struct Gate {
    now: Evolution,
    earlier: Earlier,
    directions: &'static [Direction],
}

#[derive(Clone, Debug)]
enum Earlier {
    /// A registry file of its own.
    Folder(PathBuf),
    /// The same registry file, at a git revision.
    Git(String),
}

impl Evolution {
    /// The edition of schemas without `$schema`, in both states; as for
    /// [`Config::default_dialect`](crate::Config::default_dialect).
    pub fn default_dialect(mut self, dialect: Dialect) -> Self {
        self.default_dialect = dialect;
        self
    }

    /// Says that the URIs that begin with `prefix` are files of `folder`, in both states; as for
    /// [`Config::map_uri`](crate::Config::map_uri).
    pub fn map_uri(mut self, prefix: impl Into<String>, folder: impl Into<String>) -> Self {
        self.uris.push((prefix.into(), folder.into()));
        self
    }

    /// Whether Cargo is told which files the check has read; as for
    /// [`Config::rerun_if_changed`](crate::Config::rerun_if_changed).
    pub fn rerun_if_changed(mut self, on: bool) -> Self {
        self.rerun_if_changed = on;
        self
    }

    /// Compares with the schemas of another registry file, such as a copy of those that were released last. The path is
    /// relative to the folder of the package.
    pub fn against_folder(self, registry: impl Into<PathBuf>) -> Gate {
        self.against(Earlier::Folder(registry.into()))
    }

    /// Compares with the schemas of the same folder at a git revision: a branch, a tag, a commit, whatever
    /// `git rev-parse` knows. The command `git` must be there, and the revision in the local repository: nothing is
    /// fetched. A CI job that clones only the newest commit must fetch it first.
    pub fn against_git(self, revision: impl Into<String>) -> Gate {
        self.against(Earlier::Git(revision.into()))
    }

    fn against(self, earlier: Earlier) -> Gate {
        Gate { now: self, earlier, directions: &[Direction::Backward] }
    }
}

impl Gate {
    /// Asks whether consumers with the schemas of now can read earlier data: everything that was valid stays valid. This
    /// is the rule of the contract (section 7), and what is asked unless another check is chosen.
    pub fn backward(mut self) -> Self {
        self.directions = &[Direction::Backward];
        self
    }

    /// Asks whether consumers with the earlier schemas can read the data of now: everything that is valid now was valid
    /// before.
    pub fn forward(mut self) -> Self {
        self.directions = &[Direction::Forward];
        self
    }

    /// Asks for both.
    pub fn full(mut self) -> Self {
        self.directions = &[Direction::Backward, Direction::Forward];
        self
    }

    /// Compares the two states.
    ///
    /// # Errors
    ///
    /// Every break, with the file, line and JSON Pointer in the schemas of now, and the reason. Or everything that is
    /// wrong with the registries and schemas of both states, which are not compared then; or why the git revision cannot
    /// be read.
    pub fn check(self) -> Result<(), Error> {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        let (result, watched) = self.run(&package);
        watched.iter().for_each(|path| println!("cargo:rerun-if-changed={path}"));
        result
    }

    /// The result, and the paths that Cargo must watch.
    fn run(&self, package: &Path) -> (Result<(), Error>, Vec<String>) {
        let (folder, file) = split(&self.now.registry);
        let mut watched = Vec::new();
        let mut problems = Vec::new();
        let sources = Sources::new(package.join(&folder), folder.clone());
        let now = self.state(sources, &file, &mut watched, &mut problems);
        let earlier = match &self.earlier {
            Earlier::Folder(registry) => {
                let (folder, file) = split(registry);
                let sources = Sources::new(package.join(&folder), folder);
                self.state(sources, &file, &mut watched, &mut problems)
            }
            Earlier::Git(revision) => match Tree::open(&package.join(&folder), revision) {
                Ok(tree) => {
                    watched.extend(tree.watched().iter().map(|path| path.display().to_string()));
                    let shown = format!("{revision}:{}", folder.display());
                    self.state(Sources::of_revision(tree, shown.into()), &file, &mut Vec::new(), &mut problems)
                }
                Err(reason) => {
                    problems.push(Problem::file(self.now.registry.display().to_string(), reason));
                    None
                }
            },
        };
        if !self.now.rerun_if_changed {
            watched.clear();
        }
        watched.sort();
        watched.dedup();
        if let (Some(earlier), Some(now), true) = (earlier, now, problems.is_empty()) {
            let schemas = Schemas::new(earlier.arena, now.arena);
            problems = messages::breaks(schemas, &earlier.entries, &now.entries, &now.list, self.directions);
        }
        let result = if problems.is_empty() { Ok(()) } else { Err(Error::new(problems)) };
        (result, watched)
    }

    /// Reads one state; what is wrong with it goes to `problems`.
    fn state(
        &self,
        sources: Sources,
        file: &str,
        watched: &mut Vec<String>,
        problems: &mut Vec<Problem>,
    ) -> Option<State> {
        let mut arena = Arena::new(Resolver::new(sources, self.now.default_dialect, self.now.uris.clone()));
        let entries = read_registry(&mut arena.resolver.sources, file, &mut arena.problems);
        let list = arena.resolver.sources.open("", file);
        let state = match (entries, list) {
            (Ok(entries), Ok(registry)) => {
                arena.read_payloads(&entries);
                let list = Location { document: registry, pointer: Pointer::default().join("schemas") };
                Some((entries, list))
            }
            (Err(Failure::Unreadable(reason)), _) => {
                problems.push(Problem::file(arena.resolver.sources.show(file), reason));
                None
            }
            _ => None,
        };
        watched.extend(arena.resolver.sources.files_read());
        problems.append(&mut arena.problems);
        problems.extend(arena.resolver.sources.take_problems());
        state.map(|(entries, list)| State { arena, entries, list })
    }
}

/// A registry and all its schemas.
struct State {
    arena: Arena,
    entries: Vec<Entry>,
    /// Where the list of messages stands.
    list: Location,
}

/// The folder of a registry file and its name; a path that names no file fails when it is read.
fn split(registry: &Path) -> (PathBuf, String) {
    let folder = registry.parent().unwrap_or(Path::new("")).to_path_buf();
    let file = registry.file_name().map(|name| name.to_string_lossy().into_owned());
    (folder, file.unwrap_or_else(|| registry.display().to_string()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const REGISTRY: &str = r#"{"schemas":[{"urn":"urn:babel:t:x","schema":"x.json"}]}"#;

    /// A package with the folders `schemas` and `released`, each with a schema that refers to another file.
    fn package() -> tempfile::TempDir {
        let package = tempfile::tempdir().expect("a folder");
        for folder in ["schemas", "released"] {
            let folder = package.path().join(folder);
            std::fs::create_dir_all(&folder).expect("a folder");
            let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
            write("registry.json", REGISTRY);
            write("x.json", r#"{"type":"object","properties":{"y":{"$ref":"y.json"}}}"#);
            write("y.json", r#"{"type":"string"}"#);
        }
        package
    }

    fn git(folder: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["-c", "user.name=n", "-c", "user.email=e@e.test"]).args(arguments);
        assert!(command.status().expect("git").success(), "git {arguments:?}");
    }

    #[test]
    fn cargo_watches_each_file_of_both_folders() {
        let package = package();
        let files = |folder: &str| ["registry", "x", "y"].map(|file| format!("{folder}/{file}.json"));
        let gate = evolution("schemas/registry.json").against_folder("released/registry.json");
        let (result, watched) = gate.run(package.path());
        assert_eq!(result, Ok(()));
        assert_eq!(watched, [files("released"), files("schemas")].concat());
        let gate = evolution("schemas/registry.json").rerun_if_changed(false).against_folder("released/registry.json");
        assert_eq!(gate.run(package.path()).1, Vec::<String>::new());
    }

    #[test]
    fn cargo_watches_what_moves_with_the_revision() {
        let package = package();
        let path = package.path();
        git(path, &["init", "--quiet", "--initial-branch=trunk"]);
        git(path, &["add", "--all"]);
        git(path, &["commit", "--quiet", "--message=first"]);
        let watched = |revision: &str| {
            let (result, watched) = evolution("schemas/registry.json").against_git(revision).run(path);
            assert_eq!(result, Ok(()), "{revision}");
            let git: Vec<String> = watched
                .into_iter()
                .filter(|path| !path.starts_with("schemas/") || path.contains(".git"))
                .map(|path| path.rsplit_once(".git/").map_or(path.clone(), |(_, path)| path.to_owned()))
                .collect();
            git
        };
        assert_eq!(watched("trunk"), ["refs/heads/trunk"]);
        assert_eq!(watched("HEAD"), ["HEAD", "refs/heads/trunk"]);
        assert_eq!(watched("HEAD^{commit}"), ["HEAD", "refs/heads/trunk"]);
        git(path, &["pack-refs", "--all"]);
        assert_eq!(watched("trunk"), ["packed-refs", "refs/heads"]);
        let hash = Command::new("git").arg("-C").arg(path).args(["rev-parse", "HEAD"]).output().expect("git").stdout;
        assert_eq!(watched(String::from_utf8_lossy(&hash).trim()), ["packed-refs"]);
    }

    #[test]
    fn messages_name_files_as_the_build_script_does() {
        let package = package();
        let path = package.path();
        git(path, &["init", "--quiet", "--initial-branch=trunk"]);
        std::fs::write(path.join("schemas/y.json"), "broken").expect("a file");
        git(path, &["add", "--all"]);
        git(path, &["commit", "--quiet", "--message=first"]);
        std::fs::write(path.join("schemas/y.json"), r#"{"type":"integer"}"#).expect("a file");
        let told = |gate: Gate| gate.run(path).0.expect_err("a break").to_string();
        let breaks = told(evolution("schemas/registry.json").against_folder("released/registry.json"));
        assert!(breaks.contains("schemas/y.json:1:2: /type: BACKWARD: "), "{breaks}");
        let broken = told(evolution("schemas/registry.json").against_git("trunk"));
        assert_eq!(broken, "trunk:schemas/y.json:1:1: not JSON: expected value");
    }

    #[test]
    fn settings_hold_for_both_states() {
        let package = package();
        for folder in ["schemas", "released"] {
            let schema = r#"{"type":"object","properties":{"y":{"$ref":"https://e.test/y.json","minLength":3}}}"#;
            std::fs::create_dir(package.path().join(folder).join("parts")).expect("a folder");
            std::fs::write(package.path().join(folder).join("parts/y.json"), r#"{"type":"string"}"#).expect("a file");
            std::fs::write(package.path().join(folder).join("x.json"), schema).expect("a file");
        }
        let run = |evolution: Evolution| evolution.against_folder("released/registry.json").run(package.path()).0;
        assert!(run(evolution("schemas/registry.json")).is_err());
        let mapped = evolution("schemas/registry.json").map_uri("https://e.test/", "parts");
        assert_eq!(run(mapped.clone()), Ok(()));
        // What stands beside `$ref` counts in newer editions only.
        let schema = r#"{"type":"object","properties":{"y":{"$ref":"https://e.test/y.json","minLength":4}}}"#;
        std::fs::write(package.path().join("schemas/x.json"), schema).expect("a file");
        assert_eq!(run(mapped.clone()), Ok(()));
        assert!(run(mapped.default_dialect(Dialect::Draft2020)).is_err());
    }
}
