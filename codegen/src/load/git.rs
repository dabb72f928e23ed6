//! A folder as it was at a revision of its git repository. The `git` command does the work; it never asks a remote.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

/// A folder at a revision.
#[derive(Debug)]
pub(crate) struct Tree {
    /// As the user calls it.
    revision: String,
    /// The hash of the commit, and the path of the folder from the root of the repository.
    root: String,
    json_files: Vec<String>,
    /// A process that is asked for one object after the other.
    objects: Objects,
    watched: Vec<PathBuf>,
}

#[derive(Debug)]
struct Objects {
    process: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Git ends when nobody can ask any more.
        self.asks = None;
        let _ = self.process.wait();
    }
}

impl Tree {
    /// The `folder` as it was at `revision`, a name that `git rev-parse` knows.
    pub(crate) fn open(folder: &Path, revision: &str) -> Result<Self, String> {
        let shown = revision.escape_debug();
        if revision.is_empty() || revision.starts_with('-') {
            return Err(format!("`{shown}` is no git revision"));
        }
        let prefix = line(&git(folder, &["rev-parse", "--show-prefix"])?);
        let commit = format!("{revision}^{{commit}}");
        let found = run(folder, &["rev-parse", "--verify", "--quiet", &commit])?;
        if !found.status.success() {
            let shallow = git(folder, &["rev-parse", "--is-shallow-repository"])?;
            let reason = if line(&shallow) == "true" {
                "this clone is shallow and does not have it: fetch it first (`git fetch --unshallow`)"
            } else {
                "git does not know it: fetch it first"
            };
            return Err(format!("no git revision `{shown}`: {reason}"));
        }
        let commit = line(&String::from_utf8_lossy(&found.stdout));
        let listed = git(folder, &["ls-tree", "-r", "-z", "--name-only", &commit])?;
        let json = |path: &&str| Path::new(path).extension().is_some_and(|extension| extension == "json");
        let json_files = listed.split('\0').filter(json).map(str::to_owned).collect();
        let objects = Objects::start(folder)?;
        let watched = watched(folder, revision);
        Ok(Self { revision: revision.to_owned(), root: format!("{commit}:{prefix}"), json_files, objects, watched })
    }

    /// The content of the file at `path`, below the folder.
    pub(super) fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        if path.contains('\n') {
            return Err("git is not asked for a name with a line break".to_owned());
        }
        let content = self.objects.get(&format!("{}{path}", self.root)).map_err(|error| format!("git: {error}"))?;
        content.ok_or_else(|| format!("git has no such file at `{}`", self.revision.escape_debug()))
    }

    /// The paths of all `*.json` files, sorted.
    pub(super) fn json_files(&self) -> Vec<String> {
        self.json_files.clone()
    }

    /// The files of the repository that change when the revision becomes another one.
    pub(crate) fn watched(&self) -> &[PathBuf] {
        &self.watched
    }
}

impl Objects {
    fn start(folder: &Path) -> Result<Self, String> {
        let mut process = command(folder, &["cat-file", "--batch", "--follow-symlinks"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| unusable(&error))?;
        let (asks, answers) = (process.stdin.take(), process.stdout.take());
        let answers = answers.ok_or("git cannot be read from")?;
        Ok(Self { process, asks, answers: BufReader::new(answers) })
    }

    /// The content of a file; `None` if there is none of that name.
    fn get(&mut self, name: &str) -> std::io::Result<Option<Vec<u8>>> {
        if let Some(asks) = &mut self.asks {
            asks.write_all(format!("{name}\n").as_bytes())?;
            asks.flush()?;
        }
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let mut words = header.trim_end().rsplit(' ');
        // `<hash> blob <size>`, or `<kind of link> <size>` where a link leads nowhere, or `<name> missing`.
        let Some(size) = words.next().and_then(|size| size.parse::<usize>().ok()) else { return Ok(None) };
        let is_file = words.next() == Some("blob");
        let mut content = Vec::new();
        self.answers.by_ref().take(size as u64).read_to_end(&mut content)?;
        let mut end = [0];
        self.answers.read_exact(&mut end)?;
        Ok(is_file.then_some(content))
    }
}

/// What Cargo must look at, as far as it is there: where HEAD, a branch or a tag is kept.
fn watched(folder: &Path, revision: &str) -> Vec<PathBuf> {
    let name = revision.split(['~', '^', '@', ':']).next().filter(|name| !name.is_empty()).unwrap_or("HEAD");
    let full = git(folder, &["rev-parse", "--symbolic-full-name", name]).map(|text| line(&text)).unwrap_or_default();
    let mut refs = vec!["packed-refs".to_owned(), full];
    if name == "HEAD" {
        refs.push(name.to_owned());
    }
    let place = |name: &String| {
        let path = git(folder, &["rev-parse", "--git-path", name]).ok()?;
        let path = folder.join(line(&path));
        // A packed branch gets a file of its own when it moves: then its folder changes.
        path.ancestors()
            .take(if name.starts_with("refs/") { 3 } else { 1 })
            .find(|path| path.exists())
            .map(Path::to_path_buf)
    };
    refs.iter().filter(|name| !name.is_empty()).filter_map(place).collect()
}

/// What git prints.
fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = run(folder, arguments)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let first = told.lines().next().unwrap_or("it failed without a word").trim();
    Err(format!("git: {first}"))
}

fn run(folder: &Path, arguments: &[&str]) -> Result<Output, String> {
    command(folder, arguments).output().map_err(|error| unusable(&error))
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    // Nothing is fetched from a remote, not even what a partial clone has left out.
    command.arg("-C").arg(folder).args(arguments).env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C").stdin(Stdio::null());
    command
}

fn unusable(error: &std::io::Error) -> String {
    format!("`git` cannot be run: {error}")
}

fn line(text: &str) -> String {
    text.lines().next().unwrap_or("").to_owned()
}
