//! What was measured: printed as it comes, and written as a page and a picture when that is asked for.

use std::{fmt::Write as _, fs, io, path::Path, thread::available_parallelism};

use crate::Turn;

/// Rows in the order in which they were measured.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    side: String,
    records: u64,
    /// Records a second, median of the turns.
    rate: f64,
    /// CPU a record in µs, median of the turns.
    micros: f64,
    /// To the side that it is compared with: median, least and greatest of the pairs.
    ratio: Option<[f64; 3]>,
}

impl Report {
    /// Two sides that took turns; the first one is what the second is compared with, and is told once.
    pub(crate) fn add(&mut self, what: &str, records: u64, base: (&str, &[Turn]), ours: (&str, &[Turn])) {
        if !self.rows.iter().any(|row| row.what == what && row.side == base.0) {
            self.tell(row(what, records, base, None));
        }
        self.tell(row(what, records, ours, Some(base.1)));
    }

    fn tell(&mut self, row: Row) {
        let Row { what, side, rate, micros, .. } = &row;
        print!("{what:<9} {side:<22} {rate:>10.0} records/s {micros:>7.2} µs CPU/record");
        match row.ratio {
            Some([median, least, greatest]) => println!("   ratio {median:.2} ({least:.2} to {greatest:.2})"),
            None => println!(),
        }
        self.rows.push(row);
    }

    /// Writes `BENCHMARKS.md`, and the picture of what consuming takes beside this file's folder.
    pub(crate) fn write(&self, settings: &str) -> io::Result<()> {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::write(runtime.join("../BENCHMARKS.md"), self.page(settings))?;
        fs::write(runtime.join("benches/consume.svg"), self.picture())
    }

    fn page(&self, settings: &str) -> String {
        let mut page = format!(
            "# Benchmarks\n\nWritten by `cargo xtask bench --write`; do not edit. {settings}.\n\nMachine: {}. The broker runs \
             on the same machine. The raw client does the same work with the same settings: it reads the same headers and \
             decodes the same type, or writes the same envelope and headers. Figures wander by a factor of two from run to \
             run: read the ratios, which are medians of pairs that took turns.\n\n\
             | | side | records | records/s | ratio (least to greatest pair) | µs CPU a record |\n|---|---|--:|--:|---|--:|\n",
            machine()
        );
        for Row { what, side, records, rate, micros, ratio } in &self.rows {
            let ratio = ratio.map_or_else(String::new, |[median, least, greatest]| {
                format!("{median:.2} ({least:.2} to {greatest:.2})")
            });
            let _ = writeln!(page, "| {what} | {side} | {records} | {rate:.0} | {ratio} | {micros:.2} |");
        }
        page
    }

    /// The rows of consuming as bars.
    fn picture(&self) -> String {
        let rows: Vec<_> = self.rows.iter().filter(|row| row.what == "consume").collect();
        let most = rows.iter().map(|row| row.rate).fold(1.0, f64::max);
        let height = 34 + 26 * rows.len();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{height}\" font-family=\"sans-serif\" \
             font-size=\"13\">\n<text x=\"8\" y=\"20\" font-weight=\"bold\">Consuming 450-byte records, records a second\
             </text>\n"
        );
        for (index, row) in rows.iter().enumerate() {
            let y = 34 + 26 * index;
            let width = 400.0 * row.rate / most;
            let color = if row.ratio.is_some() { "#d9730d" } else { "#8a8f98" };
            let _ = writeln!(
                svg,
                "<text x=\"8\" y=\"{}\">{}</text><rect x=\"190\" y=\"{y}\" width=\"{width:.0}\" height=\"18\" \
                 fill=\"{color}\"/><text x=\"{:.0}\" y=\"{}\">{:.0}</text>",
                y + 14,
                row.side,
                198.0 + width,
                y + 14,
                row.rate,
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[allow(clippy::cast_precision_loss)]
fn row(what: &str, records: u64, (side, turns): (&str, &[Turn]), base: Option<&[Turn]>) -> Row {
    let rate = |turn: &Turn| records as f64 / turn.wall.as_secs_f64();
    let sorted = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values
    };
    let middle = |values: &[f64]| values.get(values.len() / 2).copied().unwrap_or_default();
    let ratio = base.map(|base| {
        let ratios = sorted(base.iter().zip(turns).map(|(base, ours)| rate(ours) / rate(base)).collect());
        [middle(&ratios), ratios.first().copied().unwrap_or_default(), ratios.last().copied().unwrap_or_default()]
    });
    Row {
        what: what.to_owned(),
        side: side.to_owned(),
        records,
        rate: middle(&sorted(turns.iter().map(rate).collect())),
        micros: middle(&sorted(turns.iter().map(|turn| turn.cpu.as_secs_f64() * 1e6 / records as f64).collect())),
        ratio,
    }
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
        std::env::consts::OS,
    )
}
