//! Java, which runs the broker.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{find_or_install, on_path};

/// The oldest Java that Kafka 4 brokers run on.
const OLDEST: u32 = 17;

/// A Java runtime that can run a broker.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn java() -> Result<PathBuf> {
    find_or_install("Java 17 or newer", &["openjdk-17-jre-headless"], || {
        candidates().into_iter().find(|java| version(java).is_some_and(|found| found >= OLDEST))
    })
}

/// The one that was asked for, the usual one, then every other that Debian may have installed.
fn candidates() -> Vec<PathBuf> {
    let asked_for = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    let others = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    asked_for
        .into_iter()
        .chain(on_path("java"))
        .chain(others.map(|entry| entry.path().join("bin/java")))
        .filter(|java| java.is_file())
        .collect()
}

fn version(java: &Path) -> Option<u32> {
    let output = Command::new(java).arg("-version").output().ok()?;
    major(&String::from_utf8_lossy(&output.stderr))
}

/// The major version in what `java -version` prints.
fn major(printed: &str) -> Option<u32> {
    let quoted = printed.split('"').nth(1)?;
    let mut numbers = quoted.split(|character: char| !character.is_ascii_digit());
    let first = numbers.next()?.parse().ok()?;
    // Up to Java 8 the version was spelled 1.8.
    if first == 1 { numbers.next()?.parse().ok() } else { Some(first) }
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_is_read_from_every_spelling() {
        for (printed, expected) in [
            ("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime", Some(17)),
            ("openjdk version \"21\" 2023-09-19", Some(21)),
            ("openjdk version \"25-ea\" 2025-09-16", Some(25)),
            ("java version \"1.8.0_402\"", Some(8)),
            ("no such thing", None),
            ("openjdk version \"\"", None),
        ] {
            assert_eq!(major(printed), expected, "{printed}");
        }
    }
}
