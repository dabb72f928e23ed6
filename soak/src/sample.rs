//! What this process takes of its machine, as Linux tells it.

use std::{fs, io};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Resident memory in bytes.
    pub(crate) resident: u64,
    /// The most that it ever was.
    pub(crate) peak: u64,
    /// Open file handles.
    pub(crate) files: u64,
    pub(crate) threads: u64,
}

impl Sample {
    /// # Errors
    ///
    /// There is no `/proc`.
    pub(crate) fn take() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        // Less the one that is open while they are counted.
        let files = (fs::read_dir("/proc/self/fd")?.count() as u64).saturating_sub(1);
        Self::read(&status, files).ok_or_else(|| io::Error::other("/proc/self/status is not as it was expected"))
    }

    fn read(status: &str, files: u64) -> Option<Self> {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        Some(Self {
            resident: field("VmRSS:")? * 1024,
            peak: field("VmHWM:")? * 1024,
            files,
            threads: field("Threads:")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_status_is_read() {
        let status = "Name:\tsoak\nVmHWM:\t   20 kB\nVmRSS:\t    10 kB\nThreads:\t7\n";
        let sample = Sample { resident: 10_240, peak: 20_480, files: 5, threads: 7 };
        assert_eq!(Sample::read(status, 5), Some(sample));
        assert_eq!(Sample::read("Name:\tsoak\n", 5), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn open_files_are_counted() {
        let open: Vec<_> = (0..100).map(|_| File::open("/proc/self/status").unwrap()).collect();
        let with = Sample::take().unwrap();
        drop(open);
        let without = Sample::take().unwrap();
        assert!(with.files >= without.files + 50, "{with:?} {without:?}");
        assert!(without.resident > 0 && without.peak >= without.resident && without.threads > 0);
    }
}
