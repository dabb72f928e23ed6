//! The measure as text, and what in it falls short.

use std::fmt::Write as _;

use super::group::{Part, Source};
use super::measure::{Counts, Lists, Measure};

/// How many of a hundred groups of the suite may be refused with a reason.
const REFUSED: usize = 5;
/// How many of a hundred invalid values the types alone must refuse, in required parts.
const BY_TYPE: usize = 70;

const TITLES: [&str; 8] = [
    "",
    "groups",
    "usable",
    "refused",
    "valid accepted",
    "encoded equal",
    "invalid refused by type",
    "by type or validation",
];

/// The table: a row for each part of a suite.
pub(super) fn table(measure: &Measure) -> String {
    let mut rows = vec![TITLES.map(str::to_owned)];
    rows.extend(measure.rows.iter().map(|(&(source, part), counts)| {
        [
            name(source, part),
            counts.groups.to_string(),
            counts.usable.to_string(),
            counts.refused.to_string(),
            share(counts.accepted, counts.valid),
            share(counts.equal, counts.accepted),
            share(counts.by_type, counts.invalid),
            share(counts.by_both, counts.invalid),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..TITLES.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cell = |(column, cell): (usize, &String)| match column {
            0 => format!("{cell:<0$}", widths[column]),
            _ => format!("{cell:>0$}", widths[column]),
        };
        let cells: Vec<_> = row.iter().enumerate().map(cell).collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

fn name(source: Source, part: Part) -> String {
    match (source, part) {
        (Source::Gcn, _) => source.name().to_owned(),
        (_, Part::Required) => format!("{} required", source.name()),
        (_, Part::Optional) => format!("{} optional", source.name()),
    }
}

/// `n` of `m`, and a share that says 100 % only of all.
fn share(n: usize, m: usize) -> String {
    match n * 100 {
        _ if m == 0 => "-".to_owned(),
        hundredfold => format!("{n}/{m} ({} %)", hundredfold / m),
    }
}

/// The lists behind the table, without the empty ones.
pub(super) fn lists(lists: &Lists, by_type: bool) -> String {
    let mut text = String::new();
    list(&mut text, "Panics", &lists.panics);
    for (reason, groups) in &lists.refused {
        list(&mut text, &format!("Refused: {reason}"), groups);
    }
    list(&mut text, "Code that does not compile", &lists.broken);
    list(&mut text, "Code that compiles with warnings", &lists.warned);
    list(&mut text, "Valid, but refused by the type", &lists.valid_refused);
    list(&mut text, "Valid, but not equal when encoded again", &lists.not_equal);
    list(&mut text, "Schemas that validation does not take", &lists.not_compiled);
    list(&mut text, "Valid, but refused by validation", &lists.valid_violates);
    list(&mut text, "Invalid, but let through by type and validation (required parts)", &lists.let_through);
    if by_type {
        list(&mut text, "Invalid, but let through by the type", &lists.let_through_by_type);
    }
    text
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{title} ({}):", lines.len());
    for line in lines {
        let _ = writeln!(text, "  {}", line.replace('\n', "\n    "));
    }
}

/// What falls short, a sentence each; nothing if the measure is passed.
pub(super) fn shortcomings(measure: &Measure) -> Vec<String> {
    let lists = &measure.lists;
    let mut found = Vec::new();
    for (count, what) in [
        (lists.panics.len(), "panics"),
        (lists.broken.len(), "groups whose code does not compile"),
        (lists.valid_refused.len(), "valid values that a type refuses"),
        (lists.not_equal.len(), "values that are not equal when encoded again"),
        (lists.not_compiled.len(), "schemas that validation does not take"),
        (lists.valid_violates.len(), "valid values that validation refuses"),
    ] {
        if count > 0 {
            found.push(format!("{count} {what}"));
        }
    }
    for source in Source::ALL {
        let (mut groups, mut refused) = (0, 0);
        for (_, counts) in measure.rows.iter().filter(|((of, _), _)| *of == source) {
            groups += counts.groups;
            refused += counts.refused;
        }
        // Schemas that people use are all to be had.
        let limit = if source == Source::Gcn { 0 } else { REFUSED };
        if refused * 100 > groups * limit {
            found.push(format!("{}: {refused} of {groups} groups are refused, over {limit} %", source.name()));
        }
    }
    for (&(source, part), counts) in &measure.rows {
        if part == Part::Required {
            found.extend(too_lax(counts).map(|what| format!("{}: {what}", name(source, part))));
        }
    }
    found
}

/// The shortcomings in refusing. No type checks what optional parts are mostly about, the formats of strings.
fn too_lax(counts: &Counts) -> impl Iterator<Item = String> {
    let Counts { invalid, by_type, by_both, .. } = *counts;
    let types = (by_type * 100 < invalid * BY_TYPE)
        .then(|| format!("the types alone refuse {}, under {BY_TYPE} %", share(by_type, invalid)));
    let both = (by_both < invalid).then(|| format!("types and validation refuse {}, not all", share(by_both, invalid)));
    types.into_iter().chain(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: Counts = Counts {
        groups: 100,
        usable: 95,
        refused: 5,
        valid: 9,
        accepted: 9,
        equal: 9,
        invalid: 10,
        by_type: 7,
        by_both: 10,
    };

    fn measure(rows: &[(Source, Part, Counts)]) -> Measure {
        let rows = rows.iter().map(|&(source, part, counts)| ((source, part), counts)).collect();
        Measure { rows, lists: Lists::default() }
    }

    #[test]
    fn the_table_has_a_row_for_each_part_and_aligned_columns() {
        let counts = Counts { by_both: 9, ..PASSED };
        let rows = [
            (Source::Gcn, Part::Required, Counts { invalid: 0, by_type: 0, by_both: 0, ..PASSED }),
            (Source::Draft7, Part::Required, counts),
        ];
        let expected = "                 groups  usable  refused  valid accepted  encoded equal  invalid refused by type  by type or validation
draft7 required     100      95        5     9/9 (100 %)    9/9 (100 %)              7/10 (70 %)            9/10 (90 %)
gcn                 100      95        5     9/9 (100 %)    9/9 (100 %)                        -                      -
";
        assert_eq!(table(&measure(&rows)), expected);
    }

    #[test]
    fn a_share_says_hundred_only_of_all() {
        assert_eq!(share(999, 1000), "999/1000 (99 %)");
        assert_eq!(share(0, 3), "0/3 (0 %)");
    }

    #[test]
    fn a_measure_at_the_limits_is_passed() {
        let rows = [
            (Source::Draft7, Part::Required, PASSED),
            // The optional part may let through what it likes.
            (Source::Draft7, Part::Optional, Counts { by_type: 0, by_both: 0, ..PASSED }),
            (Source::Gcn, Part::Required, Counts { refused: 0, ..PASSED }),
        ];
        assert_eq!(shortcomings(&measure(&rows)), [""; 0]);
    }

    #[test]
    fn every_limit_that_is_broken_is_said() {
        let counts = Counts { refused: 6, by_type: 6, by_both: 9, ..PASSED };
        let rows = [
            (Source::Draft2020, Part::Required, counts),
            (Source::Gcn, Part::Required, Counts { refused: 1, ..PASSED }),
        ];
        let mut measure = measure(&rows);
        for list in [
            &mut measure.lists.panics,
            &mut measure.lists.broken,
            &mut measure.lists.valid_refused,
            &mut measure.lists.not_equal,
            &mut measure.lists.not_compiled,
            &mut measure.lists.valid_violates,
        ] {
            list.push("x".to_owned());
        }
        let expected = [
            "1 panics",
            "1 groups whose code does not compile",
            "1 valid values that a type refuses",
            "1 values that are not equal when encoded again",
            "1 schemas that validation does not take",
            "1 valid values that validation refuses",
            "draft2020-12: 6 of 100 groups are refused, over 5 %",
            "gcn: 1 of 100 groups are refused, over 0 %",
            "draft2020-12 required: the types alone refuse 6/10 (60 %), under 70 %",
            "draft2020-12 required: types and validation refuse 9/10 (90 %), not all",
        ];
        assert_eq!(shortcomings(&measure), expected);
    }

    #[test]
    fn lists_are_named_and_counted_and_empty_ones_left_out() {
        let mut found = Lists { let_through_by_type: vec!["x".to_owned()], ..Lists::default() };
        found.refused.insert("too odd".to_owned(), vec!["a".to_owned(), "b\nc".to_owned()]);
        assert_eq!(lists(&found, false), "\nRefused: too odd (2):\n  a\n  b\n    c\n");
        assert!(lists(&found, true).ends_with("\nInvalid, but let through by the type (1):\n  x\n"));
    }
}
