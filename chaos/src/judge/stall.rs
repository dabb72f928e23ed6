//! Whether something that has work to do gets on with it.

use std::time::Duration;

/// Longer than the longest that an assignment, a leader or a writer may take here.
const LONGEST: Duration = Duration::from_secs(30);

/// The rule: while there is work, something ends at least every 30 s.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// Since when there is work and nothing has ended.
    since: Option<Duration>,
    longest: Duration,
    told: bool,
}

impl Stall {
    /// Something has ended.
    pub(super) fn moved(&mut self, now: Duration) {
        self.look(now, true);
        if self.since.is_some() {
            self.since = Some(now);
        }
        self.told = false;
    }

    /// Whether there is work now. True once for each stall that is too long.
    pub(super) fn look(&mut self, now: Duration, work: bool) -> bool {
        if let Some(since) = self.since {
            self.longest = self.longest.max(now.saturating_sub(since));
        }
        if !work {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let stalled = now.saturating_sub(since) > LONGEST && !self.told;
        self.told |= stalled;
        stalled
    }

    pub(super) fn longest(&self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn thirty_seconds_with_work_and_no_end_are_a_stall_told_once() {
        let mut stall = Stall::default();
        assert!(!stall.look(at(100), true));
        assert!(!stall.look(at(130), true));
        assert!(stall.look(at(131), true));
        assert!(!stall.look(at(140), true));
        assert_eq!(stall.longest(), at(40));
    }

    #[test]
    fn without_work_time_does_not_count() {
        let mut stall = Stall::default();
        assert!(!stall.look(at(0), false));
        assert!(!stall.look(at(100), true));
        assert!(!stall.look(at(110), false));
        assert!(!stall.look(at(200), true));
        assert_eq!(stall.longest(), at(10));
    }

    #[test]
    fn what_ends_begins_the_time_anew() {
        let mut stall = Stall::default();
        assert!(!stall.look(at(0), true));
        stall.moved(at(25));
        assert!(!stall.look(at(50), true));
        assert!(stall.look(at(56), true));
        assert_eq!(stall.longest(), at(31));
    }
}
