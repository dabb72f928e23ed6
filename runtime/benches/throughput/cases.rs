//! What is measured, as a table: each case names the sides that take turns at the same records.

use std::time::Duration;

use crate::{
    sides::{Commits, How, Mode, PARTITIONS, Sending, Size, Work},
    topics::{Holds, Topic},
};

/// A part of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Publish,
    Consume,
    Partitions,
    Sizes,
    Handlers,
    Peers,
    Commits,
    Movers,
    /// What a record costs in memory, allocations and instructions.
    Cost,
}

impl Section {
    /// In the order of the page.
    pub(crate) const ALL: [Self; 9] = [
        Self::Publish,
        Self::Consume,
        Self::Partitions,
        Self::Sizes,
        Self::Handlers,
        Self::Peers,
        Self::Commits,
        Self::Movers,
        Self::Cost,
    ];

    /// Its title, as a word of the command line names it.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.title().eq_ignore_ascii_case(word))
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Publish => "Publish",
            Self::Consume => "Consume",
            Self::Partitions => "Partitions",
            Self::Sizes => "Sizes",
            Self::Handlers => "Handlers",
            Self::Peers => "Peers",
            Self::Commits => "Commits",
            Self::Movers => "Movers",
            Self::Cost => "Cost",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Publish => {
                "Each send is acknowledged by all in-sync replicas. One at a time, a send waits for the one before it, and \
                 each takes the client's linger time."
            }
            Self::Consume => {
                "The handler takes the payload decoded. This SDK has its default settings but for the order."
            }
            Self::Partitions => "The same with other numbers of partitions.",
            Self::Sizes => {
                "The same with other records. Without its envelope a payload of the first case has about 100 bytes; one of \
                 the last is one long text."
            }
            Self::Handlers => {
                "Handlers that wait, 1,000 at once, each record with a key of its own. The ratio is to the ideal: as many \
                 tasks that wait as often, without a message. A timer of tokio rounds up to its next millisecond, so 5 ms \
                 are about 6."
            }
            Self::Peers => {
                "The ratio is this SDK's to the peer's. RustStream 0.7 decodes the same payload; as it comes it commits what \
                 it has handed out, handled or not, and with the same settings it commits what is handled. The SDK for \
                 Python handles one record at a time."
            }
            Self::Commits => "Failing records and other ways to commit, against the default.",
            Self::Movers => {
                "Reinjector and redrive, against a loop that consumes and produces by hand and commits once at its end."
            }
            Self::Cost => {
                "Peak: resident memory of a process that does nothing else, at full speed. Allocations: of the Rust side \
                 alone, without those that the payload takes by itself when it is made or decoded. Instructions: counted by \
                 callgrind, librdkafka included. Both are the difference of two turns, so that beginning and end do \
                 not count."
            }
        }
    }
}

pub(crate) struct Case {
    pub(crate) section: Section,
    pub(crate) name: &'static str,
    pub(crate) topic: Topic,
    /// A turn takes one in so many of the records that were asked for.
    pub(crate) one_in: u64,
    /// All are compared with the first.
    pub(crate) sides: Vec<Side>,
    /// Whether the quick form has it.
    pub(crate) quick: bool,
}

#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// The ratio that it is to reach.
    pub(crate) aim: Option<f64>,
}

/// What takes the turn.
#[derive(Clone, Copy)]
pub(crate) enum Program {
    /// This one.
    Own(Work),
    RustStream {
        /// With the settings of this SDK in place of its own.
        same: bool,
    },
    Python,
}

/// As many as a service with a database behind it may have.
const AT_ONCE: u64 = 1_000;

pub(crate) const RAW: &str = "raw client";
pub(crate) const OURS: &str = "babelqueue";

/// Of publishing, and how many records one at a time and from tasks take for one that is pipelined.
const SENDINGS: [(&str, Sending, u64, bool); 3] = [
    ("one at a time", Sending::OneAtATime, 600, false),
    ("from 16 tasks", Sending::FromTasks(16), 60, false),
    ("pipelined", Sending::Pipelined, 5, true),
];

/// Of consuming, each with the ratio that it is to reach.
const MODES: [(&str, Mode, Option<f64>); 4] = [
    ("order by partition", Mode::Partition, Some(1.1)),
    ("order by key", Mode::Key, None),
    ("unordered", Mode::Unordered, None),
    ("batches of 500", Mode::Batches, None),
];

pub(crate) fn all() -> Vec<Case> {
    let parts = [publish(), consume(), partitions(), sizes(), handlers(), peers(), commits(), movers()];
    parts.into_iter().flatten().collect()
}

fn own(name: &'static str, work: Work, aim: Option<f64>) -> Side {
    Side { name, program: Program::Own(work), aim }
}

/// Consuming by default, as all other cases differ from it.
fn case(section: Section, name: &'static str, sides: Vec<Side>) -> Case {
    let topic = Topic { partitions: PARTITIONS, size: Size::Medium, holds: Holds::Records };
    Case { section, name, topic, one_in: 1, sides, quick: false }
}

fn publish() -> Vec<Case> {
    let sending = |(name, sending, one_in, quick)| {
        let sides = vec![own(RAW, Work::PublishRaw(sending), None), own(OURS, Work::Publish(sending), Some(1.0))];
        let case = case(Section::Publish, name, sides);
        Case { topic: Topic { holds: Holds::Nothing, ..case.topic }, one_in, quick, ..case }
    };
    SENDINGS.into_iter().map(sending).collect()
}

fn consume() -> Vec<Case> {
    let ours = MODES.map(|(name, mode, aim)| own(name, Work::Consume(How::by(mode)), aim));
    let sides = [own(RAW, Work::ConsumeRaw, None)].into_iter().chain(ours).collect();
    vec![Case { quick: true, ..case(Section::Consume, "450-byte records", sides) }]
}

/// Sides of a case that asks what changes with the topic.
fn raw_and_ours() -> Vec<Side> {
    let [partition, key, ..] = MODES.map(|(name, mode, _)| own(name, Work::Consume(How::by(mode)), None));
    vec![own(RAW, Work::ConsumeRaw, None), partition, key]
}

fn partitions() -> Vec<Case> {
    let with = |(name, partitions)| {
        let case = case(Section::Partitions, name, raw_and_ours());
        Case { topic: Topic { partitions, ..case.topic }, ..case }
    };
    [("1 partition", 1), ("4 partitions", 4), ("16 partitions", 16), ("64 partitions", 64)].map(with).into()
}

fn sizes() -> Vec<Case> {
    let of = |(name, size, one_in)| {
        let case = case(Section::Sizes, name, raw_and_ours());
        Case { topic: Topic { size, ..case.topic }, one_in, ..case }
    };
    [("100-byte payloads", Size::Small, 1), ("450-byte records", Size::Medium, 1), ("10 KB records", Size::Large, 10)]
        .map(of)
        .into()
}

fn handlers() -> Vec<Case> {
    let taking = |(name, millis, aim, quick)| {
        let (pause, at_once) = (Duration::from_millis(millis), AT_ONCE);
        let how = How { pause, at_once: usize::try_from(at_once).ok(), ..How::by(Mode::Key) };
        let alone = own("handlers alone", Work::HandleAlone { pause, at_once }, None);
        let alone = (millis > 0).then_some(alone);
        let sides = alone.into_iter().chain([own("order by key, 1,000 at once", Work::Consume(how), aim)]).collect();
        Case { quick, ..case(Section::Handlers, name, sides) }
    };
    [("0 ms", 0, None, false), ("1 ms", 1, None, false), ("5 ms", 5, Some(0.9), true)].map(taking).into()
}

fn peers() -> Vec<Case> {
    let ours = |aim| own("order by partition", Work::Consume(How::DEFAULT), aim);
    let rust_stream = |name, same, aim| {
        let rival = Side { name, program: Program::RustStream { same }, aim: None };
        Case { quick: true, ..case(Section::Peers, "in Rust", vec![rival, ours(Some(aim))]) }
    };
    let python = Side { name: "SDK for Python", program: Program::Python, aim: None };
    vec![
        rust_stream("RustStream as it comes", false, 4.0),
        rust_stream("RustStream, same settings", true, 1.0),
        // It takes some 4,000 records a second.
        Case { one_in: 30, quick: true, ..case(Section::Peers, "in Python", vec![python, ours(None)]) },
    ]
}

fn commits() -> Vec<Case> {
    let default = own("default", Work::Consume(How::DEFAULT), None);
    let other = |name, how, one_in| {
        let sides = vec![default.clone(), own(name, Work::Consume(how), None)];
        Case { one_in, ..case(Section::Commits, "450-byte records", sides) }
    };
    vec![
        other("1 % fails", How { failing: 100, ..How::DEFAULT }, 1),
        other("commit by 100", How { commits: Commits::Each100, ..How::DEFAULT }, 50),
        // A round trip a record takes long.
        other("commit each record", How { commits: Commits::EachRecord, ..How::DEFAULT }, 50),
    ]
}

fn movers() -> Vec<Case> {
    let moving = |(name, holds, by_hand, ours)| {
        let case = case(Section::Movers, name, vec![own("by hand", by_hand, None), own(OURS, ours, None)]);
        Case { topic: Topic { holds, ..case.topic }, one_in: 5, ..case }
    };
    [
        ("reinject", Holds::Delayed, Work::ReinjectByHand, Work::Reinject),
        ("redrive", Holds::DeadLetters, Work::RedriveByHand, Work::Redrive),
    ]
    .map(moving)
    .into()
}
