//! The two states of a registry: which messages there are, where they travel, and what their payloads may be.

use std::collections::{HashMap, HashSet};

use super::compare::Comparison;
use super::same::Same;
use super::shape::{Era, Schemas};
use super::words::Direction;
use crate::error::Problem;
use crate::load::Entry;
use crate::pointer::Pointer;
use crate::resolve::Location;

/// The breaks between two states of a registry. `registry` is where the list of now stands.
pub(super) fn breaks(
    mut schemas: Schemas,
    earlier: &[Entry],
    now: &[Entry],
    registry: &Location,
    directions: &[Direction],
) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut kept = Vec::new();
    let current: HashMap<&str, &Entry> = now.iter().map(|entry| (entry.urn.as_str(), entry)).collect();
    for before in earlier {
        match current.get(before.urn.as_str()) {
            Some(after) => {
                found.extend(moved(before, after));
                kept.push((before, *after));
            }
            None => found.extend(removed(before, registry, directions)),
        }
    }
    let known: HashSet<&str> = earlier.iter().chain(now).map(|entry| entry.urn.as_str()).collect();
    let mut same = Same::default();
    for direction in directions {
        let mut comparison = Comparison::new(&mut schemas, &mut same, *direction);
        let mut compared = Vec::new();
        for (before, after) in &kept {
            let at = Location::root(&after.schema);
            let old = comparison.schemas.at(Era::Earlier, &Location::root(&before.schema));
            let new = comparison.schemas.at(Era::Now, &at);
            let (data, reader) = match direction {
                Direction::Backward => (old, new),
                Direction::Forward => (new, old),
            };
            compared.extend(comparison.message(data, reader, &at).map(|pair| (pair, after)));
        }
        let (breaks, broken) = comparison.breaks();
        // The way from a message to a break may lead through schemas that were only asked whether they hold. Then it is one
        // of those that have changed at all.
        let traced = breaks.is_empty() || compared.iter().any(|(pair, _)| broken.contains(pair));
        found.extend(breaks);
        let broken = compared.iter().filter(|(pair, _)| !traced || broken.contains(pair));
        found.extend(broken.map(|(_, after)| after.problem("urn", advice(&after.urn, *direction, &known))));
    }
    found
}

/// What to do about a message that breaks.
fn advice(urn: &str, direction: Direction, known: &HashSet<&str>) -> String {
    format!(
        "{}: the payload of `{}` breaks, and a URN never changes its meaning (contract section 7): take the change back, \
         or mint `{}` for it",
        direction.name(),
        urn.escape_debug(),
        next_version(urn, known).escape_debug()
    )
}

/// The URN of the next version that is not in use.
fn next_version(urn: &str, known: &HashSet<&str>) -> String {
    let numbered = urn.rsplit_once(".v").and_then(|(name, version)| Some((name, version.parse::<u32>().ok()?)));
    let (name, version) = numbered.unwrap_or((urn, 1));
    let mut versions = (version.saturating_add(1)..=u32::MAX).map(|version| format!("{name}.v{version}"));
    versions.find(|urn| !known.contains(urn.as_str())).unwrap_or_else(|| format!("{urn}.v2"))
}

/// A message that is gone breaks consumers of now; those of before only wait for it in vain.
fn removed(before: &Entry, registry: &Location, directions: &[Direction]) -> Option<Problem> {
    directions.contains(&Direction::Backward).then(|| {
        registry.problem(format!(
            "{}: the URN `{}` is gone, and consumers would not know the messages that were sent with it: keep its entry, \
             with the status `deprecated`",
            Direction::Backward.name(),
            before.urn.escape_debug()
        ))
    })
}

/// Topic and key are no part of a payload, but publishers and consumers of both states must agree on them.
fn moved(before: &Entry, after: &Entry) -> Vec<Problem> {
    let mut found = Vec::new();
    if before.topic != after.topic {
        found.push(after.problem(
            "topic",
            format!(
                "the topic was `{}` and is `{}`: consumers of one state do not see what publishers of the other one send",
                before.topic, after.topic
            ),
        ));
    }
    if before.key != after.key {
        let shown = |key: &Option<Pointer>| {
            key.as_ref().map_or_else(|| "none".to_owned(), |key| format!("`{}`", key.as_str().escape_debug()))
        };
        found.push(after.problem(
            "key",
            format!(
                "the key was {} and is {}: records that belong together would be spread over two partitions and lose \
                 their order",
                shown(&before.key),
                shown(&after.key)
            ),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_version_is_one_that_is_not_in_use() {
        let next = |urn: &str, known: &[&str]| next_version(urn, &known.iter().copied().collect());
        assert_eq!(next("urn:babel:orders:created", &[]), "urn:babel:orders:created.v2");
        assert_eq!(next("urn:babel:orders:created.v9", &[]), "urn:babel:orders:created.v10");
        assert_eq!(
            next("urn:babel:orders:x", &["urn:babel:orders:x.v2", "urn:babel:orders:x.v3"]),
            "urn:babel:orders:x.v4"
        );
        assert_eq!(next("urn:babel:orders:x.vat", &[]), "urn:babel:orders:x.vat.v2");
    }
}
