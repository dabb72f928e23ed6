//! An input: files, by their path in a folder. So one that failed can be looked at, changed and run again.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Input(BTreeMap<String, Vec<u8>>);

impl Input {
    pub(crate) fn with(mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.into(), content.into());
        self
    }

    /// The content of a file; empty if there is none.
    pub(crate) fn file(&self, path: &str) -> &[u8] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }

    /// Bytes in all.
    pub(crate) fn size(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }

    /// Writes the files into a folder that holds nothing else afterwards.
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        for (path, content) in &self.0 {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, content)?;
        }
        Ok(())
    }

    pub(crate) fn load(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for path in below(folder)? {
            let name = path.strip_prefix(folder).map_err(io::Error::other)?.display().to_string();
            files.insert(name, fs::read(path)?);
        }
        Ok(Self(files))
    }
}

/// The files in a folder and in those below it, sorted.
pub(crate) fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}
