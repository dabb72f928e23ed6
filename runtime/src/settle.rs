//! What happens to a record once its outcome is known: a pure policy (contract section 3), carried out by the consumer.

use std::time::Duration;

use crate::{
    envelope::Poison,
    handler::HandlerError,
    retry_topics::{RetryTopics, Tier},
    router::PayloadError,
};

/// What became of a delivery.
#[derive(Debug)]
pub(crate) enum Outcome {
    Handled,
    /// The handler failed, or panicked.
    Failed(HandlerError),
    /// The payload does not fit its type.
    Misfit(PayloadError),
    Poison(Poison),
    /// The body names no valid URN.
    NoIdentity,
    /// A schema version that is not spoken here, as header or body give it.
    WrongVersion(String),
    UnknownUrn,
}

/// What a consumer does with a record whose URN has no handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownUrn {
    /// Report it, do not commit it, and stop.
    #[default]
    Fail,
    /// Commit it unhandled.
    Delete,
    /// Retry it like a failed one, as a handler may be deployed meanwhile; when its tries are used up it is a dead letter
    /// with the reason `unknown_urn`.
    Release,
    /// Write it to the dead-letter topic, with the reason `unknown_urn`.
    DeadLetter,
}

/// What a consumer does with a record whose tries are used up or that failed for good, when the dead-letter topic is
/// switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exhausted {
    /// Report it and let it go by.
    #[default]
    Drop,
    /// Report it, do not commit it, and stop.
    Stop,
}

/// How a consumer wants records to be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Deliveries of a record, the first one included.
    pub(crate) max_tries: u32,
    pub(crate) unknown_urn: UnknownUrn,
    pub(crate) exhausted: Exhausted,
}

/// Why a record is a dead letter, in the contract's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeadLetterReason {
    Failed,
    UnknownUrn,
    Poison,
}

impl DeadLetterReason {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::UnknownUrn => "unknown_urn",
            Self::Poison => "poison",
        }
    }
}

/// What to do with the record. Each but the last ends with its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It was handled.
    Commit,
    /// Unhandled, as the strategy asks.
    Delete,
    /// Write it to a retry topic, with this many failures and this delay; the reason is for where it cannot hold it.
    Retry { reason: DeadLetterReason, tier: Tier, delay: Duration, attempts: i64 },
    /// Write it to the dead-letter topic, with this many failures.
    DeadLetter { reason: DeadLetterReason, attempts: i64 },
    /// Write it to the dead-letter topic as it is: nothing of it may be understood here.
    Quarantine,
    /// Report it: there is no dead-letter topic, and no later delivery could be handled either.
    Drop,
    /// Report it, commit neither it nor anything behind it, and stop.
    Stop,
}

/// The policy: what the outcome of a record with so many earlier failures means, where its topic has these retry topics.
pub(crate) fn decide(outcome: &Outcome, attempts: i64, topics: Option<&RetryTopics>, rules: &Rules) -> Decision {
    let policy = Policy { attempts, topics, rules };
    match outcome {
        Outcome::Handled => Decision::Commit,
        Outcome::Poison(_) | Outcome::NoIdentity => match policy.has_dead_letters() {
            true => Decision::DeadLetter { reason: DeadLetterReason::Poison, attempts },
            false => Decision::Drop,
        },
        Outcome::WrongVersion(_) if policy.has_dead_letters() => Decision::Quarantine,
        Outcome::WrongVersion(_) => Decision::Drop,
        Outcome::Misfit(_) => policy.give_up(DeadLetterReason::Failed),
        Outcome::Failed(error) if error.is_fatal() => policy.give_up(DeadLetterReason::Failed),
        Outcome::Failed(error) => policy.retry(DeadLetterReason::Failed, error.delay()),
        Outcome::UnknownUrn => match rules.unknown_urn {
            UnknownUrn::Fail => Decision::Stop,
            UnknownUrn::Delete => Decision::Delete,
            UnknownUrn::Release => policy.retry(DeadLetterReason::UnknownUrn, None),
            // It did not fail: nobody tried.
            UnknownUrn::DeadLetter if policy.has_dead_letters() => {
                Decision::DeadLetter { reason: DeadLetterReason::UnknownUrn, attempts }
            }
            UnknownUrn::DeadLetter => Decision::Stop,
        },
    }
}

struct Policy<'a> {
    attempts: i64,
    topics: Option<&'a RetryTopics>,
    rules: &'a Rules,
}

impl Policy<'_> {
    fn has_dead_letters(&self) -> bool {
        self.topics.is_some_and(|topics| topics.dead_letter_topic_name().is_some())
    }

    /// The failures, this one included.
    fn failures(&self) -> i64 {
        self.attempts.saturating_add(1)
    }

    fn retry(&self, reason: DeadLetterReason, asked: Option<Duration>) -> Decision {
        if self.failures() >= i64::from(self.rules.max_tries) {
            return self.give_up(reason);
        }
        let tier = self.topics.and_then(|topics| match asked {
            Some(delay) => topics.tier_for(delay).ok().map(|tier| (tier, delay)),
            None => topics.tier_after(self.attempts).map(|tier| (tier.clone(), tier.delay)),
        });
        match tier {
            Some((tier, delay)) => Decision::Retry { reason, tier, delay, attempts: self.failures() },
            // The handler wants it again, later than is possible: that is no reason to let it go.
            None if asked.is_some() && !self.has_dead_letters() => Decision::Stop,
            None => self.give_up(reason),
        }
    }

    fn give_up(&self, reason: DeadLetterReason) -> Decision {
        match self.topics {
            Some(_) if self.has_dead_letters() => Decision::DeadLetter { reason, attempts: self.failures() },
            Some(topics) if topics.has_tiers() && self.rules.exhausted == Exhausted::Drop => Decision::Drop,
            _ => Decision::Stop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: DeadLetterReason = DeadLetterReason::Failed;
    const UNKNOWN: DeadLetterReason = DeadLetterReason::UnknownUrn;
    const POISON: DeadLetterReason = DeadLetterReason::Poison;

    /// No topology, a dead-letter topic alone, tiers alone, both.
    fn topologies() -> [Option<RetryTopics>; 4] {
        let none = RetryTopics::for_topic("orders");
        let tiers = none.clone().tiers([1, 60].map(Duration::from_secs));
        [None, Some(none), Some(tiers.clone().without_dead_letters()), Some(tiers)]
    }

    fn dead(reason: DeadLetterReason, attempts: i64) -> Decision {
        Decision::DeadLetter { reason, attempts }
    }

    fn wait(reason: DeadLetterReason, tier: usize, delay: u64, attempts: i64) -> Decision {
        let tiers = RetryTopics::for_topic("orders").tiers([1, 60].map(Duration::from_secs));
        let tier = tiers.all_tiers().nth(tier - 1).unwrap();
        Decision::Retry { reason, tier, delay: Duration::from_secs(delay), attempts }
    }

    /// The decisions for each topology, by outcome and earlier failures.
    #[test]
    fn the_table() {
        use Decision::{Commit, Delete, Drop, Quarantine, Stop};
        let rules = Rules { max_tries: 3, unknown_urn: UnknownUrn::Fail, exhausted: Exhausted::Drop };
        let with = |unknown_urn| Rules { unknown_urn, ..rules };
        let stopping = Rules { exhausted: Exhausted::Stop, ..rules };
        let once = Rules { max_tries: 1, ..rules };

        let failed = || Outcome::Failed(HandlerError::new("x"));
        let fatal = || Outcome::Failed(HandlerError::fatal("x"));
        let after = |seconds| Outcome::Failed(HandlerError::retry_after("x", Duration::from_secs(seconds)));
        let misfit = || Outcome::Misfit(PayloadError::from(crate::payload::decode::<u8>("x").unwrap_err()));
        let poison = || Outcome::Poison(Poison::Root);
        let version = || Outcome::WrongVersion("2".to_owned());

        let table: Vec<(Outcome, i64, Rules, [Decision; 4])> = vec![
            (Outcome::Handled, 0, rules, [Commit, Commit, Commit, Commit]),
            (Outcome::Handled, 9, rules, [Commit, Commit, Commit, Commit]),
            (failed(), 0, rules, [Stop, dead(FAILED, 1), wait(FAILED, 1, 1, 1), wait(FAILED, 1, 1, 1)]),
            (failed(), 1, rules, [Stop, dead(FAILED, 2), wait(FAILED, 2, 60, 2), wait(FAILED, 2, 60, 2)]),
            (failed(), 2, rules, [Stop, dead(FAILED, 3), Drop, dead(FAILED, 3)]),
            (failed(), 2, stopping, [Stop, dead(FAILED, 3), Stop, dead(FAILED, 3)]),
            (failed(), 0, once, [Stop, dead(FAILED, 1), Drop, dead(FAILED, 1)]),
            (failed(), i64::MAX, rules, [Stop, dead(FAILED, i64::MAX), Drop, dead(FAILED, i64::MAX)]),
            (
                failed(),
                5,
                Rules { max_tries: 9, ..rules },
                [Stop, dead(FAILED, 6), wait(FAILED, 2, 60, 6), wait(FAILED, 2, 60, 6)],
            ),
            (after(0), 0, rules, [Stop, dead(FAILED, 1), wait(FAILED, 1, 0, 1), wait(FAILED, 1, 0, 1)]),
            (after(30), 0, rules, [Stop, dead(FAILED, 1), wait(FAILED, 2, 30, 1), wait(FAILED, 2, 30, 1)]),
            (after(61), 0, rules, [Stop, dead(FAILED, 1), Stop, dead(FAILED, 1)]),
            (after(1), 2, rules, [Stop, dead(FAILED, 3), Drop, dead(FAILED, 3)]),
            (fatal(), 0, rules, [Stop, dead(FAILED, 1), Drop, dead(FAILED, 1)]),
            (fatal(), 0, stopping, [Stop, dead(FAILED, 1), Stop, dead(FAILED, 1)]),
            (misfit(), 1, rules, [Stop, dead(FAILED, 2), Drop, dead(FAILED, 2)]),
            (poison(), 1, rules, [Drop, dead(POISON, 1), Drop, dead(POISON, 1)]),
            (poison(), 1, stopping, [Drop, dead(POISON, 1), Drop, dead(POISON, 1)]),
            (Outcome::NoIdentity, 0, rules, [Drop, dead(POISON, 0), Drop, dead(POISON, 0)]),
            (version(), 0, rules, [Drop, Quarantine, Drop, Quarantine]),
            (Outcome::UnknownUrn, 0, rules, [Stop, Stop, Stop, Stop]),
            (Outcome::UnknownUrn, 0, with(UnknownUrn::Delete), [Delete, Delete, Delete, Delete]),
            (
                Outcome::UnknownUrn,
                0,
                with(UnknownUrn::Release),
                [Stop, dead(UNKNOWN, 1), wait(UNKNOWN, 1, 1, 1), wait(UNKNOWN, 1, 1, 1)],
            ),
            (Outcome::UnknownUrn, 2, with(UnknownUrn::Release), [Stop, dead(UNKNOWN, 3), Drop, dead(UNKNOWN, 3)]),
            (Outcome::UnknownUrn, 2, with(UnknownUrn::DeadLetter), [Stop, dead(UNKNOWN, 2), Stop, dead(UNKNOWN, 2)]),
        ];
        for (outcome, attempts, rules, expected) in table {
            for (topics, expected) in topologies().iter().zip(expected) {
                let decision = decide(&outcome, attempts, topics.as_ref(), &rules);
                assert_eq!(decision, expected, "{outcome:?} after {attempts} with {topics:?} and {rules:?}");
            }
        }
    }
}
