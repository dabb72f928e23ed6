//! The processes that take the turns: this program, and others where `cargo xtask bench` has found them.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    cases::Program,
    sides::{self, Error, TURN, Task, Turn, Work},
};

const PYTHON_SIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/rivals/python.py");

pub(crate) struct Programs {
    own: PathBuf,
    /// This one with an allocator that counts.
    counted: Option<PathBuf>,
    rust_stream: Option<PathBuf>,
    python: Option<PathBuf>,
    valgrind: Option<PathBuf>,
}

impl Programs {
    pub(crate) fn find() -> Result<Self, Error> {
        let named = |name: &str| env::var_os(format!("BABELQUEUE_BENCH_{name}")).map(PathBuf::from);
        Ok(Self {
            own: env::current_exe()?,
            counted: named("COUNTED"),
            rust_stream: named("RUSTSTREAM"),
            python: named("PYTHON"),
            valgrind: named("VALGRIND"),
        })
    }

    /// What a program's turn took, or nothing if there is no such program.
    pub(crate) fn take(&self, program: Program, task: &Task) -> Result<Option<Turn>, Error> {
        let command = match program {
            Program::Own(work) => Some(own(Command::new(&self.own), work, task)?),
            Program::RustStream { same } => {
                let rival = |program| rival(program, &[if same { "same" } else { "default" }], task);
                self.rust_stream.as_deref().map(rival).transpose()?
            }
            Program::Python => self.python.as_deref().map(|python| rival(python, &[PYTHON_SIDE], task)).transpose()?,
        };
        let Some(mut command) = command else { return Ok(None) };
        let told = run(&mut command)?;
        let turn = told.lines().find_map(turn).ok_or_else(|| format!("{command:?} printed no turn: {told}"))?;
        Ok(Some(turn))
    }

    /// How often a turn has the Rust side allocate, its beginning and end included.
    pub(crate) fn allocations(&self, work: Work, task: &Task) -> Result<Option<f64>, Error> {
        let Some(counted) = &self.counted else { return Ok(None) };
        let told = run(&mut own(Command::new(counted), work, task)?)?;
        Ok(number_behind("allocations", &told))
    }

    /// The instructions of a turn, its beginning and end included.
    pub(crate) fn instructions(&self, work: Work, task: &Task) -> Result<Option<f64>, Error> {
        let Some(valgrind) = &self.valgrind else { return Ok(None) };
        let mut command = Command::new(valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]).arg(&self.own);
        let told = run(&mut own(command, work, task)?)?;
        Ok(number_behind("Collected :", &told))
    }
}

fn own(mut program: Command, work: Work, task: &Task) -> Result<Command, Error> {
    program.arg(TURN).arg(serde_json::to_string(&(work, task))?);
    Ok(program)
}

fn rival(program: &Path, words: &[&str], task: &Task) -> Result<Command, Error> {
    let Task { topic, group, records, .. } = task;
    let mut command = Command::new(program);
    command.args(words).args([&sides::brokers()?, topic, group, &records.to_string()]);
    Ok(command)
}

/// Runs a command and returns what it printed.
fn run(command: &mut Command) -> Result<String, Error> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads what a turn was printed as.
fn turn(line: &str) -> Option<Turn> {
    let mut numbers = line.strip_prefix("turn ")?.split(' ').map(str::parse);
    let mut next = || numbers.next()?.ok();
    let (wall, cpu) = (Duration::from_micros(next()?), Duration::from_micros(next()?));
    Some(Turn { wall, cpu, peak: next()? })
}

fn number_behind(name: &str, told: &str) -> Option<f64> {
    let (_, rest) = told.rsplit_once(name)?;
    rest.split_whitespace().next()?.parse().ok()
}
