//! What has to be done so that the files are as the types have them.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use babelqueue_codegen::urn;
use serde_json::Value;

use super::{
    ExportError, Exported, MARK, difference,
    difference::Difference,
    file_name, layout, read,
    registry::{self, Wanted},
};

#[derive(Debug)]
enum Change {
    Write(String),
    Remove,
}

/// Changes of files, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct Plan {
    changes: Vec<(PathBuf, Change)>,
    differences: Vec<Difference>,
}

impl Plan {
    pub(super) fn of<'a>(
        jobs: impl Iterator<Item = &'a Exported> + Clone,
        registry: &Path,
    ) -> Result<Self, ExportError> {
        let mut plan = Self::default();
        let names: Vec<_> = jobs.clone().map(|job| file_name::of(job.urn)).collect();
        let wanted: Vec<_> = jobs.clone().zip(&names).map(|(job, schema)| wanted(job, schema)).collect();
        let text = read(registry)?;
        let updated =
            registry::update(text.as_deref(), &wanted).map_err(|reason| ExportError::file(registry, reason))?;
        refuse_shared(&wanted, &updated.others)?;

        let folder = registry.parent().unwrap_or(Path::new(""));
        for (job, name) in jobs.zip(&names) {
            plan.schema(folder.join(name), &job.schema)?;
        }
        let others = updated.others.iter().map(|(schema, _)| schema.strip_prefix("./").unwrap_or(schema));
        plan.no_longer_exported(folder, &names.iter().map(String::as_str).chain(others).collect())?;
        let problems = match text {
            None => vec!["is missing".to_owned()],
            Some(_) => updated.differences,
        };
        if !problems.is_empty() {
            plan.differences.extend(problems.into_iter().map(|problem| Difference::new(registry, problem)));
            plan.changes.push((registry.to_owned(), Change::Write(updated.text)));
        }
        Ok(plan)
    }

    fn schema(&mut self, file: PathBuf, schema: &Value) -> Result<(), ExportError> {
        let problem = match read(&file)? {
            None => Some("is missing".to_owned()),
            Some(text) => match serde_json::from_str(&text) {
                Ok(found) => difference::first(&found, schema),
                Err(error) => Some(format!("is no JSON: {error}")),
            },
        };
        if let Some(problem) = problem {
            self.differences.push(Difference::new(&file, problem));
            self.changes.push((file, Change::Write(layout::text(schema))));
        }
        Ok(())
    }

    /// Exported schemas that no entry names.
    fn no_longer_exported(&mut self, folder: &Path, named: &HashSet<&str>) -> Result<(), ExportError> {
        let unreadable = |error| ExportError::file(folder, error);
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = match fs::read_dir(here) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut left = Vec::new();
        for entry in entries {
            // A name that is not UTF-8 is none that was exported.
            let Ok(name) = entry.map_err(unreadable)?.file_name().into_string() else { continue };
            if !named.contains(name.as_str()) && name.ends_with(file_name::SUFFIX) && is_exported(&folder.join(&name)) {
                left.push(name);
            }
        }
        left.sort_unstable();
        for name in left {
            let file = folder.join(name);
            self.differences.push(Difference::new(&file, "is no longer exported"));
            self.changes.push((file, Change::Remove));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn into_differences(self) -> Vec<Difference> {
        self.differences
    }

    /// Makes the changes, and tells of which files.
    pub(super) fn carry_out(self) -> Result<Vec<PathBuf>, ExportError> {
        for (file, change) in &self.changes {
            let done = match change {
                Change::Write(text) => write(file, text),
                Change::Remove => fs::remove_file(file),
            };
            done.map_err(|error| ExportError::file(file, error))?;
        }
        Ok(self.changes.into_iter().map(|(file, _)| file).collect())
    }
}

fn wanted<'a>(job: &'a Exported, schema: &'a str) -> Wanted<'a> {
    let context = urn::convention(job.urn).map(|(context, _)| context);
    Wanted {
        urn: job.urn,
        schema,
        topic: Some(job.topic).filter(|topic| context != Some(topic)),
        key: job.key.as_ref().ok().and_then(Option::as_deref),
        owner: job.owner.as_deref(),
        deprecated: job.deprecated,
    }
}

/// A file that is the schema of another URN's entry cannot be written.
fn refuse_shared(wanted: &[Wanted<'_>], others: &[(String, String)]) -> Result<(), ExportError> {
    let shared = wanted.iter().flat_map(|wanted| {
        let others = others.iter().filter(|(schema, _)| schema.strip_prefix("./").unwrap_or(schema) == wanted.schema);
        others.map(|(schema, urn)| {
            format!("`{}`: its file `{schema}` is the schema of `{}`", wanted.urn.escape_debug(), urn.escape_debug())
        })
    });
    let problems: Vec<_> = shared.collect();
    if problems.is_empty() { Ok(()) } else { Err(ExportError::Refused(problems)) }
}

fn is_exported(file: &Path) -> bool {
    let schema = fs::read_to_string(file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    schema.is_some_and(|schema| schema.get("$comment").is_some_and(|comment| comment == MARK))
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}
