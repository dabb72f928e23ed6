//! `BENCHMARKS.md`.

use std::{env::consts, fmt::Write as _, fs, thread::available_parallelism};

use crate::{
    cases::Section,
    cost::Cost,
    report::{Report, Row},
    sides::{PARTITIONS, WINDOW},
};

/// In MiB, at full speed.
const MOST_MEMORY: f64 = 64.0;
/// A record that is consumed, besides the payload's own.
const MOST_ALLOCATIONS: f64 = 1.0;

pub(crate) fn of(report: &Report) -> String {
    let Report { records, rounds, .. } = report;
    let mut page = format!(
        "# Benchmarks\n\nWritten by `cargo xtask bench --write`; do not edit. {records} records, {PARTITIONS} partitions where \
         no other number is told, {rounds} turns a side, {WINDOW} sends in flight where they are pipelined.\n\n\
         Machine: {}. The broker runs on the same machine. The raw client does the same work with the same settings: it reads \
         the same headers and decodes the same type, or writes the same envelope and headers. Each turn has a process to \
         itself. Figures wander by a factor of two from run to run: read the ratios, which are medians of pairs that took \
         turns, with the least and the greatest pair.\n",
        machine()
    );
    for section in Section::ALL {
        let rows: Vec<&Row> = report.rows.iter().filter(|row| row.section == section).collect();
        if !rows.is_empty() {
            let _ = write!(page, "\n## {}\n\n{}\n\n", section.title(), section.about());
            write_rows(&mut page, &rows);
        }
    }
    if !report.costs.is_empty() {
        let _ = write!(page, "\n## {}\n\n{}\n\n", Section::Cost.title(), Section::Cost.about());
        write_costs(&mut page, &report.costs);
    }
    page
}

fn write_rows(page: &mut String, rows: &[&Row]) {
    page.push_str(
        "| | side | records | records/s | ratio | aim | µs CPU a record | peak MiB |\n|---|---|--:|--:|---|---|--:|--:|\n",
    );
    for row in rows {
        let Row { case, side, records, rate, micros, peak, .. } = row;
        let ratio = row
            .ratio
            .map_or_else(String::new, |[median, least, greatest]| format!("{median:.2} ({least:.2} to {greatest:.2})"));
        let aim = row.is_met().zip(row.aim).map_or_else(String::new, |(met, aim)| judged(met, &format!("{aim:.1}")));
        let _ =
            writeln!(page, "| {case} | {side} | {records} | {rate:.0} | {ratio} | {aim} | {micros:.2} | {peak:.0} |");
    }
}

fn write_costs(page: &mut String, costs: &[Cost]) {
    page.push_str(
        "| | side | peak MiB | aim | allocations a record | beyond the payload's | aim | instructions a record |\n\
         |---|---|--:|---|--:|--:|---|--:|\n",
    );
    for cost in costs {
        let aim = |value: f64, most: f64| match cost.is_ours {
            true => judged(value <= most, &format!("at most {most:.0}")),
            false => String::new(),
        };
        let number = |value: Option<f64>, digits| value.map_or_else(String::new, |value| format!("{value:.digits$}"));
        let Cost { what, side, peak, allocations, beyond, instructions, .. } = cost;
        let _ = writeln!(
            page,
            "| {what} | {side} | {peak:.0} | {} | {} | {} | {} | {} |",
            aim(*peak, MOST_MEMORY),
            number(*allocations, 2),
            number(*beyond, 2),
            // What is counted by two turns is not exact to the last allocation.
            match beyond {
                Some(beyond) if *what == "consume" => aim((beyond * 10.0).round() / 10.0, MOST_ALLOCATIONS),
                _ => String::new(),
            },
            number(*instructions, 0),
        );
    }
}

fn judged(met: bool, aim: &str) -> String {
    if met { format!("{aim}: met") } else { format!("{aim}: **missed**") }
}

/// What the system tells of its processors and memory.
fn machine() -> String {
    let tells = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    format!(
        "{} with {} cores, memory {}, {}",
        tells("/proc/cpuinfo", "model name"),
        available_parallelism().map_or(1, usize::from),
        tells("/proc/meminfo", "MemTotal"),
        consts::OS,
    )
}
