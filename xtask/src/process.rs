//! Child processes, and what Ctrl-C does to them.
//!
//! Every child runs in a process group of its own. On Ctrl-C the handler ends that whole group (a
//! signal to `cargo` alone would leave the test program behind), the waiting command returns an
//! error, and the guards up the stack, such as a started broker, clean up on the way out.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

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

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
