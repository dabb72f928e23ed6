//! What the ledger is told, a line each. All who tell write to one pipe, each line at once, so that the order of the lines
//! is the order in which things happened: what was written before a commit comes before whoever saw that commit.

use std::{
    fmt,
    fs::File,
    io::{self, Write as _},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::plan::Order;

/// A partition of a work topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) order: Order,
    pub(crate) partition: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A member was given a partition. A member that is started again is another one.
    Assigned { member: u32, at: Place },
    /// A member no longer has a partition.
    Left { member: u32, at: Place },
    /// So many records of a partition wait in a member for their handlers.
    Holds { member: u32, at: Place, waiting: u64 },
    /// A handler begins, after so many failures, with a record that was written then (Unix milliseconds).
    Started { member: u32, at: Place, offset: i64, number: u64, attempts: u32, written: i64 },
    /// A handler is about to return.
    Ended { member: u32, at: Place, offset: i64, well: bool },
    /// A member could not write to a retry topic, a dead-letter topic or, as a reinjector, a work topic.
    WriteFailed { member: u32, order: Order },
    /// A commit failed.
    CommitFailed { member: u32, order: Order },
    /// A record lies on a retry topic, and is due then (Unix milliseconds).
    Waits { order: Order, number: u64, attempts: u32, due: i64 },
    /// A record lies on the dead-letter topic.
    Dead { order: Order, number: u64 },
    /// The group had committed this offset then (Unix milliseconds). What lay on the other topics by then was told before.
    Committed { at: Place, offset: i64, seen: i64 },
    /// The partition ends there by now.
    End { at: Place, offset: i64 },
    /// So many records of the topic are acknowledged.
    Published { order: Order, count: u64 },
    /// Whether enough brokers are up to write and to commit, and whether all are.
    Brokers { able: bool, all: bool },
    /// Everything was told.
    Over,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.order.name(), self.partition)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assigned { member, at } => write!(f, "assigned {member} {at}"),
            Self::Left { member, at } => write!(f, "left {member} {at}"),
            Self::Holds { member, at, waiting } => write!(f, "holds {member} {at} {waiting}"),
            Self::Started { member, at, offset, number, attempts, written } => {
                write!(f, "started {member} {at} {offset} {number} {attempts} {written}")
            }
            Self::Ended { member, at, offset, well } => {
                write!(f, "{} {member} {at} {offset}", if *well { "handled" } else { "failed" })
            }
            Self::WriteFailed { member, order } => write!(f, "write-failed {member} {}", order.name()),
            Self::CommitFailed { member, order } => write!(f, "commit-failed {member} {}", order.name()),
            Self::Waits { order, number, attempts, due } => {
                write!(f, "waits {} {number} {attempts} {due}", order.name())
            }
            Self::Dead { order, number } => write!(f, "dead {} {number}", order.name()),
            Self::Committed { at, offset, seen } => write!(f, "committed {at} {offset} {seen}"),
            Self::End { at, offset } => write!(f, "end {at} {offset}"),
            Self::Published { order, count } => write!(f, "published {} {count}", order.name()),
            Self::Brokers { able, all } => write!(f, "brokers {able} {all}"),
            Self::Over => f.write_str("over"),
        }
    }
}

impl Line {
    /// Reads what [`Line`] prints.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let kind = words.next()?;
        let mut next = || words.next();
        macro_rules! number {
            () => {
                next()?.parse().ok()?
            };
        }
        macro_rules! order {
            () => {
                Order::of(next()?)?
            };
        }
        macro_rules! place {
            () => {
                Place { order: order!(), partition: number!() }
            };
        }
        Some(match kind {
            "assigned" => Self::Assigned { member: number!(), at: place!() },
            "left" => Self::Left { member: number!(), at: place!() },
            "holds" => Self::Holds { member: number!(), at: place!(), waiting: number!() },
            "started" => Self::Started {
                member: number!(),
                at: place!(),
                offset: number!(),
                number: number!(),
                attempts: number!(),
                written: number!(),
            },
            "handled" => Self::Ended { member: number!(), at: place!(), offset: number!(), well: true },
            "failed" => Self::Ended { member: number!(), at: place!(), offset: number!(), well: false },
            "write-failed" => Self::WriteFailed { member: number!(), order: order!() },
            "commit-failed" => Self::CommitFailed { member: number!(), order: order!() },
            "waits" => Self::Waits { order: order!(), number: number!(), attempts: number!(), due: number!() },
            "dead" => Self::Dead { order: order!(), number: number!() },
            "committed" => Self::Committed { at: place!(), offset: number!(), seen: number!() },
            "end" => Self::End { at: place!(), offset: number!() },
            "published" => Self::Published { order: order!(), count: number!() },
            "brokers" => Self::Brokers { able: number!(), all: number!() },
            "over" => Self::Over,
            _ => return None,
        })
    }
}

/// The time now, for files that are read side by side.
pub(crate) fn unix_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}

/// The end of the pipe that is told.
#[derive(Clone)]
pub(crate) struct Teller(Arc<File>);

impl Teller {
    pub(crate) fn new(pipe: impl Into<std::os::fd::OwnedFd>) -> Self {
        Self(Arc::new(File::from(pipe.into())))
    }

    /// One write: it is whole in the pipe when this returns, whatever happens to the process.
    pub(crate) fn tell(&self, line: &Line) -> io::Result<()> {
        (&*self.0).write_all(format!("{line}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_back() {
        let (member, order, number, attempts, offset) = (3, Order::Key, 77, 2, 4711);
        let at = Place { order, partition: 2 };
        for line in [
            Line::Assigned { member, at },
            Line::Left { member, at },
            Line::Holds { member, at, waiting: 6 },
            Line::Started { member, at, offset, number, attempts, written: -1 },
            Line::Ended { member, at, offset, well: true },
            Line::Ended { member, at, offset, well: false },
            Line::WriteFailed { member, order },
            Line::CommitFailed { member, order },
            Line::Waits { order, number, attempts, due: 1 },
            Line::Dead { order, number },
            Line::Committed { at, offset, seen: 9 },
            Line::End { at, offset },
            Line::Published { order, count: 5 },
            Line::Brokers { able: true, all: false },
            Line::Over,
        ] {
            assert_eq!(Line::read(&line.to_string()), Some(line));
        }
        for broken in ["", "started 1 key 2", "assigned x key 0", "committed ley 0 1"] {
            assert_eq!(Line::read(broken), None, "{broken}");
        }
    }
}
