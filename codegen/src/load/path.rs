//! Paths inside the schema folder, always with `/` and without `.` and `..`.

use std::path::{Path, PathBuf};

/// Where `reference`, written in the file `from`, leads inside the schema folder.
///
/// The check is on the text of the path: a symbolic link that somebody laid in the folder is followed.
pub(super) fn join(from: &str, reference: &str) -> Result<String, String> {
    if reference.starts_with('/') || reference.contains(['\\', ':', '\0']) {
        return Err(format!("`{}` is not a relative path with `/` between folders", reference.escape_debug()));
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut steps = Vec::new();
    for step in folder.split('/').chain(reference.split('/')) {
        match step {
            "" | "." => {}
            ".." => {
                if steps.pop().is_none() {
                    return Err(format!("`{}` leads outside the schema folder", reference.escape_debug()));
                }
            }
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}

/// The file at `path` inside `folder`, with the separators of the system alone: Windows takes no other in paths that
/// begin with `\\?\`.
pub(super) fn below(folder: &Path, path: &str) -> PathBuf {
    folder.join(path.split('/').collect::<PathBuf>())
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn references_are_relative_to_the_file_that_writes_them() {
        assert_eq!(join("a/b.json", "../c.json").as_deref(), Ok("c.json"));
        assert_eq!(join("a/b.json", "./d/e.json").as_deref(), Ok("a/d/e.json"));
    }

    #[test]
    fn nothing_leads_out_of_the_schema_folder() {
        for reference in ["../x.json", "a/../../x.json", "/etc/passwd", "C:\\x.json", "c:/x.json"] {
            assert!(join("root.json", reference).is_err(), "{reference}");
        }
    }
}
