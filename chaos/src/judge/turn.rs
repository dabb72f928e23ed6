//! The order within one assignment: what one member may begin next on one partition that it was given.

use std::collections::HashMap;

use super::Promise;
use crate::plan::Order;

/// A member's turns on one partition, one after another.
///
/// The rule. Within a turn the offsets ascend: with order by partition each is one greater than the one before and begins
/// when that has ended; with order by key both hold for each key, but that other keys lie between. A turn begins at or
/// behind what was known to be committed when the partition was assigned. The member hears of an assignment while handlers
/// of the turn before may still run: the new turn begins with the first record after that which begins when none runs.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What was committed at the newest assignment, until its turn begins.
    next: Option<i64>,
    base: i64,
    running: u32,
    /// The last offset, and whether it still runs, of the partition or of each key.
    last: HashMap<u64, (i64, bool)>,
}

/// What a beginning was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    OfTurn,
    Within,
}

impl Turn {
    pub(super) fn assigned(&mut self, committed: i64) {
        self.next = Some(committed);
    }

    /// A handler begins; an error says which promise that breaks, and how.
    pub(super) fn started(&mut self, order: Order, offset: i64, key: u64) -> Result<Beginning, (Promise, String)> {
        let beginning = match self.next.take_if(|_| self.running == 0) {
            Some(base) => {
                self.base = base;
                self.last.clear();
                Beginning::OfTurn
            }
            None => Beginning::Within,
        };
        self.running += 1;
        if offset < self.base {
            let text = format!("offset {offset} is delivered again, {} was committed before the assignment", self.base);
            return Err((Promise::AgainThoughCommitted, text));
        }
        let line = line(order, offset, key);
        let Some((last, runs)) = self.last.insert(line, (offset, true)) else { return Ok(beginning) };
        let follows = match order {
            Order::Partition => offset == last + 1,
            Order::Key => offset > last,
            Order::Unordered => true,
        };
        if !follows {
            return Err((Promise::OrderOfDeliveries, format!("offset {offset} begins after {last} in one assignment")));
        }
        if runs {
            return Err((Promise::OrderOfDeliveries, format!("offset {offset} begins while {last} runs")));
        }
        Ok(beginning)
    }

    /// A handler has ended.
    pub(super) fn ended(&mut self, order: Order, offset: i64, key: u64) {
        self.running = self.running.saturating_sub(1);
        if let Some((last, runs)) = self.last.get_mut(&line(order, offset, key))
            && *last == offset
        {
            *runs = false;
        }
    }
}

/// What has to go one after another.
fn line(order: Order, offset: i64, key: u64) -> u64 {
    match order {
        Order::Partition => 0,
        Order::Key => key,
        Order::Unordered => offset.cast_unsigned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a record from its beginning to its end.
    fn one(turn: &mut Turn, order: Order, offset: i64, key: u64) -> Result<Beginning, (Promise, String)> {
        let beginning = turn.started(order, offset, key);
        turn.ended(order, offset, key);
        beginning
    }

    #[test]
    fn by_partition_each_offset_follows_the_one_before() {
        let mut turn = Turn::default();
        turn.assigned(5);
        assert_eq!(one(&mut turn, Order::Partition, 5, 0), Ok(Beginning::OfTurn));
        assert_eq!(one(&mut turn, Order::Partition, 6, 1), Ok(Beginning::Within));
        assert!(one(&mut turn, Order::Partition, 8, 2).unwrap_err().1.contains("8 begins after 6"));
        assert!(one(&mut turn, Order::Partition, 7, 2).unwrap_err().1.contains("7 begins after 8"));
    }

    #[test]
    fn by_key_other_keys_may_lie_between_and_overtake() {
        let mut turn = Turn::default();
        turn.assigned(0);
        assert!(one(&mut turn, Order::Key, 3, 1).is_ok());
        assert!(one(&mut turn, Order::Key, 2, 2).is_ok());
        assert!(one(&mut turn, Order::Key, 7, 1).is_ok());
        assert!(one(&mut turn, Order::Key, 5, 1).unwrap_err().1.contains("5 begins after 7"));
    }

    #[test]
    fn nothing_begins_while_what_it_follows_runs() {
        for (order, key) in [(Order::Partition, 2), (Order::Key, 1)] {
            let mut turn = Turn::default();
            turn.assigned(0);
            assert!(turn.started(order, 0, 1).is_ok());
            assert!(turn.started(order, 1, key).unwrap_err().1.contains("1 begins while 0 runs"), "{order:?}");
        }
        let mut turn = Turn::default();
        assert!(turn.started(Order::Unordered, 0, 1).is_ok() && turn.started(Order::Unordered, 1, 1).is_ok());
    }

    #[test]
    fn a_new_assignment_may_go_back_to_what_was_committed_and_no_further() {
        let mut turn = Turn::default();
        turn.assigned(0);
        for offset in 0..9 {
            assert!(one(&mut turn, Order::Partition, offset, 0).is_ok());
        }
        turn.assigned(6);
        assert_eq!(one(&mut turn, Order::Partition, 6, 0), Ok(Beginning::OfTurn));
        turn.assigned(7);
        assert!(one(&mut turn, Order::Partition, 6, 0).unwrap_err().1.contains("again, 7 was committed"));
    }

    #[test]
    fn what_the_turn_before_still_does_is_not_the_new_turn() {
        let mut turn = Turn::default();
        turn.assigned(0);
        assert!(turn.started(Order::Key, 0, 1).is_ok());
        turn.assigned(0);
        assert_eq!(turn.started(Order::Key, 1, 2), Ok(Beginning::Within));
        turn.ended(Order::Key, 0, 1);
        turn.ended(Order::Key, 1, 2);
        assert_eq!(turn.started(Order::Key, 0, 1), Ok(Beginning::OfTurn));
    }
}
