//! Watches how long one record has held up a partition. Pure: whoever looks says when it looks.

use std::time::{Duration, Instant};

/// The record that holds up a partition, and since when that is known. No record is timed: the record is the same as at
/// the last look, or another one.
#[derive(Debug, Default)]
pub(super) struct Watch {
    front: Option<Front>,
}

#[derive(Debug)]
struct Front {
    ticket: u64,
    since: Instant,
    stalled: bool,
}

/// What a look has found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The same record for too long, for the first time.
    Stalled,
    /// The record that held up the partition too long is finished.
    Recovered,
}

impl Watch {
    /// `front` is the ticket of the first record that is not finished.
    pub(super) fn look(&mut self, front: Option<u64>, now: Instant, timeout: Duration) -> Option<Change> {
        match &mut self.front {
            Some(old) if front == Some(old.ticket) => {
                let stalled = now.saturating_duration_since(old.since) >= timeout;
                let new = stalled && !old.stalled;
                old.stalled |= stalled;
                new.then_some(Change::Stalled)
            }
            old => {
                let new = front.map(|ticket| Front { ticket, since: now, stalled: false });
                let recovered = std::mem::replace(old, new).is_some_and(|front| front.stalled);
                recovered.then_some(Change::Recovered)
            }
        }
    }

    /// For how long this record has held up the partition, and whether that is too long.
    pub(super) fn of(&self, ticket: u64, now: Instant) -> (Duration, bool) {
        match &self.front {
            Some(front) if front.ticket == ticket => (now.saturating_duration_since(front.since), front.stalled),
            // Not yet seen by a look.
            _ => (Duration::ZERO, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_stays_the_first_unfinished_one_is_told_once_and_so_is_its_end() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let timeout = Duration::from_secs(60);
        let mut watch = Watch::default();
        assert_eq!(watch.look(Some(4), at(0), timeout), None);
        assert_eq!(watch.look(Some(4), at(59), timeout), None);
        assert_eq!(watch.of(4, at(59)), (Duration::from_secs(59), false));
        assert_eq!(watch.look(Some(4), at(60), timeout), Some(Change::Stalled));
        assert_eq!(watch.look(Some(4), at(90), timeout), None);
        assert_eq!(watch.of(4, at(90)), (Duration::from_secs(90), true));
        assert_eq!(watch.look(Some(5), at(91), timeout), Some(Change::Recovered));
        assert_eq!(watch.of(5, at(91)), (Duration::ZERO, false));
        assert_eq!(watch.look(None, at(200), timeout), None);
        assert_eq!(watch.look(Some(6), at(300), timeout), None, "it was not waited for before it came");
    }

    #[test]
    fn records_that_take_turns_never_stall_a_partition() {
        let start = Instant::now();
        let mut watch = Watch::default();
        for ticket in 0..100 {
            let now = start + Duration::from_secs(50) * u32::try_from(ticket).unwrap();
            assert_eq!(watch.look(Some(ticket), now, Duration::from_secs(60)), None);
        }
    }
}
