//! What becomes of each number of a topic, wherever its copies lie.

use crate::plan::{Fails, KEYS, Plan};

/// What is known of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    /// The partition and offset of its first copy.
    first: Option<(i32, i64)>,
    /// A handler has ended with its first delivery.
    ended: bool,
    handled: bool,
    dead: bool,
}

pub(super) struct Fates {
    plan: Plan,
    numbers: Vec<Fate>,
    settled: u64,
}

impl Fates {
    pub(super) fn new(plan: Plan, records: u64) -> Self {
        let numbers = vec![Fate::default(); usize::try_from(records).unwrap_or_default()];
        Self { plan, numbers, settled: 0 }
    }

    /// How many numbers have come to what is planned.
    pub(super) fn settled(&self) -> u64 {
        self.settled
    }

    fn get(&mut self, number: u64) -> Option<&mut Fate> {
        self.numbers.get_mut(usize::try_from(number).ok()?)
    }

    /// A handler begins with the first copy of a number, which lies there.
    pub(super) fn begun(&mut self, number: u64, partition: i32, offset: i64) -> Result<(), String> {
        let fate = self.get(number).ok_or("no such number was published")?;
        match *fate.first.get_or_insert((partition, offset)) {
            first if first == (partition, offset) => Ok(()),
            first => Err(format!("it was published twice, at {first:?} and at {offset}")),
        }
    }

    /// Whether a handler has ended with the number before this one of its key, or there is none.
    pub(super) fn one_before_has_ended(&mut self, number: u64) -> bool {
        number.checked_sub(KEYS).and_then(|before| self.get(before)).is_none_or(|before| before.ended)
    }

    /// A handler has ended with a copy. Whether it is the first success of a number that never fails.
    pub(super) fn ended(&mut self, number: u64, attempts: u32, well: bool) -> bool {
        let fails = self.plan.fails(number);
        let Some(fate) = self.get(number) else { return false };
        fate.ended |= attempts == 0;
        let first_success = well && !fate.handled;
        fate.handled |= well;
        // Of one that always fails the handler says so.
        self.settled += u64::from(first_success && fails != Fails::Always);
        first_success && fails == Fails::Never
    }

    /// A copy lies on the dead-letter topic.
    pub(super) fn dead(&mut self, number: u64) -> Result<(), String> {
        let always = self.plan.fails(number) == Fails::Always;
        let Some(fate) = self.get(number) else { return Ok(()) };
        let first = !fate.dead;
        fate.dead = true;
        if !always {
            return Err("is a dead letter, and fails less often than it is tried".to_owned());
        }
        self.settled += u64::from(first);
        Ok(())
    }

    /// Whether it is a dead letter, as planned.
    pub(super) fn is_dead(&self, number: u64) -> bool {
        let fate = usize::try_from(number).ok().and_then(|index| self.numbers.get(index));
        fate.is_some_and(|fate| fate.dead) && self.plan.fails(number) == Fails::Always
    }

    /// The numbers that no handler has succeeded with, or that always fail and are no dead letters.
    pub(super) fn lost(&self) -> impl Iterator<Item = (u64, Fate)> {
        (0..).zip(self.numbers.iter().copied()).filter(|(number, fate)| match self.plan.fails(*number) {
            Fails::Always => !fate.dead,
            Fails::Never | Fails::Times(_) => !fate.handled,
        })
    }
}
