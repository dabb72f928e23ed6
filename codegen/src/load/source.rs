//! Files of the schema folder, each read once.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, PathBuf};
use std::rc::Rc;

use indexmap::IndexMap;

use super::git::Tree;
use super::path;
use crate::error::Problem;
use crate::folder;
use crate::json::{self, Json};
use crate::lines::Lines;
use crate::pointer::Pointer;

/// A file that was read and is JSON.
#[derive(Debug)]
pub(crate) struct Document {
    /// The path inside the schema folder.
    pub(crate) path: String,
    /// The path as people know it, for messages.
    shown: String,
    text: String,
    lines: OnceCell<Lines>,
    pub(crate) root: Json,
}

impl Document {
    /// A problem at the value that `pointer` names.
    pub(crate) fn problem(&self, pointer: &Pointer, reason: impl Into<String>) -> Problem {
        Problem {
            file: self.shown.clone(),
            place: Some(self.place(pointer)),
            pointer: Some(pointer.as_str().to_owned()),
            reason: reason.into(),
        }
    }

    /// Line and column of the value that `pointer` names.
    pub(crate) fn place(&self, pointer: &Pointer) -> (usize, usize) {
        self.lines.get_or_init(|| Lines::new(&self.text)).place(&self.text, self.root.locate(pointer))
    }
}

/// Why a file cannot be used.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// It cannot be read; whoever names it reports the reason.
    Unreadable(String),
    /// It was read, and what is wrong with it is reported at the file itself.
    Reported,
}

/// Where the files of the schema folder are.
#[derive(Debug)]
enum Files {
    Folder(PathBuf),
    Git(Tree),
}

impl Files {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Folder(folder) => std::fs::read(path::below(folder, path)).map_err(|error| error.to_string()),
            Self::Git(tree) => tree.read(path),
        }
    }

    fn json_files(&self) -> Vec<String> {
        match self {
            Self::Folder(folder) => folder::json_files(folder),
            Self::Git(tree) => tree.json_files(),
        }
    }
}

/// The schema folder.
#[derive(Debug)]
pub(crate) struct Sources {
    files: Files,
    shown: PathBuf,
    opened: IndexMap<String, Result<Rc<Document>, Failure>>,
    /// The files that were read to learn what they are called.
    looked_into: Vec<String>,
    problems: Vec<Problem>,
}

impl Sources {
    /// The schema folder `folder`, called `shown` in messages.
    pub(crate) fn new(folder: PathBuf, shown: PathBuf) -> Self {
        Self::of(Files::Folder(folder), shown)
    }

    /// The schema folder as it was at a git revision, called `shown` in messages.
    pub(crate) fn of_revision(tree: Tree, shown: PathBuf) -> Self {
        Self::of(Files::Git(tree), shown)
    }

    fn of(files: Files, shown: PathBuf) -> Self {
        Self { files, shown, opened: IndexMap::new(), looked_into: Vec::new(), problems: Vec::new() }
    }

    /// The file that `reference`, written in the file `from`, names.
    pub(crate) fn open(&mut self, from: &str, reference: &str) -> Result<Rc<Document>, Failure> {
        let path = path::join(from, reference).map_err(Failure::Unreadable)?;
        if let Some(opened) = self.opened.get(&path) {
            return opened.clone();
        }
        let opened = self.read(&path);
        self.opened.insert(path, opened.clone());
        opened
    }

    fn read(&mut self, path: &str) -> Result<Rc<Document>, Failure> {
        let bytes = self
            .files
            .read(path)
            .map_err(|error| Failure::Unreadable(format!("cannot read `{}`: {error}", path.escape_debug())))?;
        self.parse(path, bytes).map_err(|problem| {
            self.problems.push(problem);
            Failure::Reported
        })
    }

    fn parse(&self, path: &str, bytes: Vec<u8>) -> Result<Rc<Document>, Problem> {
        let shown = self.show(path);
        let text = decode(bytes).map_err(|reason| Problem::file(shown.clone(), reason))?;
        match json::parse(&text) {
            Ok(root) => Ok(Rc::new(Document { path: path.to_owned(), shown, text, lines: OnceCell::new(), root })),
            Err(error) => Err(Problem { place: Some(error.place), ..Problem::file(shown, error.reason) }),
        }
    }

    /// The paths of all `*.json` files of the folder, sorted.
    pub(crate) fn json_files(&self) -> Vec<String> {
        self.files.json_files()
    }

    /// The file at `path`, if it is JSON; what is wrong with it is not reported, as nothing refers to it.
    pub(crate) fn look_into(&mut self, path: &str) -> Option<Rc<Document>> {
        let path = path::join("", path).ok()?;
        if let Some(opened) = self.opened.get(&path) {
            return opened.as_ref().ok().map(Rc::clone);
        }
        let bytes = self.files.read(&path).ok()?;
        let document = self.parse(&path, bytes).ok();
        self.looked_into.push(path);
        document
    }

    /// Notes a problem of the run.
    pub(crate) fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The path of a file as people know it, with `/` on every system.
    pub(crate) fn show(&self, path: &str) -> String {
        path::below(&self.shown, path).display().to_string().replace(MAIN_SEPARATOR, "/")
    }

    /// Every file that exists and was read, by a path that the system takes; the build depends on each.
    pub(crate) fn files_read(&self) -> Vec<String> {
        let read = |opened: &Result<_, _>| !matches!(opened, Err(Failure::Unreadable(_)));
        let opened = self.opened.iter().filter(|(_, opened)| read(opened)).map(|(path, _)| path);
        let paths: BTreeSet<_> = opened.chain(&self.looked_into).collect();
        paths.into_iter().map(|path| path::below(&self.shown, path).display().to_string()).collect()
    }

    pub(crate) fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }
}

/// The text of a file; a UTF-8 byte order mark, which some editors write, is skipped.
fn decode(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err("the file is UTF-16 or UTF-32; save it as UTF-8".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("the file is not UTF-8 (byte {}); save it as UTF-8", error.utf8_error().valid_up_to())
    })?;
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}
