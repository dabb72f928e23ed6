//! The judgement of one work topic with its retry topics and its dead-letter topic.

use std::{collections::HashMap, time::Duration};

use super::{
    Fault, Figures, Promise,
    fates::Fates,
    records::{Record, Records},
    retries::Retries,
    stall::Stall,
    successes::Successes,
    turn::{Beginning, Turn},
};
use crate::{
    line::{Line, Place},
    plan::{KEYS, Order, PARTITIONS, Plan},
};

/// How many records of a partition may wait in a member for their handlers: a batch more than what makes it pause. By key
/// those count as well that were taken and wait for others of their key, a batch more than what may be under way at one
/// time; unordered, those of the batch that is being begun.
fn held_at_most(order: Order) -> u64 {
    let taken = match order {
        Order::Partition => 0,
        Order::Key => 16_384 + 256,
        Order::Unordered => 256,
    };
    4096 + 256 + taken
}

pub(super) struct Topic {
    order: Order,
    fates: Fates,
    retries: Retries,
    successes: Successes,
    partitions: Vec<Partition>,
    /// By member and partition.
    turns: HashMap<(u32, i32), Turn>,
    published: u64,
    stall: Stall,
    figures: Figures,
}

#[derive(Default)]
struct Partition {
    records: Records,
    end: i64,
    /// The member that was given it last.
    owner: Option<u32>,
    stall: Stall,
}

/// A delivery to a handler.
#[derive(Clone, Copy)]
struct Delivered {
    member: u32,
    at: Place,
    offset: i64,
    number: u64,
    attempts: u32,
}

impl Topic {
    pub(super) fn new(plan: Plan, order: Order, records: u64) -> Self {
        Self {
            order,
            fates: Fates::new(plan, records),
            retries: Retries::default(),
            successes: Successes::default(),
            partitions: (0..PARTITIONS).map(|_| Partition::default()).collect(),
            turns: HashMap::new(),
            published: 0,
            stall: Stall::default(),
            figures: Figures::default(),
        }
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    pub(super) fn settled(&self) -> u64 {
        self.fates.settled()
    }

    pub(super) fn figures(&self) -> Figures {
        Figures { copies: self.retries.copies(), ..self.figures }
    }

    /// Records that have not ended or are not committed, as far as it is known.
    pub(super) fn behind(&mut self) -> u64 {
        let behind = |partition: &mut Partition| {
            let done = partition.records.first_unended().min(partition.records.committed());
            partition.end.saturating_sub(done).max(0).cast_unsigned()
        };
        self.partitions.iter_mut().map(behind).sum()
    }

    pub(super) fn longest_stall(&self) -> Duration {
        let partitions = self.partitions.iter().map(|partition| partition.stall.longest());
        partitions.chain([self.stall.longest()]).max().unwrap_or_default()
    }

    pub(super) fn take(&mut self, now: Duration, line: &Line, faults: &mut Vec<Fault>) {
        let mut fault = |promise, text| faults.push(Fault { promise, text });
        let name = self.order.name();
        match *line {
            Line::Assigned { member, at } => {
                let Some(partition) = self.partition(at) else { return };
                partition.owner = Some(member);
                let committed = partition.records.committed();
                self.turns.entry((member, at.partition)).or_default().assigned(committed);
            }
            Line::Left { .. } | Line::Brokers { .. } | Line::Over => {}
            Line::Holds { member, at, waiting } => {
                self.figures.held = self.figures.held.max(waiting);
                if waiting > held_at_most(self.order) {
                    fault(Promise::Held, format!("{at}, member {member}: {waiting} records wait for their handlers"));
                }
            }
            Line::Started { member, at, offset, number, attempts, written } => {
                self.started(Delivered { member, at, offset, number, attempts }, &mut fault);
                if attempts > 0
                    && let Err(early) = self.retries.came_back(number, attempts, written)
                {
                    fault(Promise::Early, format!("{name}, number {number}: {early} ms"));
                }
            }
            Line::Ended { member, at, offset, well } => self.ended(now, member, at, offset, well, &mut fault),
            Line::WriteFailed { .. } => self.figures.write_failures += 1,
            Line::CommitFailed { .. } => self.figures.commit_failures += 1,
            Line::Waits { number, attempts, due, .. } => {
                if let Err(early) = self.retries.waits(number, attempts, due) {
                    fault(Promise::Early, format!("{name}, number {number}: {early} ms"));
                }
            }
            Line::Dead { number, .. } => {
                self.figures.dead += 1;
                self.stall.moved(now);
                if let Err(text) = self.fates.dead(number) {
                    fault(Promise::Other, format!("{name}, number {number} {text}"));
                }
            }
            Line::Committed { at, offset, seen } => self.committed(at, offset, seen, &mut fault),
            Line::End { at, offset } => {
                if let Some(partition) = self.partition(at) {
                    partition.end = partition.end.max(offset);
                }
            }
            Line::Published { count, .. } => self.published = self.published.max(count),
        }
    }

    fn partition(&mut self, at: Place) -> Option<&mut Partition> {
        self.partitions.get_mut(usize::try_from(at.partition).ok()?)
    }

    fn started(&mut self, delivered: Delivered, fault: &mut impl FnMut(Promise, String)) {
        let Delivered { member, at, offset, number, attempts } = delivered;
        let mut fault =
            |promise, text: String| fault(promise, format!("{at}, member {member}, number {number}: {text}"));
        match self.turns.entry((member, at.partition)).or_default().started(at.order, offset, number % KEYS) {
            Ok(Beginning::Within) => {}
            Ok(Beginning::OfTurn) => {
                self.figures.turns += 1;
                // The record itself does not count as begun yet.
                let in_flight = self.partition(at).map(|partition| partition.records.in_flight());
                self.figures.in_flight += in_flight.unwrap_or_default() as u64;
            }
            Err((promise, text)) => fault(promise, text),
        }
        if attempts == 0 {
            if let Err(text) = self.fates.begun(number, at.partition, offset) {
                fault(Promise::Other, text);
            }
            if self.order != Order::Unordered && !self.fates.one_before_has_ended(number) {
                fault(Promise::OrderOfDeliveries, "the one before it of its key has not ended".to_owned());
            }
        }
        let order = self.order;
        let Some(partition) = self.partition(at) else { return };
        let first_unended = partition.records.first_unended();
        if order == Order::Partition && offset > first_unended {
            fault(Promise::OrderOfDeliveries, format!("offset {offset} begins before {first_unended} has ended"));
        }
        partition.records.at(offset).what = Some((number, attempts));
    }

    fn ended(
        &mut self,
        now: Duration,
        member: u32,
        at: Place,
        offset: i64,
        well: bool,
        fault: &mut impl FnMut(Promise, String),
    ) {
        let Some(partition) = self.partition(at) else { return };
        partition.stall.moved(now);
        let elsewhere = partition.owner != Some(member);
        let record = partition.records.at(offset);
        let Some((number, attempts)) = record.what else { return };
        record.ended += 1;
        record.handled |= well;
        let again = record.ended > 1;
        self.figures.again += u64::from(again);
        self.figures.again_elsewhere += u64::from(again && elsewhere);
        self.turns.entry((member, at.partition)).or_default().ended(at.order, offset, number % KEYS);
        self.stall.moved(now);
        *(if well { &mut self.figures.handled } else { &mut self.figures.failed }) += 1;
        if self.fates.ended(number, attempts, well)
            && let Err(before) = self.successes.add(at, number)
        {
            let text = format!("{at}, number {number}: handled for the first time after {before}");
            fault(Promise::OrderOfSuccesses, text);
        }
    }

    fn committed(&mut self, at: Place, offset: i64, seen: i64, fault: &mut impl FnMut(Promise, String)) {
        let Self { fates, retries, partitions, figures, .. } = self;
        let Some(partition) = usize::try_from(at.partition).ok().and_then(|index| partitions.get_mut(index)) else {
            return;
        };
        figures.commits_back += u64::from(offset < partition.records.committed());
        let lies_elsewhere = |number, attempts| retries.lay_here(number, attempts, seen) || fates.is_dead(number);
        if let Err((unfinished, record)) = partition.records.commit(offset, lies_elsewhere) {
            let what = match record {
                Record { what: None, .. } => "no handler has begun with".to_owned(),
                Record { what: Some((number, _)), ended: 0, .. } => {
                    format!("no handler has ended with number {number} at")
                }
                Record { what: Some((number, _)), .. } => {
                    format!("number {number} has failed and was on no other topic:")
                }
            };
            fault(Promise::PastUnfinished, format!("{at}: {offset} is committed, {what} offset {unfinished}"));
        }
    }

    /// Looks for stalls; whether enough brokers are up to write and to commit, and whether all are.
    pub(super) fn look(&mut self, now: Duration, (able, all): (bool, bool), faults: &mut Vec<Fault>) {
        let name = self.order.name();
        let mut stalled = |what: String| faults.push(Fault { promise: Promise::Stall, text: what });
        for (index, partition) in self.partitions.iter_mut().enumerate() {
            let first_unended = partition.records.first_unended();
            if partition.stall.look(now, able && partition.end > first_unended) {
                stalled(format!("{name} {index}: offset {first_unended} of {} has not ended", partition.end));
            }
        }
        let settled = self.fates.settled();
        if self.stall.look(now, all && self.published > settled) {
            stalled(format!("{name}: {settled} of {} records are settled", self.published));
        }
    }

    pub(super) fn close(&mut self, faults: &mut Vec<Fault>) {
        let name = self.order.name();
        let mut fault = |promise, text| faults.push(Fault { promise, text });
        for (number, fate) in self.fates.lost() {
            fault(Promise::Lost, format!("{name}, number {number}: {fate:?}"));
        }
        for (index, partition) in self.partitions.iter_mut().enumerate() {
            let committed = partition.records.committed();
            if committed < partition.end {
                fault(Promise::Other, format!("{name} {index}: {committed} of {} was ever committed", partition.end));
            }
        }
        let Figures { again, again_elsewhere, in_flight, .. } = self.figures;
        if again > in_flight + again_elsewhere {
            fault(
                Promise::AgainThoughCommitted,
                format!("{name}: {again} records were handled again, and {in_flight} were in flight"),
            );
        }
    }
}
