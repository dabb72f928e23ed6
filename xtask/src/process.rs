//! Child processes, and what Ctrl-C does to them.
//!
//! Every child runs in a process group of its own. On Ctrl-C the handler ends that whole group (a
//! signal to `cargo` alone would leave the test program behind), the waiting command returns an
//! error, and the guards up the stack, such as a started broker, clean up on the way out.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// An orderly end of a server takes a second or two.
const STOP_DEADLINE: Duration = Duration::from_secs(20);
const KILL_DEADLINE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(50);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Process group of the running child, 0 when there is none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Installs the handler for SIGINT, SIGTERM and SIGHUP. A second signal kills what the first one
/// only asked to end.
///
/// # Errors
/// If the operating system refuses the handler.
pub(crate) fn handle_interrupts() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot handle Ctrl-C")?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let again = INTERRUPTED.swap(true, Ordering::SeqCst);
            signal_running(if again { Signal::KILL } else { Signal::TERM });
        }
    });
    Ok(())
}

/// Whether the developer asked this program to end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// # Errors
/// If the developer asked this program to end.
pub(crate) fn check_interrupted() -> Result<()> {
    if interrupted() {
        bail!("interrupted");
    }
    Ok(())
}

fn signal_running(signal: Signal) {
    signal_group(RUNNING.load(Ordering::SeqCst), signal);
}

/// Sends a signal to a child and to the processes that it started.
pub(crate) fn signal_group(pid: i32, signal: Signal) {
    // `from_raw` takes 0 for none.
    if let Some(group) = Pid::from_raw(pid) {
        // It may have ended in the meantime: nothing is left to do then.
        let _ = kill_process_group(group, signal);
    }
}

/// Runs a command whose output goes to the developer, and waits for its end.
///
/// # Errors
/// If it cannot be started, or on Ctrl-C. A command that fails is no error here: see the status.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus> {
    let child = spawn_in_own_group(command)?;
    supervise(child, |child| child.wait())
}

/// Runs a command that must succeed, its output going to the developer.
///
/// # Errors
/// If it cannot be started or fails.
pub(crate) fn run_ok(command: &mut Command) -> Result<()> {
    let status = run(command)?;
    if !status.success() {
        bail!("`{}` failed: {status}", line(command));
    }
    Ok(())
}

/// Runs a command that must succeed, and shows its output only if it does not. Returns the output.
///
/// # Errors
/// If it cannot be started or fails; the error carries what it printed.
pub(crate) fn run_quiet(command: &mut Command) -> Result<String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn_in_own_group(command)?;
    let stdout = child.stdout.take();
    let output = supervise(child, |child| {
        // Both pipes must be drained at the same time, or a full one would block the child.
        let printed = std::thread::spawn(move || stdout.map(std::io::read_to_string).transpose());
        let complained = child.stderr.take().map(std::io::read_to_string).transpose();
        let printed = printed.join().unwrap_or(Ok(None));
        Ok((child.wait()?, printed?.unwrap_or_default(), complained?.unwrap_or_default()))
    });
    let (status, printed, complained) = output?;
    if !status.success() {
        bail!("`{}` failed: {status}\n{printed}{complained}", line(command));
    }
    Ok(printed)
}

/// Starts a command in a process group of its own, so that it does not get the terminal's Ctrl-C.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn spawn_in_own_group(command: &mut Command) -> Result<Child> {
    check_interrupted()?;
    command.stdin(Stdio::null()).process_group(0).spawn().with_context(|| format!("cannot start `{}`", line(command)))
}

/// As [`spawn_in_own_group`], with pipes to ask and to answer.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn spawn_in_conversation(command: &mut Command) -> Result<Child> {
    check_interrupted()?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    command.spawn().with_context(|| format!("cannot start `{}`", line(command)))
}

/// Waits for a child in the given way; on Ctrl-C its whole group ends.
///
/// # Errors
/// If waiting fails, or on Ctrl-C.
pub(crate) fn supervise<T>(mut child: Child, wait: impl FnOnce(&mut Child) -> std::io::Result<T>) -> Result<T> {
    RUNNING.store(raw_pid(&child), Ordering::SeqCst);
    if interrupted() {
        // The signal came between the start and the line above.
        signal_running(Signal::TERM);
    }
    let outcome = wait(&mut child);
    RUNNING.store(0, Ordering::SeqCst);
    check_interrupted()?;
    Ok(outcome?)
}

/// The child's process id in the form that signals take.
pub(crate) fn raw_pid(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or(0)
}

/// Sends a signal to one process; false if there is no such process.
pub(crate) fn signal(pid: i32, signal: Signal) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Ends a server: asks with a signal, waits, then kills.
///
/// # Errors
/// If it survives even the kill.
pub(crate) fn end(name: &str, pid: i32, ask: Signal, mut ended: impl FnMut() -> Result<bool>) -> Result<()> {
    for (how, patience) in [(ask, STOP_DEADLINE), (Signal::KILL, KILL_DEADLINE)] {
        let deadline = Instant::now() + patience;
        signal(pid, how);
        while Instant::now() < deadline {
            if ended()? {
                return Ok(());
            }
            thread::sleep(POLL);
        }
    }
    bail!("{name} (process {pid}) does not end")
}

/// Whether the process has not ended. One that ended but was not collected by its parent has; one
/// that is still giving back its memory and ports has not.
pub(crate) fn alive(pid: i32) -> bool {
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

/// The program and arguments of a process; empty if there is none.
pub(crate) fn command_line(pid: i32) -> String {
    let line = if Path::new("/proc/self/cmdline").exists() {
        fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
    } else {
        let listed = Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
        listed.map(|output| output.stdout).unwrap_or_default()
    };
    String::from_utf8_lossy(&line).into_owned()
}

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
