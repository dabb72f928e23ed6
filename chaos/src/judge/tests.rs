//! Lines that keep each promise, and lines that break it.

use std::time::Duration;

use super::{Judge, Promise};
use crate::{
    line::Line,
    plan::{Fails, Order, Plan},
};

const PLAN: Plan = Plan { seed: 7, crowd: u64::MAX };
const NEVER: u64 = 0;

/// A judge of one topic, and the time.
struct Court {
    judge: Judge,
    now: Duration,
}

impl Court {
    fn of(order: Order, records: u64) -> Self {
        Self { judge: Judge::new(PLAN, &[(order, records)]), now: Duration::ZERO }
    }

    fn told(mut self, lines: &[&str]) -> Self {
        for line in lines {
            self.judge.take(self.now, &Line::read(line).expect(line));
        }
        self
    }

    fn after(mut self, seconds: u64) -> Self {
        self.now += Duration::from_secs(seconds);
        self.judge.look(self.now);
        self
    }

    fn broken(&self) -> Vec<Promise> {
        self.judge.faults().iter().map(|fault| fault.promise).collect()
    }

    fn broken_at_the_end(mut self) -> Vec<Promise> {
        self.judge.close();
        self.broken()
    }
}

/// A number whose fate is this, from there on.
fn fated(fate: Fails, from: u64) -> u64 {
    (from..).find(|number| PLAN.fails(*number) == fate).unwrap()
}

/// What of this many records is not told is out of the way: all of them are handled.
fn others_handled(records: u64, but: u64) -> Vec<String> {
    let lines = (0..records).filter(|number| *number != but).flat_map(|number| {
        let offset = 1000 + number;
        let end = format!("handled 9 unordered 3 {offset}");
        let dead = (PLAN.fails(number) == Fails::Always).then(|| format!("dead unordered {number}"));
        [Some(format!("started 9 unordered 3 {offset} {number} 0 0")), Some(end), dead].into_iter().flatten()
    });
    lines.collect()
}

fn lost(number: u64, lines: &[&str]) -> bool {
    let others = others_handled(number + 1, number);
    let others: Vec<_> = others.iter().map(String::as_str).collect();
    let broken = Court::of(Order::Unordered, number + 1).told(&others).told(lines).broken_at_the_end();
    assert!(broken.iter().all(|promise| *promise == Promise::Lost), "{broken:?}");
    broken == [Promise::Lost]
}

#[test]
fn a_number_is_lost_that_no_handler_has_succeeded_with() {
    assert_eq!(PLAN.fails(NEVER), Fails::Never);
    let started = "started 1 unordered 0 0 0 0 0";
    assert!(lost(NEVER, &[]));
    assert!(lost(NEVER, &[started]));
    assert!(!lost(NEVER, &[started, "handled 1 unordered 0 0"]));
    let once = fated(Fails::Times(1), 0);
    let [first, again] = [0, 1].map(|failures| format!("started 1 unordered 0 {failures} {once} {failures} 0"));
    assert!(lost(once, &[&first, "failed 1 unordered 0 0", &again]));
    assert!(!lost(once, &[&first, "failed 1 unordered 0 0", &again, "handled 1 unordered 0 1"]));
}

#[test]
fn a_number_that_always_fails_is_lost_unless_it_is_a_dead_letter() {
    let always = fated(Fails::Always, 0);
    let [started, dead] = [format!("started 1 unordered 0 0 {always} 2 0"), format!("dead unordered {always}")];
    assert!(lost(always, &[&started, "failed 1 unordered 0 0"]));
    assert!(!lost(always, &[&started, "failed 1 unordered 0 0", &dead]));
}

#[test]
fn a_commit_may_not_pass_what_has_not_ended() {
    let began = ["assigned 1 partition 0", "started 1 partition 0 0 0 0 0"];
    let broken = |lines: &[&str]| Court::of(Order::Partition, 5).told(&began).told(lines).broken();
    assert_eq!(broken(&["committed partition 0 1 50"]), [Promise::PastUnfinished]);
    assert_eq!(broken(&["handled 1 partition 0 0", "committed partition 0 2 50"]), [Promise::PastUnfinished]);
    assert_eq!(broken(&["handled 1 partition 0 0", "committed partition 0 1 50"]), []);
}

#[test]
fn a_commit_may_not_pass_a_failure_that_was_on_no_other_topic_by_then() {
    let once = fated(Fails::Times(1), 0);
    let [started, waits] = [format!("started 1 unordered 0 0 {once} 0 0"), format!("waits unordered {once} 1 1500")];
    let broken = |lines: &[&str]| {
        Court::of(Order::Unordered, once + 1).told(&[&started, "failed 1 unordered 0 0"]).told(lines).broken()
    };
    assert_eq!(broken(&["committed unordered 0 1 600"]), [Promise::PastUnfinished]);
    // It was written at 500, as its tier is one second.
    assert_eq!(broken(&[&waits, "committed unordered 0 1 400"]), [Promise::PastUnfinished]);
    assert_eq!(broken(&[&waits, "committed unordered 0 1 600"]), []);
}

#[test]
fn a_commit_may_pass_the_last_failure_of_a_dead_letter() {
    let always = fated(Fails::Always, 0);
    let [started, dead] = [format!("started 1 unordered 0 0 {always} 2 -1"), format!("dead unordered {always}")];
    let broken = |lines: &[&str]| {
        let court = Court::of(Order::Unordered, always + 1).told(&[&started, "failed 1 unordered 0 0"]);
        court.told(lines).broken()
    };
    assert_eq!(broken(&["committed unordered 0 1 600"]), [Promise::PastUnfinished]);
    assert_eq!(broken(&[&dead, "committed unordered 0 1 600"]), []);
}

#[test]
fn by_partition_a_record_begins_when_the_one_before_has_ended_whoever_has_it() {
    let began = ["assigned 1 partition 0", "started 1 partition 0 0 0 0 0", "assigned 2 partition 0"];
    let broken = |lines: &[&str]| Court::of(Order::Partition, 5).told(&began).told(lines).broken();
    let next = "started 2 partition 0 1 1 0 0";
    assert_eq!(broken(&[next]), [Promise::OrderOfDeliveries]);
    assert_eq!(broken(&["handled 1 partition 0 0", next]), []);
    assert_eq!(broken(&["started 2 partition 0 0 0 0 0", "handled 2 partition 0 0", next]), []);
}

#[test]
fn by_key_a_record_begins_when_the_one_before_of_its_key_has_ended() {
    let began = ["assigned 1 key 0", "started 1 key 0 0 0 0 0", "started 1 key 0 1 1 0 0"];
    let broken = |order: Order, lines: &[&str]| {
        let lines: Vec<_> = began.iter().chain(lines).map(|line| line.replace("key", order.name())).collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        Court::of(order, 200).told(&lines).broken()
    };
    // 100 has the key of 0; another member has it, so that no turn is broken.
    let next = "started 2 key 0 2 100 0 0";
    assert_eq!(broken(Order::Key, &[next]), [Promise::OrderOfDeliveries]);
    assert_eq!(broken(Order::Key, &["failed 1 key 0 0", next]), []);
    assert_eq!(broken(Order::Unordered, &[next]), []);
}

#[test]
fn a_member_has_one_record_at_a_time_of_a_partition_and_skips_none() {
    let broken = |lines: &[&str]| Court::of(Order::Partition, 9).told(&["assigned 1 partition 0"]).told(lines).broken();
    let one = ["started 1 partition 0 0 0 0 0", "handled 1 partition 0 0"];
    assert_eq!(broken(&[one[0], one[1], "started 1 partition 0 1 1 0 0"]), []);
    assert!(broken(&[one[0], one[1], "started 1 partition 0 2 2 0 0"]).contains(&Promise::OrderOfDeliveries));
    assert!(broken(&[one[0], one[0]]).contains(&Promise::OrderOfDeliveries));
}

#[test]
fn first_successes_are_in_order_of_a_partition_or_a_key() {
    let of = |order: Order, first: u64, second: u64| {
        let name = order.name();
        // A second delivery, so that the order of deliveries is not asked for.
        let [one, other] =
            [(0, first), (1, second)].map(|(offset, number)| format!("started 1 {name} 0 {offset} {number} 1 0"));
        let ends = [0, 1].map(|offset| format!("handled 1 {name} 0 {offset}"));
        Court::of(order, 300).told(&[&one, &ends[0], &other, &ends[1]]).broken()
    };
    let later = (100..).step_by(100).find(|number| PLAN.fails(*number) == Fails::Never).unwrap();
    assert_eq!(of(Order::Partition, NEVER, later), []);
    assert_eq!(of(Order::Partition, later, NEVER), [Promise::OrderOfSuccesses]);
    assert_eq!(of(Order::Key, later, NEVER), [Promise::OrderOfSuccesses]);
    assert_eq!(of(Order::Key, later + 1, NEVER), []);
    assert_eq!(of(Order::Unordered, later, NEVER), []);
    // One that fails now and then may come later.
    let sometimes = fated(Fails::Times(1), 0);
    assert_eq!(of(Order::Partition, sometimes + 1, sometimes), []);
}

#[test]
fn what_was_committed_when_a_partition_was_assigned_is_not_delivered_again() {
    let began = [
        "assigned 1 partition 0",
        "started 1 partition 0 0 0 0 0",
        "handled 1 partition 0 0",
        "started 1 partition 0 1 1 0 0",
        "committed partition 0 1 50",
        "assigned 2 partition 0",
    ];
    let broken = |lines: &[&str]| Court::of(Order::Partition, 5).told(&began).told(lines).broken();
    assert_eq!(broken(&["started 2 partition 0 0 0 0 0"]), [Promise::AgainThoughCommitted]);
    assert_eq!(broken(&["started 2 partition 0 1 1 0 0"]), []);
}

#[test]
fn no_more_is_handled_again_than_was_in_flight() {
    let handled = ["started 1 unordered 0 0 0 0 0", "handled 1 unordered 0 0"];
    let again = |assigned: &[&str]| {
        let court = Court::of(Order::Unordered, 1).told(&["assigned 1 unordered 0"]).told(&handled);
        let court = court.told(assigned).told(&handled).told(&["committed unordered 0 1 50"]);
        court.broken_at_the_end()
    };
    assert_eq!(again(&[]), [Promise::AgainThoughCommitted]);
    assert_eq!(again(&["assigned 1 unordered 0"]), []);
}

#[test]
fn a_partition_with_records_that_do_not_end_stalls() {
    let began = ["assigned 1 partition 0", "end partition 0 2", "started 1 partition 0 0 0 0 0"];
    let began = || Court::of(Order::Partition, 5).told(&began).after(1);
    assert_eq!(began().after(31).broken(), [Promise::Stall]);
    let moving = began().after(20).told(&["handled 1 partition 0 0"]).after(20);
    assert_eq!(moving.broken(), []);
    assert_eq!(moving.after(11).broken(), [Promise::Stall]);
    assert_eq!(Court::of(Order::Partition, 5).after(100).broken(), []);
}

#[test]
fn a_topic_stalls_whose_records_are_not_settled_wherever_they_are() {
    let began = ["published partition 1", "started 1 partition 0 0 0 0 0", "end partition 0 1"];
    let began = || Court::of(Order::Partition, 5).told(&began).after(1);
    assert_eq!(began().told(&["handled 1 partition 0 0"]).after(60).broken(), []);
    assert_eq!(began().told(&["failed 1 partition 0 0"]).after(60).broken(), [Promise::Stall]);
}

#[test]
fn while_most_brokers_are_down_nothing_stalls() {
    let began = ["end partition 0 2", "brokers false false"];
    assert_eq!(Court::of(Order::Partition, 5).told(&began).after(100).broken(), []);
    assert_eq!(
        Court::of(Order::Partition, 5).told(&began).after(100).told(&["brokers true true"]).after(1).after(31).broken(),
        [Promise::Stall]
    );
}

#[test]
fn while_one_broker_is_down_a_retry_may_wait_and_a_partition_may_not() {
    let failed =
        ["published partition 1", "end partition 0 1", "started 1 partition 0 0 0 0 0", "failed 1 partition 0 0"];
    let down = ["brokers true false"];
    assert_eq!(Court::of(Order::Partition, 5).told(&failed).told(&down).after(1).after(60).broken(), []);
    let unread = Court::of(Order::Partition, 5).told(&failed[..2]).told(&down).after(1).after(60);
    assert_eq!(unread.broken(), [Promise::Stall]);
}

#[test]
fn a_record_that_is_back_before_it_is_due_is_early_whichever_is_told_first() {
    let once = fated(Fails::Times(1), 0);
    let waits = format!("waits unordered {once} 1 5000");
    let back = |written: u64| format!("started 1 unordered 0 7 {once} 1 {written}");
    let broken = |lines: [&str; 2]| Court::of(Order::Unordered, once + 1).told(&lines).broken();
    for (written, expected) in [(4990, &[Promise::Early][..]), (5000, &[]), (9000, &[])] {
        assert_eq!(broken([&waits, &back(written)]), expected, "{written}");
        assert_eq!(broken([&back(written), &waits]), expected, "{written}");
    }
}

#[test]
fn a_member_holds_no_more_of_a_partition_than_its_queue_takes() {
    for (order, most) in [(Order::Partition, 4352), (Order::Key, 20_992), (Order::Unordered, 4608)] {
        let broken = |waiting| Court::of(order, 5).told(&[&format!("holds 1 {} 0 {waiting}", order.name())]).broken();
        assert_eq!(broken(most), []);
        assert_eq!(broken(most + 1), [Promise::Held]);
    }
}

#[test]
fn a_number_has_one_first_copy_and_was_published() {
    let broken = |lines: &[&str]| Court::of(Order::Unordered, 5).told(lines).broken();
    let first = "started 1 unordered 0 0 3 0 0";
    assert_eq!(broken(&[first, "started 2 unordered 0 0 3 0 0"]), []);
    assert_eq!(broken(&[first, "started 1 unordered 0 1 3 0 0"]), [Promise::Other]);
    assert_eq!(broken(&["started 1 unordered 0 0 5 0 0"]), [Promise::Other]);
}

#[test]
fn only_what_always_fails_may_be_a_dead_letter() {
    let [never, always] = [NEVER, fated(Fails::Always, 0)].map(|number| format!("dead unordered {number}"));
    let broken = |line: &str| Court::of(Order::Unordered, 100_000).told(&[line]).broken();
    assert_eq!(broken(&never), [Promise::Other]);
    assert_eq!(broken(&always), []);
}

#[test]
fn at_the_end_all_is_committed() {
    let handled = ["end unordered 0 1", "started 1 unordered 0 0 0 0 0", "handled 1 unordered 0 0"];
    let court = || Court::of(Order::Unordered, 1).told(&handled);
    assert_eq!(court().broken_at_the_end(), [Promise::Other]);
    assert_eq!(court().told(&["committed unordered 0 1 50"]).broken_at_the_end(), []);
}
