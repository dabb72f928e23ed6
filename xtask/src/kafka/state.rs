//! What is known of a broker that runs: a small file beside its data.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

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
    let command_line = if Path::new("/proc/self/cmdline").exists() {
        fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
    } else {
        let listed = Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
        listed.map(|output| output.stdout).unwrap_or_default()
    };
    let properties = config::properties_file(folder);
    String::from_utf8_lossy(&command_line).contains(&*properties.to_string_lossy())
}

/// Whether the process has not ended. One that ended but was not collected by its parent has; one
/// that is still giving back its memory and ports has not.
pub(super) fn alive(pid: i32) -> bool {
    let exists = Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    exists && !is_zombie(&stat)
}

/// Reads `/proc/PID/stat`: a zombie whose last thread is gone. The fields follow the program's
/// name, which is in parentheses and may hold some itself.
fn is_zombie(stat: &str) -> bool {
    const STATE: usize = 0;
    const THREADS: usize = 17;
    let Some((_, fields)) = stat.rsplit_once(") ") else { return false };
    let fields: Vec<&str> = fields.split(' ').collect();
    fields.get(STATE) == Some(&"Z") && matches!(fields.get(THREADS), Some(&("0" | "1")))
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
    fn a_process_that_ended_but_was_not_collected_counts_as_ended() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while alive(pid) {
            assert!(Instant::now() < deadline, "{pid} still counts as alive");
            thread::yield_now();
        }
        child.wait().unwrap();
        assert!(alive(i32::try_from(std::process::id()).unwrap()));
    }

    #[test]
    fn only_a_zombie_without_other_threads_is_gone() {
        let stat = |name: &str, state: &str, threads: u32| {
            format!("12 ({name}) {state} 1 12 12 0 -1 4 0 0 0 0 1 1 0 0 20 0 {threads} 0 99 0 0")
        };
        assert!(is_zombie(&stat("java", "Z", 1)));
        assert!(is_zombie(&stat("a) b", "Z", 1)));
        assert!(!is_zombie(&stat("java", "Z", 2)));
        assert!(!is_zombie(&stat("Z) Z", "S", 1)));
        assert!(!is_zombie(""));
    }

    #[test]
    fn a_process_that_is_another_program_is_not_the_broker() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(!is_broker(own, Path::new("/nowhere/kafka")));
    }
}
