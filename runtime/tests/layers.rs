//! Modules import only from those above them: the order of the table in DESIGN.md.

use std::{fs, path::Path};

use proc_macro2::{TokenStream, TokenTree};

const ORDER: &[&str] = &[
    "time",
    "error",
    "json",
    "payload",
    "job",
    "record",
    "headers",
    "traceparent",
    "envelope",
    "event",
    "health",
    "lab",
    "config",
    "backoff",
    "retry_topics",
    "kafka",
    "deliver",
    "member",
    "validate",
    "trace",
    "client",
    "topics",
    "publisher",
    "delivery",
    "handler",
    "batch_handler",
    "router",
    "idempotency",
    "settle",
    "shutdown",
    "consumer",
    "reinjector",
    "redrive",
    "schema",
    "export",
    "testing",
    "private",
    "lib",
];

/// The module of a source file: its first path segment.
fn module(path: &Path) -> String {
    path.iter().next().unwrap_or_default().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The modules that a source text names after `crate::`, tests left out.
fn imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    collect(&code.parse::<TokenStream>().expect("a source file is made of tokens"), &mut found);
    found
}

fn collect(tokens: &TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => collect(&group.stream(), found),
            // `$crate` in a macro is what its users import.
            TokenTree::Ident(ident)
                if ident == "crate"
                    && tokens.get(index + 1).is_some_and(|t| t.to_string() == ":")
                    && index.checked_sub(1).and_then(|i| tokens.get(i)).is_none_or(|t| t.to_string() != "$") =>
            {
                match tokens.get(index + 3) {
                    // `crate::{a, b::{c, d}}`: a name at the start, and behind each comma.
                    Some(TokenTree::Group(group)) => {
                        let mut first = true;
                        for token in group.stream() {
                            if first {
                                found.push(token.to_string());
                            }
                            first = token.to_string() == ",";
                        }
                    }
                    Some(other) => found.push(other.to_string()),
                    None => {}
                }
            }
            _ => {}
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_module_imports_one_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let rank = |module: &str| ORDER.iter().position(|other| *other == module);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in &files {
        let path = file.strip_prefix(&root).expect("below the root");
        let module = module(path);
        let own = rank(&module).unwrap_or_else(|| panic!("`{module}` has no place in the order"));
        if module == "lib" {
            continue;
        }
        for import in imports(&fs::read_to_string(file).expect("a source file can be read")) {
            // Names that `lib.rs` re-exports would hide where they come from.
            match rank(&import) {
                Some(other) if other <= own => seen += 1,
                _ => wrong.push(format!("{} imports {import}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 50, "only {seen} imports found: does this test still read them?");
}

#[test]
fn imports_are_found_in_groups_and_alone() {
    let text = "use crate::error::A;\nuse crate::{\n    job::{B, C},\n    kafka::{self, D},\n};\n// crate::no\nfn f() { crate::record::g() }\nmacro_rules! m { () => { $crate::private::x() } }";
    assert_eq!(imports(text), ["error", "job", "kafka", "record"]);
}

#[test]
fn only_one_file_holds_unsafe_code_and_only_one_folder_names_the_client_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file can be read");
        let path = file.strip_prefix(&root).expect("below the root");
        let code = |line: &&str| !line.trim_start().starts_with("//");
        if text.lines().filter(code).any(|line| line.contains("unsafe ")) {
            assert_eq!(path, Path::new("kafka/native.rs"));
        }
        if text.lines().filter(code).any(|line| line.contains("rdkafka::")) {
            assert!(path.starts_with("kafka"), "{}", path.display());
        }
    }
}
