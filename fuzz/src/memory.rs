//! The memory that this process takes, in MiB, where the operating system tells it in `/proc`.

use std::fs;

pub(crate) fn now() -> Option<u64> {
    status("VmRSS:")
}

pub(crate) fn peak() -> Option<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| kibibytes / 1024)
}
