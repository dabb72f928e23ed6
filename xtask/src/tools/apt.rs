//! Debian packages: installed by us where we may, else named in a message.

use std::process::Command;
use std::sync::Once;

use anyhow::{Context, Result, bail};

use super::on_path;
use crate::process::run_quiet;

static UPDATED: Once = Once::new();

/// Installs packages, saying so.
///
/// # Errors
/// If this is no Debian-like system or we are not root: the message names the command to type.
/// Also if the installation fails.
pub(super) fn install(what: &str, packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !rustix::process::geteuid().is_root() || on_path("apt-get").is_none() {
        bail!("{}", advice(what, &names, on_path("apt-get").is_some()));
    }
    eprintln!("{what} is missing: installing {names}");
    let mut update = Ok(String::new());
    UPDATED.call_once(|| update = run_quiet(apt_get().arg("update")));
    update.context("cannot refresh the package lists")?;
    run_quiet(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages))
        .with_context(|| format!("cannot install {what}"))?;
    Ok(())
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    // Another installation may be under way, an automatic upgrade for instance.
    command.args(["-o", "DPkg::Lock::Timeout=120"]);
    command
}

fn advice(what: &str, names: &str, has_apt: bool) -> String {
    let command = format!("sudo apt-get install -y --no-install-recommends {names}");
    if has_apt {
        format!("{what} is missing. Install it with:\n\n    {command}\n")
    } else {
        format!(
            "{what} is missing. Install it with this system's package manager. On Debian or Ubuntu:\n\n    {command}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn the_advice_names_the_whole_command_to_type() {
        let text = advice("Java 17 or newer", "openjdk-17-jre-headless", true);
        assert!(text.starts_with("Java 17 or newer is missing."), "{text}");
        assert!(text.contains("sudo apt-get install -y --no-install-recommends openjdk-17-jre-headless\n"), "{text}");
    }

    #[test]
    fn a_system_without_apt_is_told_so() {
        let text = advice("Maven", "maven", false);
        assert!(text.contains("this system's package manager"), "{text}");
    }
}
