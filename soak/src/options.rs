//! What the command line asks for.

use std::time::Duration;

pub(crate) const USAGE: &str = "[--minutes N] [--seed N]";

#[derive(Debug)]
pub(crate) struct Options {
    /// How long the load lasts.
    pub(crate) time: Duration,
    pub(crate) seed: u64,
}

impl Options {
    pub(crate) fn read(words: &[String]) -> Option<Self> {
        let mut minutes = 30;
        // Short, as it is typed again.
        let mut seed = u64::from(rand::random::<u32>());
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let value = words.next()?;
            match word {
                "--minutes" => minutes = value.parse().ok().filter(|minutes| (1..=MOST_MINUTES).contains(minutes))?,
                "--seed" => seed = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(Self { time: Duration::from_secs(60 * minutes), seed })
    }
}

/// A week.
const MOST_MINUTES: u64 = 7 * 24 * 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Options> {
        Options::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn half_an_hour_unless_told_otherwise() {
        assert_eq!(read("").map(|options| options.time.as_secs()), Some(1800));
        let options = read("--minutes 2 --seed 7").unwrap();
        assert_eq!((options.time.as_secs(), options.seed), (120, 7));
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for line in ["--minutes 0", "--minutes 10081", "--minutes 1.5", "--seed", "--records 5"] {
            assert!(read(line).is_none(), "{line}");
        }
    }
}
