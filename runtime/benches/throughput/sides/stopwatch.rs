//! What a turn takes of the process that it has to itself. The rivals include this file, so that all are measured alike.

use std::{
    fmt, fs,
    time::{Duration, Instant},
};

/// What one turn took.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    /// Resident memory at its highest since the process began, in KiB.
    pub(crate) peak: u64,
}

/// The line by which a process tells its turn.
impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wall, cpu, peak } = self;
        write!(f, "turn {} {} {peak}", wall.as_micros(), cpu.as_micros())
    }
}

pub(crate) struct Stopwatch {
    start: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { cpu: cpu(), start: Instant::now() }
    }

    pub(crate) fn stop(&self) -> Turn {
        Turn { wall: self.start.elapsed(), cpu: cpu().saturating_sub(self.cpu), peak: peak() }
    }
}

/// Time of the process's threads on a processor, where the system tells.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name in parentheses: user and system time are the 12th and 13th field, in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
