//! What happened to the records: counts, and for each number whether it was handled.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// All of it is allocated and touched at the start, so that it adds nothing to what is measured.
pub(crate) struct Ledger {
    /// A bit a number.
    handled: Box<[AtomicU64]>,
    pub(crate) published: AtomicU64,
    /// Records, each once however often it is handled.
    pub(crate) handled_once: AtomicU64,
    /// Deliveries of records that had been handled before.
    pub(crate) handled_again: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) retried: AtomicU64,
    pub(crate) dead_lettered: AtomicU64,
    pub(crate) redriven: AtomicU64,
}

impl Ledger {
    /// For at least so many records.
    pub(crate) fn new(records: u64) -> Self {
        let words = records.div_ceil(u64::from(u64::BITS));
        Self {
            handled: (0..words).map(|_| AtomicU64::new(0)).collect(),
            published: AtomicU64::new(0),
            handled_once: AtomicU64::new(0),
            handled_again: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            retried: AtomicU64::new(0),
            dead_lettered: AtomicU64::new(0),
            redriven: AtomicU64::new(0),
        }
    }

    /// How many records it has room for.
    pub(crate) fn room(&self) -> u64 {
        self.handled.len() as u64 * u64::from(u64::BITS)
    }

    /// # Errors
    ///
    /// No record of this number can have been published.
    pub(crate) fn handle(&self, number: u64) -> Result<(), String> {
        let word = usize::try_from(number / u64::from(u64::BITS)).ok().and_then(|index| self.handled.get(index));
        let bit = 1 << (number % u64::from(u64::BITS));
        let before = word.ok_or_else(|| format!("no record has the number {number}"))?.fetch_or(bit, Relaxed);
        let count = if before & bit == 0 { &self.handled_once } else { &self.handled_again };
        count.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Whether everything that was published until now is handled.
    pub(crate) fn is_settled(&self) -> bool {
        self.handled_once.load(Relaxed) >= self.published.load(Relaxed)
    }

    /// What is not as it was promised, once all has come to rest.
    pub(crate) fn faults(&self) -> Vec<String> {
        let count = |count: &AtomicU64| count.load(Relaxed);
        let (published, handled) = (count(&self.published), count(&self.handled_once));
        let mut faults = Vec::new();
        let lost: Vec<_> = (0..published).filter(|number| !self.is_handled(*number)).collect();
        if let Some(first) = lost.first() {
            faults.push(format!("{} of {published} records are lost, first number {first}", lost.len()));
        }
        if handled + lost.len() as u64 > published {
            faults.push(format!("{handled} records are handled and {published} are published"));
        }
        let (failed, settled) = (count(&self.failed), count(&self.retried) + count(&self.dead_lettered));
        if failed != settled {
            faults.push(format!("{failed} deliveries failed, and {settled} were written to other topics"));
        }
        let (dead, redriven) = (count(&self.dead_lettered), count(&self.redriven));
        if dead != redriven {
            faults.push(format!("{dead} records became dead letters, and {redriven} were redriven"));
        }
        faults
    }

    fn is_handled(&self, number: u64) -> bool {
        let word = usize::try_from(number / u64::from(u64::BITS)).ok().and_then(|index| self.handled.get(index));
        word.is_some_and(|word| word.load(Relaxed) & (1 << (number % u64::from(u64::BITS))) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handled(published: u64, numbers: &[u64]) -> Ledger {
        let ledger = Ledger::new(100);
        ledger.published.store(published, Relaxed);
        numbers.iter().for_each(|number| ledger.handle(*number).unwrap());
        ledger
    }

    #[test]
    fn every_number_is_looked_for() {
        let ledger = handled(100, &(0..100).collect::<Vec<_>>());
        assert!(ledger.is_settled() && ledger.faults().is_empty());
        let ledger = handled(70, &(0..70).filter(|number| ![3, 68].contains(number)).collect::<Vec<_>>());
        assert!(!ledger.is_settled());
        assert_eq!(ledger.faults(), ["2 of 70 records are lost, first number 3"]);
    }

    #[test]
    fn a_repetition_makes_up_for_no_lost_record() {
        let ledger = handled(2, &[0, 0, 0]);
        assert_eq!(ledger.handled_again.load(Relaxed), 2);
        assert!(!ledger.is_settled());
        assert_eq!(ledger.faults(), ["1 of 2 records are lost, first number 1"]);
    }

    #[test]
    fn a_record_that_nobody_published_is_told() {
        assert!(handled(1, &[0]).handle(1 << 40).is_err());
        assert_eq!(handled(1, &[0, 5]).faults(), ["2 records are handled and 1 are published"]);
    }

    #[test]
    fn what_failed_went_to_other_topics_and_dead_letters_came_back() {
        let ledger = handled(1, &[0]);
        ledger.failed.store(3, Relaxed);
        ledger.retried.store(2, Relaxed);
        assert_eq!(ledger.faults(), ["3 deliveries failed, and 2 were written to other topics"]);
        ledger.dead_lettered.store(1, Relaxed);
        assert_eq!(ledger.faults(), ["1 records became dead letters, and 0 were redriven"]);
        ledger.redriven.store(1, Relaxed);
        assert!(ledger.faults().is_empty());
    }
}
