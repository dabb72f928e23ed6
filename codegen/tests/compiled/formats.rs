//! Strings of a format that have a type of another crate.

use serde::{Deserialize, Serialize};

use crate::{formats_chrono, formats_time};

/// A point in time, as RFC 3339 writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(#[serde(with = "time::serde::rfc3339")] pub time::OffsetDateTime);

const VISIT: &str = r#"{"id":"6b5bd5fb-4b1b-4a8e-8f86-0e3bb5d3a6f1","begins":"2026-03-01T09:30:00+01:00","ends":null}"#;
const DAYS: &str =
    r#"{"id":"6b5bd5fb-4b1b-4a8e-8f86-0e3bb5d3a6f1","begins":"2026-03-01T09:30:00+01:00","days":["2026-03-01"]}"#;

#[test]
fn what_is_read_as_another_crates_type_is_written_as_it_was() {
    for text in [VISIT, DAYS] {
        let chrono: formats_chrono::visits::VisitBooked = serde_json::from_str(text).expect("a visit");
        assert_eq!(serde_json::to_string(&chrono).expect("JSON"), text);
        let time: formats_time::visits::VisitBooked = serde_json::from_str(text).expect("a visit");
        assert_eq!(serde_json::to_string(&time).expect("JSON"), text);
    }
}

#[test]
fn what_another_crates_type_does_not_read_is_refused() {
    let text = VISIT.replace("2026-03-01T", "2026-02-30T");
    assert!(serde_json::from_str::<formats_chrono::visits::VisitBooked>(&text).is_err());
    assert!(serde_json::from_str::<formats_time::visits::VisitBooked>(&text).is_err());
    let text = VISIT.replace("6b5bd5fb", "no-uuid");
    assert!(serde_json::from_str::<formats_time::visits::VisitBooked>(&text).is_err());
}
