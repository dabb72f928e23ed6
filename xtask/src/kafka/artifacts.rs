//! Kafka's jars, fetched by Maven.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::run_quiet;
use crate::tools;

/// The broker's version.
pub(super) const KAFKA_VERSION: &str = "4.3.1";

/// The goal that copies what the project below depends on.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/// The logging binding, which Kafka leaves to its distribution, is of the version that Kafka's own
/// log4j dependency has.
const POM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.babelqueue</groupId>
  <artifactId>test-broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>4.3.1</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>4.3.1</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>2.25.4</version>
    </dependency>
  </dependencies>
</project>
"#;

/// The folder with all jars of the broker, fetched on the first call.
///
/// # Errors
/// If Maven is missing or cannot fetch them.
pub(super) fn jars(folder: &Path) -> Result<PathBuf> {
    let jars = folder.join("jars");
    // Written last: it says that the folder is whole, and for which project file.
    let stamp = jars.join("pom.xml");
    if fs::read_to_string(&stamp).is_ok_and(|content| content == POM) {
        return Ok(jars);
    }
    let maven = tools::maven()?;
    eprintln!("Fetching Apache Kafka {KAFKA_VERSION} (about 54 MB the first time)");
    if jars.exists() {
        fs::remove_dir_all(&jars).context("cannot remove an unfinished download")?;
    }
    let pom = folder.join("pom.xml");
    fs::create_dir_all(&jars)?;
    fs::write(&pom, POM)?;
    run_quiet(
        Command::new(maven)
            .args(["--batch-mode", "--quiet", "--file"])
            .arg(&pom)
            .arg(COPY)
            .arg(format!("-DoutputDirectory={}", jars.display()))
            .arg("-DincludeScope=runtime"),
    )
    .context("cannot fetch Apache Kafka")?;
    fs::write(stamp, POM)?;
    Ok(jars)
}

#[cfg(test)]
mod tests {
    use super::{KAFKA_VERSION, POM};

    #[test]
    fn the_project_file_asks_for_the_announced_version() {
        let line = format!("<version>{KAFKA_VERSION}</version>");
        assert_eq!(POM.matches(&line).count(), 2);
    }
}
