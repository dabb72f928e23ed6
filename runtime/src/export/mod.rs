//! Code first: payload types export their schemas and their registry (contract section 7, feature `schemars`).

mod difference;
mod file_name;
mod key;
mod layout;
mod plan;
mod registry;
mod sample;

use std::{
    collections::HashSet,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use babelqueue_codegen::{topic, urn};
use schemars::JsonSchema;
use serde_json::Value;

pub use self::difference::Difference;
use self::plan::Plan;
use crate::{job::Job, schema::json_schema};

/// Set to `1`, it has [`Export::check`] write what it would otherwise compare.
const UPDATE: &str = "BABELQUEUE_UPDATE_SCHEMAS";
/// What tells an exported schema from one that was written by hand.
const MARK: &str = "Exported from a Rust type: change the type, not this file.";

/// The schemas and the registry of code-first jobs, for the services that generate their types from schemas, in whatever
/// language. The types are the source: a test keeps the files like them.
///
/// ```
/// use babelqueue::{Export, babel_job};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// A customer has placed an order.
/// #[babel_job("urn:babel:orders:created", key = order_id)]
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct OrderCreated {
///     order_id: u64,
///     #[schemars(extend("x-gdpr-sensitive" = "email"))]
///     email: Option<String>,
/// }
///
/// #[babel_job("urn:babel:orders:cancelled", key = order_id)]
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct OrderCancelled {
///     order_id: u64,
/// }
///
/// fn export() -> Export {
///     Export::of::<OrderCreated>().owner("team-orders").and::<OrderCancelled>().owner("team-orders")
/// }
///
/// // A `#[test]`, which fails when a type and its schema are no longer alike. `BABELQUEUE_UPDATE_SCHEMAS=1 cargo test`
/// // writes the files.
/// fn schemas_are_up_to_date() {
///     export().check("schemas/registry.json").unwrap();
/// }
/// # let folder = tempfile::tempdir().unwrap();
/// # let registry = folder.path().join("registry.json");
/// # assert!(export().check(&registry).unwrap_err().to_string().contains("orders.created.schema.json: is missing"));
///
/// // Or a program.
/// for file in export().write(&registry)? {
///     println!("written: {}", file.display());
/// }
/// # export().check(&registry)?;
/// # Ok::<(), babelqueue::ExportError>(())
/// ```
///
/// # The files
///
/// Beside the registry lies one file a URN, `orders.created.schema.json` for `urn:babel:orders:created`; the name of a URN
/// of another form, or with capital letters, ends in a number that is its own. A schema is that of
/// [`json_schema`]: draft-07, which is what a registry's schemas are in every SDK unless they say otherwise.
///
/// An entry of the registry has the URN and the schema; the topic, if it is not the URN's context; the record key as a JSON
/// Pointer; owner and status, if they are given here. What else is in the registry stays as it is, byte for byte: entries of
/// other URNs, members that are not named here, an owner or a status that is not given here. So an entry whose job is no
/// longer exported stays, too, until it is removed by hand; then its file is reported, and removed by the next update.
///
/// Files are compared as JSON: how they are indented does not matter.
///
/// # The record key
///
/// A registry names the place of the key in the JSON, after all that serde's attributes do to it. It is found by trying: two
/// payloads are made from the schema, and the place that holds what [`Job::key`] says of both is the key's. Where no such
/// payload can be made (a type takes less than its schema says), or no single member is the key, the export fails and asks
/// for [`Export::key`]. An example in the schema (`#[schemars(example = …)]`) is used where there is one.
#[derive(Debug)]
#[must_use = "nothing is compared or written before `check` or `write` is called"]
pub struct Export {
    earlier: Vec<Exported>,
    last: Exported,
}

/// A job, and what the registry says of it.
#[derive(Debug)]
struct Exported {
    urn: &'static str,
    topic: &'static str,
    schema: Value,
    /// The JSON Pointer of the record key, `None` for the null key; or why it is not known.
    key: Result<Option<String>, String>,
    owner: Option<String>,
    deprecated: bool,
}

impl Exported {
    fn of<J: Job + JsonSchema>() -> Self {
        let mut schema = json_schema::<J>();
        let key = if J::HAS_KEY { key::pointer::<J>(&schema) } else { Ok(None) };
        if let Value::Object(members) = &mut schema {
            members.entry("$comment").or_insert_with(|| MARK.into());
        }
        Self { urn: J::URN, topic: J::TOPIC, schema, key, owner: None, deprecated: false }
    }

    /// What keeps the job from being exported.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        problems.extend(urn::check(self.urn).err().map(|error| error.to_string()));
        problems.extend(topic::check(self.topic).err().map(|error| error.to_string()));
        if self.schema.get("type").is_some_and(|kind| kind != "object") {
            problems.push("the payload is no JSON object, so it can never be published".to_owned());
        }
        match &self.key {
            Err(reason) => problems.push(reason.clone()),
            Ok(Some(pointer)) if !pointer.starts_with('/') => {
                problems.push(format!("the key `{pointer}` is no JSON Pointer to a member, such as `/order_id`"));
            }
            Ok(_) => {}
        }
        problems.into_iter().map(|problem| format!("`{}`: {problem}", self.urn.escape_debug())).collect()
    }
}

impl Export {
    /// The export of this job; [`and`](Self::and) adds further ones. What follows up to the next one is of this one.
    pub fn of<J: Job + JsonSchema>() -> Self {
        Self { earlier: Vec::new(), last: Exported::of::<J>() }
    }

    /// Another job.
    pub fn and<J: Job + JsonSchema>(mut self) -> Self {
        self.earlier.push(std::mem::replace(&mut self.last, Exported::of::<J>()));
        self
    }

    /// The team that the job belongs to. Without it the registry keeps the owner that it has.
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.last.owner = Some(owner.into());
        self
    }

    /// Marks the job as deprecated. Without it the registry keeps the status that it has; a new entry is `active`.
    pub fn deprecated(mut self) -> Self {
        self.last.deprecated = true;
        self
    }

    /// The JSON Pointer of the job's record key, such as `/customer/id`, where it cannot be found by trying.
    pub fn key(mut self, pointer: impl Into<String>) -> Self {
        self.last.key = Ok(Some(pointer.into()));
        self
    }

    /// Exports no record key: producers that go by the registry write the null key. For a key that is no member of the
    /// payload, or a [`Job`] implemented by hand whose key cannot be found by trying.
    pub fn without_key(mut self) -> Self {
        self.last.key = Ok(None);
        self
    }

    /// Compares the files with the types, and writes nothing; but with `BABELQUEUE_UPDATE_SCHEMAS=1` in the environment it
    /// is [`write`](Self::write). A relative path is relative to the folder of the package when Cargo runs the test.
    ///
    /// # Errors
    ///
    /// A file is missing, differs, or is no longer exported; a job cannot be exported; a file cannot be read. All
    /// differences are listed, each with the first place that differs.
    pub fn check(&self, registry: impl AsRef<Path>) -> Result<(), ExportError> {
        let registry = registry.as_ref();
        if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
            return self.write(registry).map(drop);
        }
        let plan = self.plan(registry)?;
        if plan.is_empty() {
            return Ok(());
        }
        Err(ExportError::Outdated(plan.into_differences()))
    }

    /// Writes the files that are missing or differ, removes exported ones that no entry of the registry names any more, and
    /// tells which these are. The registry is written last.
    ///
    /// # Errors
    ///
    /// A job cannot be exported, and nothing is written; or a file cannot be read, written or removed.
    pub fn write(&self, registry: impl AsRef<Path>) -> Result<Vec<PathBuf>, ExportError> {
        self.plan(registry.as_ref())?.carry_out()
    }

    fn plan(&self, registry: &Path) -> Result<Plan, ExportError> {
        let jobs = || self.earlier.iter().chain([&self.last]);
        let mut problems: Vec<_> = jobs().flat_map(Exported::problems).collect();
        let mut urns = HashSet::new();
        problems
            .extend(jobs().filter(|job| !urns.insert(job.urn)).map(|job| format!("`{}`: is exported twice", job.urn)));
        if problems.is_empty() { Plan::of(jobs(), registry) } else { Err(ExportError::Refused(problems)) }
    }
}

/// Why the files are not like the types, or cannot be made so.
///
/// `Debug` prints what `Display` does, so that a test that unwraps it reads well.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportError {
    /// The files are not like the types.
    Outdated(Vec<Difference>),
    /// Jobs that cannot be exported, and why; one line each.
    Refused(Vec<String>),
    /// A file cannot be read, written or removed, or is no registry.
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl ExportError {
    fn file(path: &Path, reason: impl fmt::Display) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outdated(differences) => {
                write!(f, "the schemas are not those of the types; {UPDATE}=1 writes them anew:")?;
                differences.iter().try_for_each(|difference| write!(f, "\n{difference}"))
            }
            Self::Refused(problems) => {
                f.write_str("not everything can be exported:")?;
                problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
            }
            Self::File { path, reason } => write!(f, "{}: {reason}", path.display()),
        }
    }
}

impl fmt::Debug for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ExportError {}

/// The text of a file, without the byte order mark that some editors write; `None` where there is no file.
fn read(path: &Path) -> Result<Option<String>, ExportError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ExportError::file(path, error)),
    }
}
