//! The judgement of one work topic with its retry topics and its dead-letter topic.

use std::{collections::HashMap, time::Duration};

use super::{
    Fault, Figures, Promise,
    records::{Record, Records},
    stall::Stall,
    turn::{Beginning, Turn},
};
use crate::{
    line::{Line, Place},
    plan::{Fails, KEYS, Order, PARTITIONS, Plan, TIERS},
};

/// How far the clocks of a broker and of a reinjector on one machine may be apart, in milliseconds.
const CLOCKS: i64 = 5;

pub(super) struct Topic {
    plan: Plan,
    order: Order,
    numbers: Vec<Number>,
    partitions: Vec<Partition>,
    /// By member and partition.
    turns: HashMap<(u32, i32), Turn>,
    /// When the records of retry topics are due, by number and failures; the first copy.
    due: HashMap<(u64, u32), i64>,
    /// Records that came back before it was told that they waited.
    untold: HashMap<(u64, u32), i64>,
    /// The last success by key, of records that never fail.
    successes: HashMap<u64, u64>,
    settled: u64,
    published: u64,
    stall: Stall,
    figures: Figures,
}

/// What is known of a number.
#[derive(Clone, Copy, Debug, Default)]
struct Number {
    /// Where its first copy lies.
    first: Option<(i32, i64)>,
    /// A handler has ended with its first delivery.
    ended: bool,
    handled: bool,
    dead: bool,
}

#[derive(Default)]
struct Partition {
    records: Records,
    end: i64,
    /// The member that was given it last.
    owner: Option<u32>,
    /// The last success, of records that never fail.
    success: Option<u64>,
    stall: Stall,
}

impl Topic {
    pub(super) fn new(plan: Plan, order: Order, records: u64) -> Self {
        Self {
            plan,
            order,
            numbers: vec![Number::default(); usize::try_from(records).unwrap_or_default()],
            partitions: (0..PARTITIONS).map(|_| Partition::default()).collect(),
            turns: HashMap::new(),
            due: HashMap::new(),
            untold: HashMap::new(),
            successes: HashMap::new(),
            settled: 0,
            published: 0,
            stall: Stall::default(),
            figures: Figures::default(),
        }
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    pub(super) fn settled(&self) -> u64 {
        self.settled
    }

    pub(super) fn figures(&self) -> Figures {
        self.figures
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
        match *line {
            Line::Assigned { member, at } => {
                let Some(partition) = self.partition(at) else { return };
                partition.owner = Some(member);
                let committed = partition.records.committed();
                self.turns.entry((member, at.partition)).or_default().assigned(committed);
            }
            Line::Left { .. } | Line::Brokers { .. } | Line::Over => {}
            Line::Started { member, at, offset, number, attempts, written } => {
                self.started(member, at, offset, (number, attempts), faults);
                if attempts > 0 {
                    self.came_back(number, attempts, written, faults);
                }
            }
            Line::Ended { member, at, offset, well } => self.ended(now, member, at, offset, well, faults),
            Line::WriteFailed { .. } => self.figures.write_failures += 1,
            Line::CommitFailed { .. } => self.figures.commit_failures += 1,
            Line::Waits { number, attempts, due, .. } => {
                if self.due.contains_key(&(number, attempts)) {
                    self.figures.copies += 1;
                    return;
                }
                self.due.insert((number, attempts), due);
                if let Some(written) = self.untold.remove(&(number, attempts)) {
                    self.came_back(number, attempts, written, faults);
                }
            }
            Line::Dead { number, .. } => self.dead(now, number, faults),
            Line::Committed { at, offset, seen } => self.committed(at, offset, seen, faults),
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

    fn number(&mut self, number: u64) -> Option<&mut Number> {
        self.numbers.get_mut(usize::try_from(number).ok()?)
    }

    fn started(
        &mut self,
        member: u32,
        at: Place,
        offset: i64,
        (number, attempts): (u64, u32),
        faults: &mut Vec<Fault>,
    ) {
        let mut fault = |promise, text: String| {
            faults.push(Fault { promise, text: format!("{at}, member {member}, number {number}: {text}") });
        };
        match self.turns.entry((member, at.partition)).or_default().started(at.order, offset, number % KEYS) {
            Ok(Beginning::Within) => {}
            Ok(Beginning::OfTurn) => {
                self.figures.turns += 1;
                // The record itself does not count as begun yet.
                let in_flight = self.partition(at).map(|partition| partition.records.in_flight());
                self.figures.in_flight += in_flight.unwrap_or_default() as u64;
            }
            Err(text) if text.contains("committed before") => fault(Promise::AgainThoughCommitted, text),
            Err(text) => fault(Promise::OrderOfDeliveries, text),
        }
        if attempts == 0 {
            let Some(known) = self.number(number) else {
                return fault(Promise::Other, "no such number was published".to_owned());
            };
            let first = *known.first.get_or_insert((at.partition, offset));
            if first != (at.partition, offset) {
                fault(Promise::Other, format!("it was published twice, at {first:?} and at {offset}"));
            }
            let before = number.checked_sub(KEYS).and_then(|before| self.number(before).copied());
            if self.order != Order::Unordered && before.is_some_and(|before| !before.ended) {
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

    fn ended(&mut self, now: Duration, member: u32, at: Place, offset: i64, well: bool, faults: &mut Vec<Fault>) {
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
        let Some(known) = self.number(number) else { return };
        known.ended |= attempts == 0;
        let first_success = well && !known.handled;
        known.handled |= well;
        if !first_success {
            return;
        }
        match self.plan.fails(number) {
            Fails::Never => self.succeeded(at, number, faults),
            Fails::Times(_) => {}
            // Its handler says so.
            Fails::Always => return,
        }
        self.settled += 1;
    }

    /// A record that never fails was handled for the first time.
    fn succeeded(&mut self, at: Place, number: u64, faults: &mut Vec<Fault>) {
        let before = match self.order {
            Order::Partition => self.partition(at).and_then(|partition| partition.success.replace(number)),
            Order::Key => self.successes.insert(number % KEYS, number),
            Order::Unordered => None,
        };
        if let Some(before) = before.filter(|before| *before > number) {
            let text = format!("{at}, number {number}: handled for the first time after {before}");
            faults.push(Fault { promise: Promise::OrderOfSuccesses, text });
        }
    }

    fn came_back(&mut self, number: u64, attempts: u32, written: i64, faults: &mut Vec<Fault>) {
        match self.due.get(&(number, attempts)) {
            Some(due) if written + CLOCKS < *due => {
                let text = format!("{}, number {number}: {} ms", self.order.name(), due - written);
                faults.push(Fault { promise: Promise::Early, text });
            }
            Some(_) => {}
            None => {
                let earliest = self.untold.entry((number, attempts)).or_insert(written);
                *earliest = written.min(*earliest);
            }
        }
    }

    fn dead(&mut self, now: Duration, number: u64, faults: &mut Vec<Fault>) {
        self.figures.dead += 1;
        self.stall.moved(now);
        let always = self.plan.fails(number) == Fails::Always;
        let name = self.order.name();
        let Some(known) = self.number(number) else { return };
        let first = !known.dead;
        known.dead = true;
        if !always {
            let text = format!("{name}, number {number} is a dead letter, and fails less often than it is tried");
            faults.push(Fault { promise: Promise::Other, text });
        } else if first {
            self.settled += 1;
        }
    }

    fn committed(&mut self, at: Place, offset: i64, seen: i64, faults: &mut Vec<Fault>) {
        let Self { numbers, due, plan, partitions, figures, .. } = self;
        let lies_elsewhere = |number: u64, attempts: u32| {
            let dead = usize::try_from(number).ok().and_then(|number| numbers.get(number)).is_some_and(|it| it.dead);
            // A retry topic has the broker's time of the write.
            let tier = TIERS.get(attempts as usize).map_or(0, |tier| i64::try_from(tier.as_millis()).unwrap_or(0));
            let waits = due.get(&(number, attempts + 1)).is_some_and(|due| due - tier <= seen + CLOCKS);
            waits || (dead && plan.fails(number) == Fails::Always)
        };
        let Some(partition) = usize::try_from(at.partition).ok().and_then(|index| partitions.get_mut(index)) else {
            return;
        };
        figures.commits_back += u64::from(offset < partition.records.committed());
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
            let text = format!("{at}: {offset} is committed, {what} offset {unfinished}");
            faults.push(Fault { promise: Promise::PastUnfinished, text });
        }
    }

    pub(super) fn look(&mut self, now: Duration, able: bool, faults: &mut Vec<Fault>) {
        let name = self.order.name();
        let mut stalled = |what: String| faults.push(Fault { promise: Promise::Stall, text: what });
        for (index, partition) in self.partitions.iter_mut().enumerate() {
            let first_unended = partition.records.first_unended();
            if partition.stall.look(now, able && partition.end > first_unended) {
                stalled(format!("{name} {index}: offset {first_unended} of {} has not ended", partition.end));
            }
        }
        if self.stall.look(now, able && self.published > self.settled) {
            stalled(format!("{name}: {} of {} records are settled", self.settled, self.published));
        }
    }

    pub(super) fn close(&mut self, faults: &mut Vec<Fault>) {
        let name = self.order.name();
        let mut fault = |promise, text| faults.push(Fault { promise, text });
        for (number, known) in (0_u64..).zip(&self.numbers) {
            let kept = if self.plan.fails(number) == Fails::Always { known.dead } else { known.handled };
            if !kept {
                fault(Promise::Lost, format!("{name}, number {number}: {known:?}"));
            }
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
