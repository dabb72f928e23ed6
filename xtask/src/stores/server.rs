//! A server that tests kill and start again.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::quoted;
use crate::process;

const START_DEADLINE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

pub(super) struct Settings {
    pub(super) name: &'static str,
    /// As a shell takes it.
    pub(super) command: String,
    pub(super) folder: PathBuf,
    pub(super) log: PathBuf,
    /// What it logs once it answers.
    pub(super) ready: &'static str,
    /// Begins with the number of the process, also of one that a test has started.
    pub(super) pid_file: PathBuf,
    pub(super) url: String,
}

/// A server that was started. It ends with this value, whoever started it last.
pub(super) struct Server {
    settings: Settings,
    start: String,
}

impl Server {
    pub(super) fn launch(settings: Settings) -> Result<Self> {
        eprintln!("Starting {}", settings.name);
        File::create(&settings.log).with_context(|| format!("cannot make {}", settings.log.display()))?;
        let start = format!("exec {} >>{} 2>&1", settings.command, quoted(&settings.log));
        let mut shell = Command::new("sh");
        shell.current_dir(&settings.folder).arg("-c").arg(&start);
        let mut child = process::spawn_in_own_group(&mut shell)?;
        let pid = process::raw_pid(&child);
        let server = Self { settings, start };
        let waited = server.await_ready(|| Ok(child.try_wait()?.is_some()));
        // A process that a test kills must be collected, or its number still counts as that of a running server.
        thread::spawn(move || child.wait());
        if waited.is_err() {
            // It may not have written its number yet.
            process::signal_group(pid, Signal::KILL);
        }
        waited.map(|()| server)
    }

    fn await_ready(&self, mut ended: impl FnMut() -> Result<bool>) -> Result<()> {
        let Settings { name, log, ready, .. } = &self.settings;
        let deadline = Instant::now() + START_DEADLINE;
        loop {
            process::check_interrupted()?;
            let text = fs::read(log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            if text.contains(ready) {
                return Ok(());
            }
            if ended()? || Instant::now() >= deadline {
                bail!("{name} does not start. From {}:\n{text}", log.display());
            }
            thread::sleep(POLL);
        }
    }

    /// Names its address, its process and how to start it, in a command's environment.
    pub(super) fn tell(&self, command: &mut Command) {
        let Settings { name, pid_file, url, .. } = &self.settings;
        let name = name.to_uppercase();
        command
            .env(format!("BABELQUEUE_{name}_URL"), url)
            .env(format!("BABELQUEUE_{name}_PID_FILE"), pid_file)
            .env(format!("BABELQUEUE_{name}_START"), &self.start);
    }

    /// The process, if it runs: the number in the file may belong to another program by now.
    fn pid(&self) -> Option<i32> {
        let pid = fs::read_to_string(&self.settings.pid_file).ok()?.lines().next()?.trim().parse().ok()?;
        process::command_line(pid).contains(&*self.settings.folder.to_string_lossy()).then_some(pid)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // To PostgreSQL an interrupt says to end without waiting for its clients.
        if let Some(pid) = self.pid()
            && let Err(error) = process::end(self.settings.name, pid, Signal::INT, || Ok(!process::alive(pid)))
        {
            eprintln!("xtask: {error:#}");
        }
    }
}
