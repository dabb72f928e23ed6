//! The broker's process, from its first to its last moment.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::config::{self, Kind, Place, Ports};
use super::state::State;
use super::{BROKERS, PASSWORD_BROKERS, SECURED, SPARE_BROKERS, SPARE_PROCESS, artifacts, certificates};
use crate::process;
use crate::tools;

/// A start takes 2.5 s on two idle cores.
const START_DEADLINE: Duration = Duration::from_secs(90);
const HEAP: [&str; 2] = ["-Xms256m", "-Xmx512m"];
const POLL: Duration = Duration::from_millis(50);
const NAME: &str = "the broker";
const READY: &str = "Kafka Server started";
const PORT_TAKEN: &str = "Address already in use";
/// How often other ports are tried after another program was faster.
const PORT_TRIES: u32 = 3;
const EXTRACT_LINES: usize = 30;

/// A broker that this process started. It ends with this value, unless it is let go.
pub(super) struct Broker {
    folder: PathBuf,
    child: Child,
    ports: Ports,
    state: State,
    keep: bool,
}

impl Broker {
    /// Starts a broker with an empty disk and waits until it answers.
    pub(super) fn launch(folder: &Path, kind: Kind) -> Result<Self> {
        let java = tools::java()?;
        let jars = artifacts::jars(&super::folder())?;
        if kind == Kind::Secured {
            certificates::make(folder)?;
        }
        for _ in 1..PORT_TRIES {
            match Self::launch_once(folder, kind, &java, &jars) {
                Err(_) if log(folder).contains(PORT_TAKEN) => {}
                outcome => return outcome,
            }
        }
        Self::launch_once(folder, kind, &java, &jars)
    }

    fn launch_once(folder: &Path, kind: Kind, java: &Path, jars: &Path) -> Result<Self> {
        let ports = Ports::free()?;
        config::write(folder, Place { node: 1, nodes: &[ports] }, kind)?;
        format_storage(folder, kind, java, jars)?;
        let child = start_process(folder, java, jars, &HEAP)?;
        let state = State {
            pid: process::raw_pid(&child),
            brokers: format!("127.0.0.1:{}", ports.plain),
            sasl_brokers: format!("127.0.0.1:{}", ports.sasl),
        };
        // From here on an early return ends the process.
        let mut broker = Self { folder: folder.to_owned(), child, ports, state, keep: false };
        broker.state.save(folder)?;
        broker.await_ready()?;
        Ok(broker)
    }

    fn await_ready(&mut self) -> Result<()> {
        await_ready(&self.folder, &mut self.child)
    }

    /// Leaves the broker running after this process.
    pub(super) fn detach(mut self) -> State {
        self.keep = true;
        self.state.clone()
    }

    fn end(&mut self) -> Result<()> {
        process::end(NAME, self.state.pid, Signal::TERM, || Ok(self.child.try_wait()?.is_some()))?;
        State::forget(&self.folder)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = self.end()
        {
            eprintln!("xtask: {error:#}");
        }
    }
}

/// A broker to work with. One that was started for this ends with this value.
pub(crate) struct Running {
    brokers: String,
    sasl_brokers: Option<String>,
    _owned: Option<Broker>,
}

impl Running {
    pub(super) fn named(brokers: String, sasl_brokers: Option<String>) -> Self {
        Self { brokers, sasl_brokers, _owned: None }
    }

    /// Names the broker in a command's environment.
    pub(crate) fn tell(&self, command: &mut Command) {
        command.env(BROKERS, &self.brokers);
        if let Some(sasl_brokers) = &self.sasl_brokers {
            command.env(PASSWORD_BROKERS, sasl_brokers);
        }
    }

    pub(super) fn owned(broker: Broker) -> Self {
        Self {
            brokers: broker.state.brokers.clone(),
            sasl_brokers: Some(broker.state.sasl_brokers.clone()),
            _owned: Some(broker),
        }
    }
}

/// A broker beside the one to work with, for the tests that suspend theirs. It ends with this value.
pub(crate) struct Spare {
    broker: Broker,
    /// Nobody else starts or ends it meanwhile.
    _turn: File,
}

impl Spare {
    pub(super) fn owned(broker: Broker, turn: File) -> Self {
        Self { broker, _turn: turn }
    }

    /// Names the broker and its process in a command's environment.
    pub(crate) fn tell(&self, command: &mut Command) {
        let State { pid, brokers, .. } = &self.broker.state;
        command.env(SPARE_BROKERS, brokers).env(SPARE_PROCESS, pid.to_string());
    }
}

/// A broker that is encrypted and asks who comes, for the tests of security. It ends with this value.
pub(crate) struct Secured {
    broker: Broker,
    /// Nobody else starts or ends it meanwhile.
    _turn: File,
}

impl Secured {
    pub(super) fn owned(broker: Broker, turn: File) -> Self {
        Self { broker, _turn: turn }
    }

    /// Names its listeners and the folder of the certificates in a command's environment.
    pub(crate) fn tell(&self, command: &mut Command) {
        let Ports { plain, sasl, tls, mutual_tls, .. } = self.broker.ports;
        for (listener, port) in [("PLAIN", plain), ("SASL", sasl), ("TLS", tls), ("MUTUAL_TLS", mutual_tls)] {
            command.env(format!("{SECURED}_{listener}_PORT"), port.to_string());
        }
        command.env(format!("{SECURED}_CERTIFICATES"), certificates::folder(&self.broker.folder));
    }
}

/// Ends a broker that an earlier task started.
///
/// # Errors
/// If it survives even the kill.
pub(super) fn end(state: &State) -> Result<()> {
    process::end(NAME, state.pid, Signal::TERM, || Ok(!process::alive(state.pid)))
}

/// Starts the process of a broker whose settings and disk are there. It logs to an empty file.
///
/// # Errors
/// If it cannot be started.
pub(super) fn start_process(folder: &Path, java: &Path, jars: &Path, options: &[&str]) -> Result<Child> {
    let log = File::create(config::log_file(folder)).context("cannot make the broker's log")?;
    let mut command = java_command(folder, java, jars);
    command
        .args(options)
        .args(["-XX:+ExitOnOutOfMemoryError", "kafka.Kafka"])
        .arg(config::properties_file(folder))
        .stderr(log.try_clone()?)
        .stdout(log);
    process::spawn_in_own_group(&mut command)
}

/// Waits until a broker that was started answers.
///
/// # Errors
/// If it ends, or takes too long; on Ctrl-C.
pub(super) fn await_ready(folder: &Path, child: &mut Child) -> Result<()> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        process::check_interrupted()?;
        let log = log(folder);
        if log.contains(READY) {
            return Ok(());
        }
        let trouble = if let Some(status) = child.try_wait()? {
            format!("the broker ended while it started: {status}")
        } else if Instant::now() >= deadline {
            format!("the broker did not start within {} s", START_DEADLINE.as_secs())
        } else {
            thread::sleep(POLL);
            continue;
        };
        let file = config::log_file(folder);
        bail!("{trouble}. From {}:\n{}", file.display(), extract(&log));
    }
}

/// Makes the disk of a broker empty and ready.
///
/// # Errors
/// If it cannot be emptied or prepared.
pub(super) fn format_storage(folder: &Path, kind: Kind, java: &Path, jars: &Path) -> Result<()> {
    let data = config::data_folder(folder);
    if data.exists() {
        fs::remove_dir_all(&data).context("cannot empty the broker's disk")?;
    }
    let mut command = java_command(folder, java, jars);
    command
        .args(["kafka.tools.StorageTool", "format"])
        // Any 16 bytes do: no cluster outlives its tests.
        .args(["--cluster-id", "YmFiZWxxdWV1ZS10ZXN0cw", "--config"])
        .arg(config::properties_file(folder));
    if kind == Kind::Secured {
        for account in
            ["SCRAM-SHA-256=[name=alice,password=alice-secret]", "SCRAM-SHA-512=[name=alice,password=alice-secret]"]
        {
            command.args(["--add-scram", account]);
        }
    }
    process::run_quiet(&mut command).context("cannot prepare the broker's disk")?;
    Ok(())
}

fn java_command(folder: &Path, java: &Path, jars: &Path) -> Command {
    let mut command = Command::new(java);
    command
        .current_dir(folder)
        .arg("-cp")
        .arg(jars.join("*"))
        .arg(format!("-Dlog4j2.configurationFile={}", config::log_settings_file(folder).display()));
    command
}

fn log(folder: &Path) -> String {
    let bytes = fs::read(config::log_file(folder)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the log says about a failed start: its first complaints, which a long orderly shutdown
/// follows; without any, its end.
fn extract(log: &str) -> String {
    let complaints: Vec<&str> = log.lines().filter(|line| !line.contains("] INFO ")).collect();
    if complaints.is_empty() {
        let all: Vec<&str> = log.lines().collect();
        all[all.len().saturating_sub(EXTRACT_LINES)..].join("\n")
    } else {
        complaints[..complaints.len().min(EXTRACT_LINES)].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{EXTRACT_LINES, extract};

    #[test]
    fn a_failed_start_shows_the_first_complaint_and_no_chatter() {
        let chatter = "[now] INFO stopping (a.B)\n".repeat(100);
        let log = format!("{chatter}[now] ERROR port taken (a.B)\n  at a.B\n{chatter}");
        assert_eq!(extract(&log), "[now] ERROR port taken (a.B)\n  at a.B");
    }

    #[test]
    fn a_start_that_hangs_without_complaint_shows_the_end_of_the_log() {
        let log: String = (0..100).map(|n| format!("[now] INFO step {n} (a.B)\n")).collect();
        let shown = extract(&log);
        assert_eq!(shown.lines().count(), EXTRACT_LINES);
        assert!(shown.ends_with("step 99 (a.B)"), "{shown}");
    }

    #[test]
    fn an_empty_log_is_no_trouble() {
        assert_eq!(extract(""), "");
    }
}
