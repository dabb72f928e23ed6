//! The README as a newcomer follows it: its packages are written out, built and run.
//!
//! A line `<!-- file: <package>/<path> -->` above a fenced block says which file the block is. The blocks of Rust without
//! such a line are compiled by the documentation tests of `runtime`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustix::process::Signal;

use crate::cargo::cargo;
use crate::paths;
use crate::process::{check_interrupted, line, raw_pid, run_quiet, signal_group, spawn_in_own_group, supervise};

const CODE_FIRST: &str = "code-first";
const SCHEMA_FIRST: &str = "schema-first";

/// How the README names its clone, seen from a package.
const CLONE: &str = "../babelqueue-rust/";
/// The same, seen from `target/readme/<package>`.
const CHECKOUT: &str = "../../../";

/// A line with both is printed by the handler.
const HANDLED: [&str; 2] = ["order 1042 ", "Ctrl-C ends"];
/// From the start of the build; librdkafka alone takes minutes.
const RUN_DEADLINE: Duration = Duration::from_secs(900);
/// From Ctrl-C; a consumer may take 30 s to shut down.
const END_DEADLINE: Duration = Duration::from_secs(60);

/// Path in the package → content.
type Package = BTreeMap<String, String>;

/// Builds and runs the packages of the README, and tries what it promises about a renamed property.
///
/// # Errors
/// If the README lacks a package, or one of them does not do what the README says.
pub(crate) fn run() -> Result<()> {
    let readme = fs::read_to_string(paths::root().join("README.md")).context("cannot read README.md")?;
    let mut packages = packages(&readme).context("README.md")?;
    for (name, package) in &packages {
        println!("\n--- {name}");
        let folder = write(name, package)?;
        handles_an_order(cargo_in("run", &folder)).with_context(|| format!("README.md, {name}"))?;
    }
    println!("\n--- {SCHEMA_FIRST}, a property renamed");
    let package = packages.get_mut(SCHEMA_FIRST).context("checked when read")?;
    rename_order_id(package)?;
    let folder = write("schema-first-renamed", package)?;
    does_not_compile(cargo_in("build", &folder)).context("README.md, schema-first with `order_id` renamed")
}

/// The packages in the README, by name.
fn packages(readme: &str) -> Result<BTreeMap<&'static str, Package>> {
    let mut packages = BTreeMap::from([(CODE_FIRST, Package::new()), (SCHEMA_FIRST, Package::new())]);
    let mut lines = readme.lines().zip(1..);
    let mut marker = None;
    while let Some((text, number)) = lines.next() {
        if let Some(info) = text.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().map(|(text, _)| text).take_while(|text| *text != "```").collect();
            if let Some(path) = marker.take() {
                let (package, file) = locate(path, &mut packages).with_context(|| format!("line {number}"))?;
                let known = package.insert(file.to_owned(), block.join("\n") + "\n");
                ensure!(known.is_none(), "line {number}: `{path}` for the second time");
            } else {
                let unseen = info.starts_with("rust") && info.contains("ignore");
                ensure!(!unseen, "line {number}: nothing compiles this block: drop `ignore`, or name its file above");
            }
        } else if let Some(path) = marker {
            ensure!(text.trim().is_empty(), "line {number}: no block follows the marker of `{path}`");
        } else {
            marker = marked_file(text);
        }
    }
    if let Some(path) = marker {
        bail!("no block follows the marker of `{path}`");
    }
    for (name, package) in &packages {
        ensure!(package.contains_key("Cargo.toml"), "no block is marked `<!-- file: {name}/Cargo.toml -->`");
    }
    Ok(packages)
}

fn marked_file(text: &str) -> Option<&str> {
    Some(text.strip_prefix("<!--")?.strip_suffix("-->")?.trim().strip_prefix("file:")?.trim())
}

/// The package that a marked path is in, and the path in it.
fn locate<'a, 'p>(
    path: &'a str,
    packages: &'p mut BTreeMap<&'static str, Package>,
) -> Result<(&'p mut Package, &'a str)> {
    let (name, file) = path.split_once('/').with_context(|| format!("`{path}` names no file of a package"))?;
    let inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    ensure!(inside && !file.is_empty(), "`{path}` is no path in a package");
    let known = packages.keys().copied().collect::<Vec<_>>().join(", ");
    let package = packages.get_mut(name);
    Ok((package.with_context(|| format!("no package is called `{name}`; there are {known}"))?, file))
}

/// Writes a package afresh, and returns its folder.
fn write(name: &str, package: &Package) -> Result<PathBuf> {
    let folder = paths::target("readme").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    for (path, content) in package {
        let mut content = content.clone();
        if path == "Cargo.toml" {
            // A newcomer's package lies beside the clone, not in its workspace.
            content = content.replace(CLONE, CHECKOUT) + "\n[workspace]\n";
        }
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))?;
    }
    // The same versions, and below the same target folder, as the workspace: librdkafka is not compiled again.
    fs::copy(paths::root().join("Cargo.lock"), folder.join("Cargo.lock")).context("cannot copy Cargo.lock")?;
    Ok(folder)
}

fn cargo_in(command: &str, folder: &Path) -> Command {
    const TARGET: &str = "CARGO_TARGET_DIR";
    let mut cargo = cargo(command);
    cargo
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .env(TARGET, env::var_os(TARGET).unwrap_or_else(|| "target".into()));
    cargo
}

/// Runs a package until its handler has got the order, then ends it as Ctrl-C does.
fn handles_an_order(mut command: Command) -> Result<()> {
    let mut child = spawn_in_own_group(command.stdout(Stdio::piped()))?;
    let printed = lines_of(&mut child);
    let status = supervise(child, |child| {
        let outcome = handled_then_ended(child, &printed);
        if outcome.is_err() {
            signal_group(raw_pid(child), Signal::KILL);
        }
        Ok((outcome, child.wait()?))
    });
    let (outcome, status) = status?;
    outcome.with_context(|| format!("`{}`", line(&command)))?;
    ensure!(status.success(), "`{}` does not end well on Ctrl-C: {status}", line(&command));
    Ok(())
}

fn handled_then_ended(child: &Child, printed: &Receiver<String>) -> Result<()> {
    let deadline = Instant::now() + RUN_DEADLINE;
    loop {
        let line =
            printed.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|why| match why {
                RecvTimeoutError::Timeout => anyhow!("no order was handled within {} s", RUN_DEADLINE.as_secs()),
                RecvTimeoutError::Disconnected => anyhow!("it ended before an order was handled"),
            })?;
        if HANDLED.iter().all(|part| line.contains(part)) {
            break;
        }
    }
    // A terminal sends Ctrl-C to the whole group.
    signal_group(raw_pid(child), Signal::INT);
    let deadline = Instant::now() + END_DEADLINE;
    while Instant::now() < deadline {
        match printed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    bail!("it still runs {} s after Ctrl-C", END_DEADLINE.as_secs());
}

/// The lines that a child prints, shown as they come. The channel closes with the child's output.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in std::io::BufRead::lines(std::io::BufReader::new(stdout)).map_while(Result::ok) {
                println!("{line}");
                // Whoever no longer listens still wants the output drained.
                let _ = sender.send(line);
            }
        });
    }
    receiver
}

/// Renames the required property in the schema, and the registry's pointer to it.
fn rename_order_id(package: &mut Package) -> Result<()> {
    let replaced = [
        ("schemas/order-created.schema.json", "\"order_id\"", "\"number\""),
        ("schemas/registry.json", "\"/order_id\"", "\"/number\""),
    ];
    for (path, old, new) in replaced {
        let content = package.get_mut(path).with_context(|| format!("README.md marks no {SCHEMA_FIRST}/{path}"))?;
        ensure!(content.contains(old), "README.md: {SCHEMA_FIRST}/{path} holds no {old}");
        *content = content.replace(old, new);
    }
    Ok(())
}

fn does_not_compile(mut command: Command) -> Result<()> {
    let output = match run_quiet(command.env("CARGO_TERM_COLOR", "never")) {
        Ok(_) => bail!("it compiles"),
        Err(error) => error.to_string(),
    };
    check_interrupted()?;
    ensure!(points_at_the_use(&output), "no error names `order_id` in src/main.rs:\n{output}");
    Ok(())
}

/// Whether one message of the compiler names both the old property and the place that uses it.
fn points_at_the_use(output: &str) -> bool {
    let names = |message: &str| message.contains("`order_id`") && message.contains("--> src/main.rs:");
    output.split("\n\n").any(|message| message.contains("error") && names(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "\
# Title
```rust
compiled elsewhere
```
<!-- file: code-first/Cargo.toml -->
```toml
[package]

name = \"a\"
```
<!-- file: schema-first/Cargo.toml -->

```toml
```
<!-- file: schema-first/src/main.rs -->
```rust,ignore
fn main() {}
```
";

    fn refusal(readme: &str) -> String {
        format!("{:#}", packages(readme).unwrap_err())
    }

    #[test]
    fn marked_blocks_become_the_files_of_their_packages() {
        let packages = packages(README).unwrap();
        assert_eq!(packages[CODE_FIRST], Package::from([("Cargo.toml".into(), "[package]\n\nname = \"a\"\n".into())]));
        assert_eq!(packages[SCHEMA_FIRST]["src/main.rs"], "fn main() {}\n");
    }

    #[test]
    fn the_readme_of_this_checkout_has_both_packages() {
        let packages = packages(&fs::read_to_string(paths::root().join("README.md")).unwrap()).unwrap();
        assert!(packages.values().all(|package| package.contains_key("src/main.rs")));
    }

    #[test]
    fn a_readme_without_markers_is_refused() {
        assert_eq!(refusal("# Title\n"), "no block is marked `<!-- file: code-first/Cargo.toml -->`");
    }

    #[test]
    fn a_marker_without_a_block_is_refused() {
        let marker = "<!-- file: code-first/a.rs -->\n";
        assert_eq!(refusal(marker), "no block follows the marker of `code-first/a.rs`");
        assert_eq!(refusal(&format!("{marker}text\n")), "line 2: no block follows the marker of `code-first/a.rs`");
        assert_eq!(refusal(&format!("{marker}{README}")), "line 2: no block follows the marker of `code-first/a.rs`");
    }

    #[test]
    fn an_unknown_package_is_refused_with_the_known_ones() {
        let readme = README.replace("schema-first/src", "schema-last/src");
        assert_eq!(refusal(&readme), "line 16: no package is called `schema-last`; there are code-first, schema-first");
    }

    #[test]
    fn a_path_out_of_the_package_is_refused() {
        let readme = README.replace("schema-first/src/", "schema-first/../");
        assert_eq!(refusal(&readme), "line 16: `schema-first/../main.rs` is no path in a package");
    }

    #[test]
    fn a_file_given_twice_is_refused() {
        let readme = README.replace("schema-first/src/main.rs", "schema-first/Cargo.toml");
        assert_eq!(refusal(&readme), "line 16: `schema-first/Cargo.toml` for the second time");
    }

    #[test]
    fn an_ignored_block_without_a_marker_is_refused() {
        let readme = README.replace("```rust\n", "```rust,ignore\n");
        assert!(refusal(&readme).starts_with("line 2: nothing compiles this block"), "{}", refusal(&readme));
    }

    #[test]
    fn only_one_message_with_both_names_points_at_the_use() {
        let used = "error[E0609]: no field `order_id` on type `OrderCreated`\n  --> src/main.rs:12:40";
        assert!(points_at_the_use(&format!("Compiling hello\n{used}\n\nerror: could not compile")));
        assert!(!points_at_the_use(&used.replace("src/main.rs", "build.rs")));
        assert!(!points_at_the_use("error: no field `order_id`\n\nerror: other\n  --> src/main.rs:1:1"));
    }
}
