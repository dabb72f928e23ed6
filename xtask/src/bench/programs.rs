//! The programs that take turns in the benchmark of the throughput: built, or found.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::cargo::cargo;
use crate::process::{run_ok, run_quiet};
use crate::{paths, python, tools};

pub(super) struct Programs {
    pub(super) throughput: PathBuf,
    /// The same turns with an allocator that counts.
    counted: PathBuf,
    rust_stream: PathBuf,
    python: PathBuf,
    valgrind: Option<PathBuf>,
}

/// A line of what `cargo` says of a build.
#[derive(Deserialize)]
struct Built {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Programs {
    /// Builds what is built, and finds the rest.
    ///
    /// # Errors
    /// If a build fails, or a program is not found and cannot be installed. Without Valgrind no instructions are counted,
    /// which is said; with `CI=true` it is an error.
    pub(super) fn prepare() -> Result<Self> {
        let valgrind = match tools::valgrind() {
            Ok(valgrind) => Some(valgrind),
            Err(error) if env::var("CI").as_deref() == Ok("true") => return Err(error),
            Err(error) => {
                eprintln!("NO INSTRUCTIONS WILL BE COUNTED: {error:#}");
                None
            }
        };
        let python = python::environment()?;
        let rust_stream = rust_stream()?;
        eprintln!("Building the benchmark");
        let build = "bench -p babelqueue --bench throughput --bench counted --no-run --message-format=json";
        let told = run_quiet(&mut cargo(build))?;
        Ok(Self {
            throughput: executable(&told, "throughput")?,
            counted: executable(&told, "counted")?,
            rust_stream,
            python,
            valgrind,
        })
    }

    /// Names the programs to the one that has them take turns.
    pub(super) fn tell(&self, command: &mut Command) {
        command.env("BABELQUEUE_BENCH_COUNTED", &self.counted);
        command.env("BABELQUEUE_BENCH_RUSTSTREAM", &self.rust_stream);
        command.env("BABELQUEUE_BENCH_PYTHON", &self.python);
        if let Some(valgrind) = &self.valgrind {
            command.env("BABELQUEUE_BENCH_VALGRIND", valgrind);
        }
    }
}

/// Builds the peer, in a workspace and a target folder of its own.
fn rust_stream() -> Result<PathBuf> {
    let target = paths::target("rivals");
    let manifest = "runtime/benches/rivals/ruststream/Cargo.toml";
    let mut build = cargo("build --quiet --release --locked --manifest-path");
    run_ok(build.arg(manifest).arg("--target-dir").arg(&target))?;
    Ok(target.join("release/rival-ruststream"))
}

/// The program of that name among what `cargo` has built.
fn executable(told: &str, name: &str) -> Result<PathBuf> {
    let mut built = told.lines().filter_map(|line| serde_json::from_str::<Built>(line).ok());
    let found = built.find_map(|built| built.executable.filter(|_| built.target.is_some_and(|it| it.name == name)));
    found.with_context(|| format!("cargo has built no program `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::executable;

    #[test]
    fn a_program_is_found_by_its_target_among_other_lines() {
        let told = r#"{"reason":"compiler-artifact","target":{"name":"sides"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"counted"},"executable":"/t/counted-1"}
{"reason":"compiler-artifact","target":{"name":"throughput"},"executable":"/t/throughput-2"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(told, "throughput").unwrap().to_str(), Some("/t/throughput-2"));
        assert!(executable(told, "sides").is_err());
    }
}
