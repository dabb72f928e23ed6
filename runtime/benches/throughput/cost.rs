//! What a record costs in memory, allocations and instructions, as far as that can be counted.

use crate::{
    cases::{OURS, Program, RAW},
    programs::Programs,
    report::mib,
    sides::{Error, How, Mode, PARTITIONS, Sending, Size, Task, Work},
    topics::{Holds, Topic, Topics},
};

/// What one side costs.
pub(crate) struct Cost {
    pub(crate) what: &'static str,
    pub(crate) side: &'static str,
    /// Whether it is held to the aims.
    pub(crate) is_ours: bool,
    /// Resident memory at its highest, in MiB.
    pub(crate) peak: f64,
    pub(crate) allocations: Option<f64>,
    /// Those besides what the payload takes.
    pub(crate) beyond: Option<f64>,
    pub(crate) instructions: Option<f64>,
}

/// Each with the work on the payload that it contains.
const SIDES: [(&str, &str, Work, Work); 7] = [
    ("publish", RAW, Work::PublishRaw(Sending::Pipelined), Work::Make),
    ("publish", OURS, Work::Publish(Sending::Pipelined), Work::Make),
    ("consume", RAW, Work::ConsumeRaw, Work::Decode),
    ("consume", "order by partition", Work::Consume(How::DEFAULT), Work::Decode),
    ("consume", "order by key", Work::Consume(How::by(Mode::Key)), Work::Decode),
    ("consume", "unordered", Work::Consume(How::by(Mode::Unordered)), Work::Decode),
    ("consume", "batches of 500", Work::Consume(How::by(Mode::Batches)), Work::Decode),
];

pub(crate) async fn measure(
    programs: &Programs,
    topics: &mut Topics,
    records: u64,
    mut tell: impl FnMut(Cost),
) -> Result<(), Error> {
    // Whatever counts, slows down.
    let few = records / 30;
    for (what, side, work, payload) in SIDES {
        let peak = programs.take(Program::Own(work), &topics.task(topic(work), records).await?)?;
        let allocations = per_record(topics, work, few, |task| programs.allocations(work, task)).await?;
        let of_payload = per_record(topics, payload, few, |task| programs.allocations(payload, task)).await?;
        tell(Cost {
            what,
            side,
            is_ours: side != RAW,
            peak: peak.map_or(0.0, |turn| mib(&turn)),
            allocations,
            beyond: allocations.zip(of_payload).map(|(all, payload)| all - payload),
            instructions: per_record(topics, work, few, |task| programs.instructions(work, task)).await?,
        });
    }
    Ok(())
}

fn topic(work: Work) -> Topic {
    let holds = match work {
        Work::ConsumeRaw | Work::Consume(_) => Holds::Records,
        _ => Holds::Nothing,
    };
    Topic { partitions: PARTITIONS, size: Size::Medium, holds }
}

/// Of two turns that take all records of their topics, the second one three times as many as the first, so that what begins
/// and ends a turn does not count.
#[allow(clippy::cast_precision_loss)]
async fn per_record(
    topics: &mut Topics,
    work: Work,
    few: u64,
    count: impl Fn(&Task) -> Result<Option<f64>, Error>,
) -> Result<Option<f64>, Error> {
    let once = count(&topics.task(topic(work), few).await?)?;
    let thrice = count(&topics.task(topic(work), 3 * few).await?)?;
    Ok(once.zip(thrice).map(|(once, thrice)| (thrice - once) / (2 * few) as f64))
}
