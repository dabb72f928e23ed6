//! The records of one partition, by their offsets: what has ended, and so what may be committed.

/// What is known of the record at one offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// Its number and its earlier failures, once it was delivered.
    pub(super) what: Option<(u64, u32)>,
    /// How often a handler has ended with it.
    pub(super) ended: u32,
    pub(super) handled: bool,
}

#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<Record>,
    /// Up to here a handler has ended with every record.
    all_ended: usize,
    committed: usize,
}

impl Records {
    pub(super) fn at(&mut self, offset: i64) -> &mut Record {
        let index = usize::try_from(offset).unwrap_or_default();
        if index >= self.records.len() {
            self.records.resize(index + 1, Record::default());
        }
        &mut self.records[index]
    }

    /// The first offset with which no handler has ended.
    pub(super) fn first_unended(&mut self) -> i64 {
        while self.records.get(self.all_ended).is_some_and(|record| record.ended > 0) {
            self.all_ended += 1;
        }
        self.all_ended.try_into().unwrap_or(i64::MAX)
    }

    pub(super) fn committed(&self) -> i64 {
        self.committed.try_into().unwrap_or(i64::MAX)
    }

    /// How many records from the committed offset on a handler has begun with.
    pub(super) fn in_flight(&self) -> usize {
        self.records.iter().skip(self.committed).filter(|record| record.what.is_some()).count()
    }

    /// This offset is committed. The rule: a handler has succeeded with every record before it, or has failed and
    /// `lies_elsewhere` knows of the record's next place. Returns the first offset that breaks it.
    pub(super) fn commit(
        &mut self,
        offset: i64,
        mut lies_elsewhere: impl FnMut(u64, u32) -> bool,
    ) -> Result<(), (i64, Record)> {
        let offset = usize::try_from(offset).unwrap_or_default();
        for index in self.committed..offset {
            let record = self.records.get(index).copied().unwrap_or_default();
            let finished = match record {
                Record { handled: true, .. } => true,
                Record { ended: 1.., what: Some((number, attempts)), .. } => lies_elsewhere(number, attempts),
                _ => false,
            };
            if !finished {
                // What lies before it was looked at; the rest is looked at next time.
                self.committed = index + 1;
                return Err((index.try_into().unwrap_or(i64::MAX), record));
            }
        }
        self.committed = self.committed.max(offset);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(records: &mut Records, offset: i64, handled: bool) {
        *records.at(offset) = Record { what: Some((offset.cast_unsigned(), 0)), ended: 1, handled };
    }

    #[test]
    fn what_has_ended_may_be_committed() {
        let mut records = Records::default();
        end(&mut records, 1, true);
        assert_eq!(records.first_unended(), 0);
        end(&mut records, 0, true);
        assert_eq!((records.first_unended(), records.in_flight()), (2, 2));
        assert!(records.commit(2, |_, _| false).is_ok());
        assert_eq!((records.committed(), records.in_flight()), (2, 0));
    }

    #[test]
    fn a_commit_past_what_has_not_ended_is_told_with_its_offset() {
        let mut records = Records::default();
        end(&mut records, 0, true);
        records.at(1).what = Some((1, 0));
        end(&mut records, 2, true);
        assert_eq!(records.commit(3, |_, _| true).unwrap_err().0, 1);
        assert!(records.commit(3, |_, _| true).is_ok());
        assert_eq!(records.commit(4, |_, _| true).unwrap_err().0, 3);
    }

    #[test]
    fn a_failed_record_may_be_committed_once_it_lies_elsewhere() {
        let mut records = Records::default();
        end(&mut records, 0, false);
        assert_eq!(records.commit(1, |_, _| false).unwrap_err().0, 0);
        let mut records = Records::default();
        end(&mut records, 0, false);
        assert!(records.commit(1, |number, attempts| (number, attempts) == (0, 0)).is_ok());
    }

    #[test]
    fn a_commit_that_goes_back_changes_nothing() {
        let mut records = Records::default();
        end(&mut records, 0, true);
        assert!(records.commit(1, |_, _| false).is_ok() && records.commit(0, |_, _| false).is_ok());
        assert_eq!(records.committed(), 1);
    }
}
