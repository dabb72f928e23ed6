//! Writes that must not be lost: tried again until they are acknowledged.

use std::time::Duration;

use crate::{
    error::KafkaError,
    kafka::{OutgoingRecord, Progress, SendError, Sink},
};

/// The first pause between two tries; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two tries: how late a mended topic or broker is noticed.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Why a write ended without its acknowledgement. The record is not finished.
#[derive(Debug)]
pub(crate) enum Undelivered {
    /// The assignment of the record has ended: it is left to its next owner.
    AssignmentEnded,
    /// The sending client can send nothing more.
    ClientEnded(KafkaError),
}

/// What to do about a failed write.
pub(crate) enum Next {
    /// Try the record again after the pause.
    Again(OutgoingRecord),
    /// Send this one at once.
    Instead(OutgoingRecord),
}

impl Next {
    pub(crate) fn into_record(self) -> OutgoingRecord {
        match self {
            Self::Again(record) | Self::Instead(record) => record,
        }
    }
}

/// Sends a record until it is acknowledged, with pauses that grow. `failed` is told of each failure and of the pause, and
/// says what to send next.
pub(crate) async fn deliver(
    sink: &Sink,
    mut record: OutgoingRecord,
    progress: &Progress,
    mut failed: impl FnMut(&KafkaError, OutgoingRecord, Duration) -> Next,
) -> Result<(), Undelivered> {
    let mut pause = FIRST_PAUSE;
    loop {
        if progress.is_stopped() {
            return Err(Undelivered::AssignmentEnded);
        }
        let Err(SendError { error, record: back }) = sink.send(record).await else { return Ok(()) };
        if error.is_end_of_client() {
            return Err(Undelivered::ClientEnded(error));
        }
        record = match failed(&error, *back, pause) {
            Next::Instead(record) => record,
            Next::Again(record) => {
                tokio::select! {
                    () = progress.stopped() => return Err(Undelivered::AssignmentEnded),
                    () = tokio::time::sleep(pause) => {}
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
                record
            }
        };
    }
}
