//! The judge: reads the ledger's lines in their order and says what breaks a promise.
//!
//! - Lost: at the end a number that no handler succeeded with, or that always fails and is no dead letter.
//! - Committed past unfinished work: `records.rs`.
//! - Order among deliveries: `turn.rs` within an assignment; among first deliveries, whoever they go to, a record is begun
//!   when every earlier one of its partition (or key) has been handled or has failed.
//! - Order among successes: of the records that never fail, each is handled for the first time before the later ones of its
//!   partition (or key) are.
//! - Delivered again: never what was known to be committed when the partition was assigned, so the rest is bounded by what
//!   was in flight then.
//! - Stalls: `stall.rs`, for each partition while enough brokers are up to write and to commit; for each topic with all that
//!   belongs to it while all are up, as its retry topics have one replica.
//! - Early: a record comes back from its retry topic no earlier than it is due.
//! - Held: of a partition no more records wait in a member for their handlers than its queue takes.

mod fates;
mod records;
mod retries;
mod stall;
mod successes;
#[cfg(test)]
mod tests;
mod topic;
mod turn;

use std::time::Duration;

use self::topic::Topic;
use crate::{
    line::Line,
    plan::{Order, Plan},
};

/// What breaks a promise, by the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    Lost,
    PastUnfinished,
    OrderOfDeliveries,
    OrderOfSuccesses,
    AgainThoughCommitted,
    Stall,
    Early,
    Held,
    /// Published twice, a dead letter without a reason, never committed.
    Other,
}

impl Promise {
    pub(crate) const ALL: [Self; 9] = [
        Self::Lost,
        Self::PastUnfinished,
        Self::OrderOfDeliveries,
        Self::OrderOfSuccesses,
        Self::AgainThoughCommitted,
        Self::Stall,
        Self::Early,
        Self::Held,
        Self::Other,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::PastUnfinished => "committed past unfinished work",
            Self::OrderOfDeliveries => "order breaks, deliveries",
            Self::OrderOfSuccesses => "order breaks, successes",
            Self::AgainThoughCommitted => "delivered again though committed",
            Self::Stall => "stalls over 30 s",
            Self::Early => "back from a retry topic too early",
            Self::Held => "more held than the queue takes",
            Self::Other => "otherwise wrong",
        }
    }
}

/// A broken promise.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) promise: Promise,
    pub(crate) text: String,
}

/// Figures that are printed at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) handled: u64,
    pub(crate) failed: u64,
    /// Handlers that ended with a record with which one had ended before.
    pub(crate) again: u64,
    /// Those among them by a member whose partition was another's by then.
    pub(crate) again_elsewhere: u64,
    /// What was begun and not committed at the beginnings of turns, all together: the most that could be handled again.
    pub(crate) in_flight: u64,
    /// Copies of retries, which come of writes without an answer and of members that ended before their commit.
    pub(crate) copies: u64,
    pub(crate) dead: u64,
    pub(crate) turns: u64,
    pub(crate) write_failures: u64,
    pub(crate) commit_failures: u64,
    pub(crate) commits_back: u64,
    /// The most records of one partition that waited in a member for their handlers.
    pub(crate) held: u64,
}

/// How far the run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Numbers whose fate is as planned.
    pub(crate) settled: u64,
    /// Records with which no handler has ended, or that are not committed, as far as it is known.
    pub(crate) behind: u64,
}

pub(crate) struct Judge {
    topics: Vec<Topic>,
    faults: Vec<Fault>,
    /// Whether there are enough brokers to get on with anything.
    able: bool,
    /// Whether all brokers are up.
    all: bool,
}

impl Judge {
    /// Of a run with these topics, each with so many records.
    pub(crate) fn new(plan: Plan, topics: &[(Order, u64)]) -> Self {
        let topics = topics.iter().map(|(order, records)| Topic::new(plan, *order, *records)).collect();
        Self { topics, faults: Vec::new(), able: true, all: true }
    }

    /// Takes in the next line, which is read now.
    pub(crate) fn take(&mut self, now: Duration, line: &Line) {
        let order = match line {
            Line::Assigned { at, .. }
            | Line::Left { at, .. }
            | Line::Holds { at, .. }
            | Line::Started { at, .. }
            | Line::Ended { at, .. }
            | Line::Committed { at, .. }
            | Line::End { at, .. } => at.order,
            Line::WriteFailed { order, .. }
            | Line::CommitFailed { order, .. }
            | Line::Waits { order, .. }
            | Line::Dead { order, .. }
            | Line::Published { order, .. } => *order,
            Line::Brokers { able, all } => {
                self.look(now);
                (self.able, self.all) = (*able, *all);
                return;
            }
            Line::Over => return,
        };
        let Some(topic) = self.topics.iter_mut().find(|topic| topic.order() == order) else { return };
        topic.take(now, line, &mut self.faults);
    }

    /// Looks for stalls.
    pub(crate) fn look(&mut self, now: Duration) {
        for topic in &mut self.topics {
            topic.look(now, (self.able, self.all), &mut self.faults);
        }
    }

    /// Says what is missing at the end.
    pub(crate) fn close(&mut self) {
        for topic in &mut self.topics {
            topic.close(&mut self.faults);
        }
    }

    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn state(&mut self) -> State {
        let mut state = State::default();
        for topic in &mut self.topics {
            state.settled += topic.settled();
            state.behind += topic.behind();
        }
        state
    }

    /// The figures of each topic, and its longest stall.
    pub(crate) fn figures(&self) -> Vec<(Order, Figures, Duration)> {
        self.topics.iter().map(|topic| (topic.order(), topic.figures(), topic.longest_stall())).collect()
    }
}
