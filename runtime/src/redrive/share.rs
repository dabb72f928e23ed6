//! This member's share of the dead-letter topic, and whether all of it has ended: pure.

use std::{collections::HashMap, sync::Arc};

use super::worker::Reached;
use crate::{kafka::Progress, record::TopicPartition};

#[derive(Default)]
pub(super) struct Share {
    /// Whether the group has given this member its share; not between two rebalances.
    assigned: bool,
    /// The present assignments that have not reached their end.
    unfinished: HashMap<TopicPartition, Arc<Progress>>,
}

impl Share {
    pub(super) fn assign<'a>(&mut self, assigned: impl IntoIterator<Item = (&'a TopicPartition, &'a Arc<Progress>)>) {
        self.assigned = true;
        self.unfinished.extend(assigned.into_iter().map(|(at, progress)| (at.clone(), Arc::clone(progress))));
    }

    /// The next assignment says who goes on with them.
    pub(super) fn revoke(&mut self, partitions: &[TopicPartition]) {
        self.assigned = false;
        self.unfinished.retain(|partition, _| !partitions.contains(partition));
    }

    /// A worker has ended. One whose assignment was revoked may end before the member is told, or long after.
    pub(super) fn end(&mut self, partition: &TopicPartition, progress: &Arc<Progress>, reached: Reached) {
        let is_present = |present: &Arc<Progress>| Arc::ptr_eq(present, progress);
        if reached == Reached::End && self.unfinished.get(partition).is_some_and(is_present) {
            self.unfinished.remove(partition);
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.assigned && self.unfinished.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(number: i32) -> (TopicPartition, Arc<Progress>) {
        (TopicPartition { topic: "orders.dlq".into(), partition: number }, Arc::new(Progress::new()))
    }

    #[test]
    fn it_is_over_when_every_partition_of_an_assignment_has_ended() {
        let (first, second) = (partition(0), partition(1));
        let mut share = Share::default();
        assert!(!share.is_over());
        share.assign([(&first.0, &first.1), (&second.0, &second.1)]);
        share.end(&first.0, &first.1, Reached::End);
        assert!(!share.is_over());
        share.end(&second.0, &second.1, Reached::End);
        assert!(share.is_over());
    }

    #[test]
    fn nothing_to_do_is_over_at_once() {
        let mut share = Share::default();
        share.assign([]);
        assert!(share.is_over());
    }

    #[test]
    fn a_rebalance_is_no_end_in_whatever_order_it_is_heard_of() {
        let (at, before) = partition(0);
        let after = Arc::new(Progress::new());
        // The worker ends before the member hears that its assignment was revoked.
        let mut share = Share::default();
        share.assign([(&at, &before)]);
        share.end(&at, &before, Reached::Revoked);
        assert!(!share.is_over());
        share.revoke(std::slice::from_ref(&at));
        assert!(!share.is_over());
        share.assign([(&at, &after)]);
        // A worker of the earlier assignment counts nowhere.
        share.end(&at, &before, Reached::End);
        assert!(!share.is_over());
        share.end(&at, &after, Reached::End);
        assert!(share.is_over());
        // One that had ended may have to be looked at again.
        share.revoke(std::slice::from_ref(&at));
        assert!(!share.is_over());
    }
}
