//! What was measured: printed as it comes, and kept for the page and the picture.

use std::{fs, io, path::Path};

use crate::{
    cases::{Case, Section},
    cost::Cost,
    page, picture,
    sides::Turn,
};

/// Rows in the order in which they were measured.
pub(crate) struct Report {
    pub(crate) records: u64,
    pub(crate) rounds: usize,
    pub(crate) rows: Vec<Row>,
    pub(crate) costs: Vec<Cost>,
}

pub(crate) struct Row {
    pub(crate) section: Section,
    pub(crate) case: &'static str,
    pub(crate) side: &'static str,
    pub(crate) records: u64,
    /// Records a second, median of the turns.
    pub(crate) rate: f64,
    /// CPU a record in µs, median of the turns.
    pub(crate) micros: f64,
    /// Resident memory at its highest in MiB, greatest of the turns.
    pub(crate) peak: f64,
    /// To what it is compared with: median, least and greatest of the pairs.
    pub(crate) ratio: Option<[f64; 3]>,
    pub(crate) aim: Option<f64>,
}

impl Row {
    /// Whether it reaches its aim, if it has one.
    pub(crate) fn is_met(&self) -> Option<bool> {
        Some(self.ratio?[0] >= self.aim?)
    }
}

impl Report {
    pub(crate) fn new(records: u64, rounds: usize) -> Self {
        Self { records, rounds, rows: Vec::new(), costs: Vec::new() }
    }

    /// The turns of each side of a case; a side without turns is left out.
    pub(crate) fn tell(&mut self, case: &Case, records: u64, turns: &[Vec<Turn>]) {
        let base: &[Turn] = turns.first().map_or(&[], Vec::as_slice);
        for (index, (side, turns)) in case.sides.iter().zip(turns).enumerate() {
            if turns.is_empty() {
                println!("{:<10} {:<18} {:<27} not there", case.section.title(), case.name, side.name);
                continue;
            }
            let pairs = base.iter().zip(turns).map(|(base, turn)| seconds(base) / seconds(turn)).collect();
            let row = Row {
                section: case.section,
                case: case.name,
                side: side.name,
                records,
                rate: middle(turns.iter().map(|turn| count(records) / seconds(turn)).collect()),
                micros: middle(turns.iter().map(|turn| turn.cpu.as_secs_f64() * 1e6 / count(records)).collect()),
                peak: turns.iter().map(mib).fold(0.0, f64::max),
                ratio: spread(pairs).filter(|[median, ..]| index > 0 && *median > 0.0),
                aim: side.aim,
            };
            print_row(&row);
            self.rows.push(row);
        }
    }

    pub(crate) fn tell_cost(&mut self, cost: Cost) {
        let told = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.2}"));
        println!(
            "cost       {:<18} {:<27} {:>6.1} MiB {:>6} allocations/record, {:>6} beyond the payload's, {:>9} instructions/record",
            cost.what,
            cost.side,
            cost.peak,
            told(cost.allocations),
            told(cost.beyond),
            told(cost.instructions),
        );
        self.costs.push(cost);
    }

    /// Writes `BENCHMARKS.md`, and the picture of what consuming takes beside this file's folder.
    pub(crate) fn write(&self) -> io::Result<()> {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::write(runtime.join("../BENCHMARKS.md"), page::of(self))?;
        fs::write(runtime.join("benches/consume.svg"), picture::of(&self.rows))
    }
}

fn print_row(row: &Row) {
    let Row { section, case, side, rate, micros, peak, .. } = row;
    let section = section.title();
    print!("{section:<10} {case:<18} {side:<27} {rate:>9.0} records/s {micros:>7.2} µs CPU/record {peak:>6.1} MiB");
    if let Some([median, least, greatest]) = row.ratio {
        print!("   ratio {median:.2} ({least:.2} to {greatest:.2})");
    }
    match row.is_met() {
        Some(true) => println!("   aim met"),
        Some(false) => println!("   AIM MISSED: {}", row.aim.unwrap_or_default()),
        None => println!(),
    }
}

/// Resident memory at its highest, in MiB.
pub(crate) fn mib(turn: &Turn) -> f64 {
    count(turn.peak) / 1024.0
}

fn seconds(turn: &Turn) -> f64 {
    turn.wall.as_secs_f64()
}

#[allow(clippy::cast_precision_loss)]
fn count(records: u64) -> f64 {
    records as f64
}

fn middle(values: Vec<f64>) -> f64 {
    spread(values).map_or(0.0, |[median, ..]| median)
}

/// Median, least and greatest.
fn spread(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    Some([*values.get(values.len() / 2)?, *values.first()?, *values.last()?])
}
