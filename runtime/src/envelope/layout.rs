//! Where the members of an envelope lie, for whoever changes it by bytes.

use std::ops::Range;

use super::{
    Poison,
    scan::{Raw, Scanner},
};

/// The forbidden members of `meta`; at top level it is `timestamp` alone.
pub(super) const FORBIDDEN_META: [&str; 4] = ["max_retries", "attempts", "source", "ts"];
/// Room for the members that the contract names.
const MEMBERS: usize = 8;

/// The members of a body that is a JSON object, in order.
pub(crate) struct Layout<'a> {
    pub(super) text: &'a str,
    /// Where the object begins.
    pub(super) start: usize,
    pub(super) members: Vec<Member>,
    /// The members of each `meta` that is an object.
    pub(super) metas: Vec<Vec<Member>>,
    /// The last `job`.
    pub(super) job: Option<Raw<'a>>,
    /// The last `urn`.
    pub(super) urn: Option<Raw<'a>>,
}

pub(super) struct Member {
    pub(super) name: Name,
    pub(super) start: usize,
    pub(super) value: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Job,
    Urn,
    Attempts,
    DeadLetter,
    Forbidden,
    Other,
}

impl<'a> Layout<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, start: 0, members: Vec::with_capacity(MEMBERS), metas: Vec::new(), job: None, urn: None }
    }

    /// Whatever the members hold.
    pub(super) fn read(text: &'a str) -> Result<Self, Poison> {
        let mut layout = Self::new(text);
        let mut scanner = Scanner::new(text);
        let object = scanner.members(|name, start, scanner| {
            let value = scanner.at;
            match name.as_ref() {
                "meta" if scanner.at_object() => layout.read_meta(scanner)?,
                "job" => layout.job = Some(scanner.value()?),
                "urn" => layout.urn = Some(scanner.value()?),
                _ => drop(scanner.value()?),
            }
            layout.member(&name, start, value..scanner.at);
            Ok(())
        })?;
        scanner.end()?;
        layout.start = object.start;
        Ok(layout)
    }

    fn read_meta(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Poison> {
        self.begin_meta();
        scanner.members(|name, start, scanner| {
            let value = scanner.value()?.range();
            self.meta_member(&name, start, value);
            Ok(())
        })?;
        Ok(())
    }

    pub(super) fn member(&mut self, name: &str, start: usize, value: Range<usize>) {
        let name = match name {
            "job" => Name::Job,
            "urn" => Name::Urn,
            "attempts" => Name::Attempts,
            "dead_letter" => Name::DeadLetter,
            "timestamp" => Name::Forbidden,
            _ => Name::Other,
        };
        self.members.push(Member { name, start, value });
    }

    /// The members of another `meta` follow.
    pub(super) fn begin_meta(&mut self) {
        self.metas.push(Vec::with_capacity(MEMBERS));
    }

    pub(super) fn meta_member(&mut self, name: &str, start: usize, value: Range<usize>) {
        let name = if FORBIDDEN_META.contains(&name) { Name::Forbidden } else { Name::Other };
        if let Some(meta) = self.metas.last_mut() {
            meta.push(Member { name, start, value });
        }
    }
}
