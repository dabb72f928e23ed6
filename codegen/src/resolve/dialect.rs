//! The editions of JSON Schema, by the URI in `$schema`.

/// An edition of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft-04.
    Draft4,
    /// Draft-06.
    Draft6,
    /// Draft-07.
    Draft7,
    /// 2019-09.
    Draft2019,
    /// 2020-12.
    Draft2020,
}

impl Dialect {
    /// The edition whose metaschema is `uri`; `http` or `https`, with or without an empty fragment.
    pub(crate) fn of(uri: &str) -> Option<Self> {
        match official(uri.strip_suffix('#').unwrap_or(uri))? {
            "draft-04/schema" => Some(Self::Draft4),
            "draft-06/schema" => Some(Self::Draft6),
            "draft-07/schema" => Some(Self::Draft7),
            "draft/2019-09/schema" => Some(Self::Draft2019),
            "draft/2020-12/schema" => Some(Self::Draft2020),
            _ => None,
        }
    }
}

/// Whether `uri`, without its fragment, names a metaschema of json-schema.org or a part of one.
pub(super) fn is_metaschema(uri: &str) -> bool {
    let part = |rest: &str| rest.strip_prefix("meta/").or_else(|| rest.strip_prefix("vocab/")).is_some();
    official(uri).is_some_and(|path| match path.strip_prefix("draft/").and_then(|path| path.split_once('/')) {
        Some(("2019-09" | "2020-12", rest)) => matches!(rest, "schema" | "hyper-schema") || part(rest),
        _ => matches!(path.strip_prefix("draft-0"), Some("4/schema" | "6/schema" | "7/schema")),
    })
}

fn official(uri: &str) -> Option<&str> {
    let bare = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    bare.strip_prefix("json-schema.org/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editions_are_known_by_their_metaschema() {
        for (uri, dialect) in [
            ("http://json-schema.org/draft-04/schema#", Some(Dialect::Draft4)),
            ("http://json-schema.org/draft-06/schema", Some(Dialect::Draft6)),
            ("https://json-schema.org/draft-07/schema#", Some(Dialect::Draft7)),
            ("https://json-schema.org/draft/2019-09/schema", Some(Dialect::Draft2019)),
            ("http://json-schema.org/draft/2020-12/schema#", Some(Dialect::Draft2020)),
            ("http://json-schema.org/schema#", None),
            ("https://e.test/draft-07/schema", None),
        ] {
            assert_eq!(Dialect::of(uri), dialect, "{uri}");
        }
    }

    #[test]
    fn metaschemas_and_their_parts_are_known() {
        assert!(is_metaschema("http://json-schema.org/draft-07/schema"));
        assert!(is_metaschema("https://json-schema.org/draft/2020-12/meta/unevaluated"));
        assert!(!is_metaschema("https://json-schema.org/learn/card.schema.json"));
        assert!(!is_metaschema("https://json-schema.org/draft-07/other"));
    }
}
