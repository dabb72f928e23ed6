//! The list of the files in a schema folder: the same for the generator and for the validation of payloads.

use std::fs::{self, DirEntry};
use std::path::Path;

/// The paths of all `*.json` files below `folder`, sorted.
///
/// Folders that are none of schemas are passed over: hidden ones, caches (Cargo marks its `target` as one),
/// `node_modules`, and symbolic links to folders, which may lead back to where they lie.
#[must_use]
pub fn json_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, path)) = folders.pop() {
        let entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
        if entries.iter().any(|entry| entry.file_name() == "CACHEDIR.TAG") {
            continue;
        }
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = format!("{path}{name}");
            if is_folder(&entry) {
                if !name.starts_with('.') && name != "node_modules" {
                    folders.push((entry.path(), path + "/"));
                }
            } else if Path::new(name).extension().is_some_and(|extension| extension == "json") && entry.path().is_file()
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_files_of_all_folders_of_schemas_are_found_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in ["b.json", "a/z.json", "a/b.json", "a.json", "a/x.txt", ".git/x.json", "t/CACHEDIR.TAG", "t/x.json"]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, "{}").expect("a file");
        }
        fs::create_dir(folder.path().join("folder.json")).expect("a folder");
        assert_eq!(json_files(folder.path()), ["a.json", "a/b.json", "a/z.json", "b.json"]);
        assert_eq!(json_files(&folder.path().join("none")), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_back_is_no_endless_way() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("x.json"), "{}").expect("a file");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("a link");
        assert_eq!(json_files(folder.path()), ["x.json"]);
    }
}
