//! How a consumer fares, as plain values: for the health and readiness answers of a service, and for whoever wonders.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// How a consumer fares now; from [`Health::report`](crate::Health::report). It serializes, so that an HTTP server can
/// answer with it; durations are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HealthReport {
    /// Where it is between its start and its end.
    pub status: Status,
    /// The partitions that are assigned to it, sorted.
    pub partitions: Vec<PartitionHealth>,
}

/// Where a consumer is between its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The group has not taken it in yet.
    Starting,
    /// The group has taken it in, with partitions or without.
    Running,
    /// It has ended.
    Ended,
}

/// How an assigned partition fares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct PartitionHealth {
    /// The topic.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
    /// The records, and markers of the broker, from the first unfinished one to the partition's end. `None` until the
    /// first record of this assignment came.
    pub lag: Option<u64>,
    /// Records that were fetched and wait for their turn.
    pub waiting: u64,
    /// Records that are being handled, or being written to another topic.
    pub in_flight: usize,
    /// The offset up to which everything is finished. `None` until the first record of this assignment is.
    pub watermark: Option<i64>,
    /// The first record that is not finished.
    pub oldest: Option<OldestRecord>,
    /// Whether that has been the oldest one for longer than the
    /// [stall timeout](crate::ConsumerBuilder::stall_timeout).
    pub stalled: bool,
}

/// The record that holds a partition's watermark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct OldestRecord {
    /// Its offset.
    pub offset: i64,
    /// Its URN, when it names one.
    pub urn: Option<String>,
    /// For how long it has been the oldest one, to about a quarter of a second.
    #[serde(rename = "age_ms", serialize_with = "milliseconds")]
    pub age: Duration,
}

impl HealthReport {
    /// Whether the consumer need not be restarted: it has not ended, and no partition is stalled.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.status != Status::Ended && !self.partitions.iter().any(|partition| partition.stalled)
    }

    /// Whether the consumer does its work: the group has taken it in, and it has not ended.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.status == Status::Running
    }

    /// The lag of all partitions together, as far as it is known.
    #[must_use]
    pub fn lag(&self) -> u64 {
        self.partitions.iter().filter_map(|partition| partition.lag).sum()
    }
}

fn milliseconds<S: Serializer>(age: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(status: Status, stalled: bool) -> HealthReport {
        let oldest = OldestRecord { offset: 7, urn: None, age: Duration::from_millis(1500) };
        let partition = PartitionHealth {
            topic: "orders".to_owned(),
            partition: 0,
            lag: Some(3),
            waiting: 2,
            in_flight: 1,
            watermark: Some(7),
            oldest: Some(oldest),
            stalled,
        };
        HealthReport { status, partitions: vec![partition] }
    }

    #[test]
    fn a_stalled_partition_asks_for_a_restart_and_one_that_starts_is_not_ready() {
        let verdict = |report: HealthReport| (report.is_live(), report.is_ready());
        assert_eq!(verdict(report(Status::Starting, false)), (true, false));
        assert_eq!(verdict(report(Status::Running, false)), (true, true));
        assert_eq!(verdict(report(Status::Running, true)), (false, true));
        assert_eq!(verdict(report(Status::Ended, false)), (false, false));
    }

    #[test]
    fn a_report_is_shown_as_json() {
        let json = serde_json::to_value(report(Status::Running, false)).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"status": "running", "partitions": [{
                "topic": "orders", "partition": 0, "lag": 3, "waiting": 2, "in_flight": 1, "watermark": 7,
                "oldest": {"offset": 7, "urn": null, "age_ms": 1500}, "stalled": false,
            }]})
        );
    }
}
