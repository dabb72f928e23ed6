//! Folders that stand for URI prefixes.

use super::uri::{SchemaUri, encode_path};

/// URI prefixes and the folders that stand for them.
#[derive(Debug, Default)]
pub(super) struct Map(Vec<(String, String)>);

impl Map {
    /// The mapping of `pairs`, and why a pair is none.
    pub(super) fn new(pairs: Vec<(String, String)>) -> (Self, Vec<String>) {
        let (mut map, mut reasons) = (Vec::new(), Vec::new());
        for (prefix, folder) in pairs {
            match SchemaUri::parse(&prefix) {
                Ok(uri) => map.push((uri.as_str().to_owned(), folder)),
                Err(reason) => reasons.push(reason),
            }
        }
        // The longest prefix that fits is the one that is meant.
        map.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        (Self(map), reasons)
    }

    /// The path of the file that stands for `uri`.
    pub(super) fn path(&self, uri: &SchemaUri) -> Option<Result<String, String>> {
        let found = self.0.iter().find_map(|(prefix, folder)| uri.below(prefix).map(|rest| (rest, folder)));
        found.map(|(rest, folder)| rest.map(|rest| format!("{folder}/{rest}")))
    }

    /// The URI of the file at `path` that gives itself none.
    pub(super) fn uri(&self, path: &str) -> SchemaUri {
        let below = |folder: &str| match folder.trim_matches('/') {
            "" => Some(path),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        };
        let mapped = self.0.iter().filter_map(|(prefix, folder)| Some((prefix, below(folder)?)));
        // The innermost folder is the one that is meant.
        let innermost = mapped.min_by_key(|(_, rest)| rest.len());
        innermost
            .and_then(|(prefix, rest)| {
                let between = if prefix.ends_with(['/', ':']) { "" } else { "/" };
                SchemaUri::parse(&format!("{prefix}{between}{}", encode_path(rest))).ok()
            })
            .unwrap_or_else(|| SchemaUri::of_file(path))
    }
}
