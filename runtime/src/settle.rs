//! What happens to a record once its outcome is known: a pure policy (contract section 3), carried out by the consumer.

use crate::{envelope::Poison, handler::HandlerError, router::PayloadError};

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
}

/// What to do with the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Commit: it was handled.
    Commit,
    /// Commit unhandled, as the strategy asks.
    Delete,
    /// Report and commit: no later delivery could be handled either.
    Reject,
    /// Report, commit neither it nor anything behind it, and stop.
    Stop,
}

/// The policy of a consumer that has neither retry topics nor a dead-letter topic.
pub(crate) fn decide(outcome: &Outcome, unknown: UnknownUrn) -> Decision {
    match outcome {
        Outcome::Handled => Decision::Commit,
        Outcome::Poison(_) | Outcome::NoIdentity | Outcome::WrongVersion(_) => Decision::Reject,
        Outcome::Failed(_) | Outcome::Misfit(_) => Decision::Stop,
        Outcome::UnknownUrn => match unknown {
            UnknownUrn::Fail => Decision::Stop,
            UnknownUrn::Delete => Decision::Delete,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_retry_could_heal_is_committed_unhandled() {
        let misfit = PayloadError::from(serde_json::from_str::<u8>("x").unwrap_err());
        for (outcome, fail, delete) in [
            (Outcome::Handled, Decision::Commit, Decision::Commit),
            (Outcome::Failed(HandlerError::new("x")), Decision::Stop, Decision::Stop),
            (Outcome::Failed(HandlerError::fatal("x")), Decision::Stop, Decision::Stop),
            (Outcome::Misfit(misfit), Decision::Stop, Decision::Stop),
            (Outcome::Poison(Poison::Root), Decision::Reject, Decision::Reject),
            (Outcome::NoIdentity, Decision::Reject, Decision::Reject),
            (Outcome::WrongVersion("2".to_owned()), Decision::Reject, Decision::Reject),
            (Outcome::UnknownUrn, Decision::Stop, Decision::Delete),
        ] {
            assert_eq!(decide(&outcome, UnknownUrn::Fail), fail, "{outcome:?}");
            assert_eq!(decide(&outcome, UnknownUrn::Delete), delete, "{outcome:?}");
        }
    }
}
