//! How a member stands: shared by its poll thread and whoever asks for its health.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use super::lanes::{Lane, Lanes};
use crate::health::{HealthReport, Status};

#[derive(Default)]
pub(crate) struct Standing {
    lanes: Mutex<Lanes>,
    /// Whether the group has taken this member once: its account is in order then, and a refusal may be a broker's
    /// passing trouble.
    joined: AtomicBool,
    ended: AtomicBool,
}

impl Standing {
    pub(super) fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn join(&self) {
        self.joined.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_joined(&self) -> bool {
        self.joined.load(Ordering::Relaxed)
    }

    /// The member handles nothing any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn report(&self) -> HealthReport {
        if self.ended.load(Ordering::Relaxed) {
            return HealthReport { status: Status::Ended, partitions: Vec::new() };
        }
        let status = if self.has_joined() { Status::Running } else { Status::Starting };
        let now = Instant::now();
        let mut partitions: Vec<_> = self.lanes().open.iter().map(|lane: &Lane| lane.health(now)).collect();
        partitions.sort();
        HealthReport { status, partitions }
    }
}
