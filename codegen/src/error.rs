//! Everything that is wrong with a registry and its schemas, one line a problem.

use std::fmt::{self, Write as _};

/// All problems of one run, sorted by file and place.
///
/// `Display` and `Debug` both print one line a problem, `file:line:col: /json/pointer: reason`, so that a build script
/// that returns it from `main` reads well.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    problems: Vec<Problem>,
}

/// One problem and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) file: String,
    /// Line and column, from 1, where they are known.
    pub(crate) place: Option<(usize, usize)>,
    /// The JSON Pointer of the value, where the problem has one.
    pub(crate) pointer: Option<String>,
    pub(crate) reason: String,
}

impl Problem {
    /// A problem with a whole file.
    pub(crate) fn file(file: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, pointer: None, reason: reason.into() }
    }
}

impl Error {
    /// Sorts the problems and drops repeated ones, which types that several topics share give.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort();
        problems.dedup();
        Self { problems }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        plain(f, &self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        match self.pointer.as_deref() {
            None => {}
            Some("") => f.write_str(": /")?,
            Some(pointer) => write!(f, ": {}", pointer.escape_debug())?,
        }
        f.write_str(": ")?;
        plain(f, &self.reason)
    }
}

/// Names in schemas may hold line breaks and worse, and a problem is one line.
fn plain(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.chars().try_for_each(|c| if c.is_control() { write!(f, "{}", c.escape_debug()) } else { f.write_char(c) })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `main` prints an error through `Debug` behind "Error: "; a line of its own keeps every problem clickable.
        let plural = if self.problems.len() == 1 { "" } else { "s" };
        write!(f, "{} problem{plural} in the contracts\n{self}", self.problems.len())
    }
}

impl std::error::Error for Error {}
