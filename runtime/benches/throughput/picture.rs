//! The picture of what consuming takes: this SDK, the raw client and the peers as bars.

use std::fmt::Write as _;

use crate::{cases::Section, report::Row};

/// Each bar with the space to the next one.
const STEP: usize = 26;
const TOP: usize = 34;

pub(crate) fn of(rows: &[Row]) -> String {
    let shown = |row: &&Row| match row.section {
        Section::Consume => true,
        // This SDK's own turns are there already.
        Section::Peers => row.ratio.is_none(),
        _ => false,
    };
    let rows: Vec<&Row> = rows.iter().filter(shown).collect();
    let most = rows.iter().map(|row| row.rate).fold(1.0, f64::max);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<text x=\"8\" y=\"20\" font-weight=\"bold\">Consuming 450-byte records, records a second\
         </text>\n",
        TOP + STEP * rows.len()
    );
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + STEP * index;
        let width = 380.0 * row.rate / most;
        let color = if row.ratio.is_some() { "#d9730d" } else { "#8a8f98" };
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"{}\">{}</text><rect x=\"210\" y=\"{y}\" width=\"{width:.0}\" height=\"18\" \
             fill=\"{color}\"/><text x=\"{:.0}\" y=\"{}\">{:.0}</text>",
            y + 14,
            row.side,
            218.0 + width,
            y + 14,
            row.rate,
        );
    }
    svg.push_str("</svg>\n");
    svg
}
