//! This SDK against the raw client doing the same work with the same settings, and against its peers, side by side in one
//! run.
//!
//! `cargo xtask bench [quick] [SECTION…] [RECORDS] [--write]` runs it on a real broker; the ratios are the result, as
//! absolute figures wander. With `--write` they are written to `BENCHMARKS.md`.

mod cases;
mod cost;
mod page;
mod picture;
mod programs;
mod report;
mod sides;
mod topics;

use self::{
    cases::{Case, Section},
    programs::Programs,
    report::Report,
    sides::{Error, brokers},
    topics::Topics,
};

/// What is to be measured.
struct Wanted {
    quick: bool,
    /// By their names; all of them if there are none.
    sections: Vec<Section>,
    records: u64,
    /// Each side takes so many turns; the median of them counts.
    rounds: usize,
    write: bool,
}

fn parse(words: &[String]) -> Result<Wanted, Error> {
    let quick = words.iter().any(|word| word == "quick");
    let (records, rounds) = if quick { (60_000, 3) } else { (300_000, 5) };
    let mut wanted = Wanted { quick, sections: Vec::new(), records, rounds, write: false };
    for word in words {
        match (word.as_str(), Section::named(word), word.parse()) {
            // Cargo adds `--bench`.
            ("quick" | "--bench", ..) => {}
            ("--write", ..) => wanted.write = true,
            (_, Some(section), _) => wanted.sections.push(section),
            (_, _, Ok(records)) if records >= 1_000 => wanted.records = records,
            _ => return Err(format!("bench: `{word}` means nothing here").into()),
        }
    }
    Ok(wanted)
}

impl Wanted {
    fn has(&self, section: Section) -> bool {
        self.sections.is_empty() || self.sections.contains(&section)
    }

    fn wants(&self, case: &Case) -> bool {
        self.has(case.section) && (case.quick || !self.quick)
    }
}

async fn run(wanted: &Wanted) -> Result<(), Error> {
    let brokers = brokers()?;
    let (programs, mut topics) = (Programs::find()?, Topics::new(&brokers)?);
    let mut report = Report::new(wanted.records, wanted.rounds);
    for case in cases::all().iter().filter(|case| wanted.wants(case)) {
        measure(case, wanted, &programs, &mut topics, &mut report).await?;
    }
    if wanted.has(Section::Cost) {
        cost::measure(&programs, &mut topics, wanted.records, |cost| report.tell_cost(cost)).await?;
    }
    if wanted.write {
        report.write()?;
    }
    Ok(())
}

/// Lets the sides of a case take turns.
async fn measure(
    case: &Case,
    wanted: &Wanted,
    programs: &Programs,
    topics: &mut Topics,
    report: &mut Report,
) -> Result<(), Error> {
    let records = (wanted.records / case.one_in).max(100);
    let mut turns = vec![Vec::new(); case.sides.len()];
    for _ in 0..wanted.rounds {
        for (side, turns) in case.sides.iter().zip(&mut turns) {
            let task = topics.task(case.topic, records).await?;
            turns.extend(programs.take(side.program, &task)?);
        }
    }
    report.tell(case, records, &turns);
    Ok(())
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if sides::take_turn(&words)? {
        return Ok(());
    }
    let wanted = parse(&words)?;
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(run(&wanted))
}
