//! Wakes the thread that polls a consumer: when something is there to be polled, and when a worker has made room.

use std::{
    sync::OnceLock,
    thread::{self, Thread},
    time::Duration,
};

#[derive(Debug, Default)]
pub(super) struct Waker {
    thread: OnceLock<Thread>,
}

impl Waker {
    /// This thread is the one to be woken.
    pub(super) fn attach(&self) {
        // Attached once, when the thread starts.
        let _ = self.thread.set(thread::current());
    }

    /// Ends the present wait, or else the next one.
    pub(super) fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Waits to be woken, on the attached thread.
    pub(super) fn wait(&self, timeout: Duration) {
        thread::park_timeout(timeout);
    }
}
