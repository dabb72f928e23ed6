//! What is known of a broker that runs: a small file beside its data.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::config;
use crate::process;

/// Longer than a first start with its downloads takes.
const TURN_DEADLINE: Duration = Duration::from_secs(300);

/// A broker's process and addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) pid: i32,
    pub(super) brokers: String,
    pub(super) sasl_brokers: String,
}

impl State {
    /// The broker of this folder, if its process lives. A file that a killed broker left is as
    /// good as none.
    pub(super) fn of_live_broker(folder: &Path) -> Option<Self> {
        let state = Self::parse(&fs::read_to_string(file(folder)).ok()?)?;
        is_broker(state.pid, folder).then_some(state)
    }

    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        fs::write(file(folder), self.render()).context("cannot write the broker's state file")
    }

    pub(super) fn forget(folder: &Path) -> Result<()> {
        match fs::remove_file(file(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).context("cannot remove the broker's state file")
            }
            _ => Ok(()),
        }
    }

    fn render(&self) -> String {
        format!("pid={}\nbrokers={}\nsasl_brokers={}\n", self.pid, self.brokers, self.sasl_brokers)
    }

    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            text.lines().find_map(|line| {
                let (found, value) = line.split_once('=')?;
                (found == name).then(|| value.to_owned())
            })
        };
        Some(Self {
            pid: value("pid")?.parse().ok().filter(|pid| *pid > 0)?,
            brokers: value("brokers")?,
            sasl_brokers: value("sasl_brokers")?,
        })
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("state")
}

/// Whether the process is the broker of this folder: its number may belong to another program by
/// now.
fn is_broker(pid: i32, folder: &Path) -> bool {
    let properties = config::properties_file(folder);
    process::command_line(pid).contains(&*properties.to_string_lossy())
}

/// Waits until no other task of this checkout starts or stops the broker. The turn ends when the
/// returned file is closed.
///
/// # Errors
/// On Ctrl-C, or when the other task does not finish.
pub(super) fn take_turn(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lock = File::create(folder.join("lock")).context("cannot make the broker's lock file")?;
    let deadline = Instant::now() + TURN_DEADLINE;
    loop {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {}
            Err(Errno::WOULDBLOCK) => bail!("another task is starting the broker for too long"),
            Err(error) => return Err(error).context("cannot lock the broker's lock file"),
        }
        process::check_interrupted()?;
        thread::sleep(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State { pid: 4711, brokers: "127.0.0.1:1111".to_owned(), sasl_brokers: "127.0.0.1:2222".to_owned() }
    }

    #[test]
    fn a_saved_state_is_read_back() {
        assert_eq!(State::parse(&state().render()), Some(state()));
    }

    #[test]
    fn a_broken_state_counts_as_none() {
        for text in ["", "pid=1\n", "pid=x\nbrokers=a\nsasl_brokers=b\n", "pid=-1\nbrokers=a\nsasl_brokers=b\n"] {
            assert_eq!(State::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_process_that_is_another_program_is_not_the_broker() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(!is_broker(own, Path::new("/nowhere/kafka")));
    }
}
