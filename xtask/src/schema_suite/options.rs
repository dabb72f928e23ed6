//! What of the measure is wanted.

use anyhow::{Result, bail};

use super::group::Source;

/// The words of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Only these schemas.
    pub(super) source: Option<Source>,
    /// Only the files whose path holds this text.
    pub(super) file: Option<String>,
    /// Whether to list the invalid instances that a type lets through.
    pub(super) list_by_type: bool,
}

impl Options {
    /// # Errors
    /// If a word has no meaning.
    pub(super) fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let source = Source::ALL.into_iter().find(|source| source.name() == word);
            match word {
                "--list" => match words.next() {
                    Some("type") => options.list_by_type = true,
                    other => bail!("`--list {}`: only `--list type` is known", other.unwrap_or_default()),
                },
                _ if word.starts_with('-') => bail!("unknown option `{word}`"),
                _ if source.is_some() && options.source.is_none() => options.source = source,
                _ if options.file.is_none() => options.file = Some(word.to_owned()),
                _ => bail!("`{word}` is one word too many: at most a draft and a part of a file's path are taken"),
            }
        }
        Ok(options)
    }

    /// Whether these schemas are wanted.
    pub(super) fn wants(&self, source: Source) -> bool {
        self.source.is_none_or(|wanted| wanted == source)
    }

    /// Whether the file with this path is wanted.
    pub(super) fn wants_file(&self, path: &str) -> bool {
        self.file.as_deref().is_none_or(|part| path.contains(part))
    }

    /// Whether everything is measured.
    pub(super) fn is_all(&self) -> bool {
        self.source.is_none() && self.file.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_and_a_part_of_a_path_choose_files() {
        let options = Options::parse(&["draft7", "ref", "--list", "type"]).unwrap();
        let expected = Options { source: Some(Source::Draft7), file: Some("ref".to_owned()), list_by_type: true };
        assert_eq!(options, expected);
        assert!(options.wants(Source::Draft7) && !options.wants(Source::Gcn) && !options.is_all());
        assert!(options.wants_file("refRemote.json") && !options.wants_file("type.json"));
        assert!(Options::parse(&["type"]).unwrap().wants(Source::Draft2020));
        assert!(Options::parse(&["--list", "type"]).unwrap().is_all());
    }

    #[test]
    fn words_without_a_meaning_are_refused() {
        for words in [&["draft7", "a", "b"][..], &["--list"], &["--list", "all"], &["--lists"]] {
            assert!(Options::parse(words).is_err(), "{words:?}");
        }
    }
}
