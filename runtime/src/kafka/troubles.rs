//! What the connection complains of, told once in a while.

use std::time::{Duration, Instant};

/// How long the same trouble is not told again: without a broker the client complains several times a second.
const QUIET: Duration = Duration::from_secs(5);

/// The codes that were told of late.
#[derive(Default)]
pub(super) struct Troubles(Vec<(String, Instant)>);

impl Troubles {
    /// Whether trouble of this code is worth to be told.
    pub(super) fn are_new(&mut self, code: &str, now: Instant) -> bool {
        self.0.retain(|(_, told)| now.saturating_duration_since(*told) < QUIET);
        let new = self.0.iter().all(|(other, _)| other != code);
        if new {
            self.0.push((code.to_owned(), now));
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_is_told_once_in_a_while_and_another_at_once() {
        let (mut troubles, start) = (Troubles::default(), Instant::now());
        assert!(troubles.are_new("AllBrokersDown", start));
        assert!(troubles.are_new("Resolve", start));
        for code in ["AllBrokersDown", "Resolve"] {
            assert!(!troubles.are_new(code, start + Duration::from_secs(4)));
        }
        assert!(troubles.are_new("AllBrokersDown", start + QUIET));
        assert!(!troubles.are_new("AllBrokersDown", start + QUIET + Duration::from_secs(4)));
    }
}
