//! What happened in a kit, by message, and the waiting for it. Nothing is polled: each entry wakes whoever waits.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::{
    Unmet, dead_letter,
    story::{Entry, Place, Story, What},
};
use crate::{consumer::RecordError, event::Event, job::Job, lab::Observed, record::TopicPartition, time::deadline};

pub(super) struct Journal {
    started: Instant,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
pub(super) struct State {
    /// The topics that the consumer reads.
    pub(super) reads: Vec<String>,
    /// The ids of the messages that were written, in the order of their first records.
    published: Vec<String>,
    /// By message id.
    stories: HashMap<String, Story>,
    /// The messages whose records lie at known places.
    places: HashMap<Place, String>,
    /// What happened to records of which it is not known yet whose they are.
    nameless: HashMap<Place, Story>,
    /// What happened to all messages alike.
    general: Vec<Entry>,
    /// Which partitions the consumer has, and how often it has lost some.
    pub(super) assigned: HashSet<TopicPartition>,
    pub(super) revocations: u64,
    /// Why nothing further will happen.
    ended: Option<String>,
}

/// What a look at a story says of what is waited for.
pub(super) enum Look<T> {
    Met(T),
    NotYet,
    Never,
}

impl Journal {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), state: Mutex::default(), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State, Duration)) {
        let mut state = self.state();
        change(&mut state, self.started.elapsed());
        drop(state);
        self.changed.notify_waiters();
    }

    pub(super) fn reads(&self, topics: Vec<String>) {
        self.change(|state, _| state.reads = topics);
    }

    /// The topics that the consumer reads.
    pub(super) fn topics(&self) -> Vec<String> {
        self.state().reads.clone()
    }

    /// Something that a client of the kit has done.
    pub(super) fn observe(&self, observed: Observed<'_>) {
        self.change(|state, after| match observed {
            Observed::Written { at: partition, record } => {
                let Some(first) = record.get(0) else { return };
                let (at, id) = (Place { partition, offset: first.offset }, dead_letter::message_id(&first));
                if let Some(id) = id.as_ref().filter(|id| !state.is_written(id)) {
                    state.published.push(id.clone());
                }
                state.add(id.as_deref(), Entry { after, what: What::Written { at, record: Arc::new(record) } });
            }
            Observed::Processed { at, offset, message_id, attempts, end } => {
                let at = Place { partition: at.clone(), offset };
                let id = Some(message_id).filter(|id| !id.is_empty());
                state.add(id, Entry { after, what: What::Processed { at, attempts, end } });
            }
        });
    }

    /// A record that was not handled, and what was done with it.
    pub(super) fn record_error(&self, error: &RecordError) {
        let RecordError { partition, offset, reason, error, settled, .. } = error.clone();
        let at = Place { partition, offset };
        self.change(|state, after| {
            state.add(None, Entry { after, what: What::Settled { at, reason, error, settled } });
        });
    }

    /// What `who` says happened.
    pub(super) fn event(&self, who: &str, event: &Event) {
        self.change(|state, after| {
            let entry = Entry { after, what: What::Told(format!("{who}: {event}")) };
            if let Event::WriteFailed { partition, offset, .. } = event {
                state.add_at(&Place { partition: partition.clone(), offset: *offset }, entry);
            } else {
                state.general.push(entry);
            }
        });
    }

    /// Partitions that come to the consumer and go.
    pub(super) fn assignment(&self, event: &Event) {
        self.change(|state, _| match event {
            Event::Assigned { partitions } => state.assigned.extend(partitions.iter().cloned()),
            Event::Revoked { partitions } | Event::Lost { partitions } => {
                state.assigned.retain(|partition| !partitions.contains(partition));
                state.revocations += 1;
            }
            _ => {}
        });
    }

    /// Something that the test did.
    pub(super) fn note(&self, text: String) {
        self.change(|state, after| state.general.push(Entry { after, what: What::Told(text) }));
    }

    /// Nothing further will happen, for this reason; the first one counts.
    pub(super) fn end(&self, why: String) {
        self.change(|state, _| {
            state.ended.get_or_insert(why);
        });
    }

    /// Waits until the `nth` message of a type was written, counted from 1; its id and its payload.
    pub(super) async fn published<J: Job>(&self, nth: usize, patience: Duration) -> Result<(String, J), Unmet> {
        let look = |state: &State| {
            let messages = state.published.iter().filter_map(|id| Some((id, state.stories.get(id)?.job::<J>()?)));
            messages.map(|(id, job)| (id.clone(), job)).nth(nth.saturating_sub(1))
        };
        self.wait(patience, look).await.map_err(|why| {
            let found = self.state().stories.values().filter(|story| story.job::<J>().is_some()).count();
            let urn = J::URN;
            Unmet::new(format!("message {nth} of `{urn}` was not published {why}\n{found} of them were, from this kit"))
        })
    }

    /// Waits until a message was `wanted`, at most so long.
    pub(super) async fn wait_for<T>(
        &self,
        id: &str,
        wanted: &str,
        patience: Duration,
        look: impl Fn(&Story, &[String]) -> Look<T>,
    ) -> Result<T, Unmet> {
        let empty = Story::default();
        let seen = |state: &State| look(state.stories.get(id).unwrap_or(&empty), &state.reads);
        match self.wait(patience, |state| Some(seen(state)).filter(|look| !matches!(look, Look::NotYet))).await {
            Ok(Look::Met(met)) => Ok(met),
            Ok(_) => Err(self.unmet(id, format_args!("message {id} will not be {wanted} any more"))),
            Err(why) => Err(self.unmet(id, format_args!("message {id} was not {wanted} {why}"))),
        }
    }

    /// Waits until `look` finds something; why it did not, otherwise.
    pub(super) async fn wait<T>(&self, patience: Duration, look: impl Fn(&State) -> Option<T>) -> Result<T, String> {
        let deadline = deadline(patience).into();
        loop {
            // Made before the look, so that no change in between is missed.
            let changed = self.changed.notified();
            {
                let state = self.state();
                if let Some(found) = look(&state) {
                    return Ok(found);
                }
                if let Some(ended) = &state.ended {
                    return Err(format!("and will not be: {ended}"));
                }
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return Err(format!("within {patience:?}"));
            }
        }
    }

    fn unmet(&self, id: &str, what: std::fmt::Arguments<'_>) -> Unmet {
        let state = self.state();
        let empty = Story::default();
        let story = state.stories.get(id).unwrap_or(&empty);
        let mut entries: Vec<_> = story.entries.iter().chain(&state.general).collect();
        entries.sort_by_key(|entry| entry.after);
        let mut text = what.to_string();
        text.push_str("\nwhat happened, in seconds from the start of the kit:");
        for Entry { after, what } in entries {
            // Writing to a string does not fail.
            let _ = write!(text, "\n  {:>8.3}  {what}", after.as_secs_f64());
        }
        if let Some(hint) = story.hint(&state.reads) {
            let _ = write!(text, "\n{hint}");
        }
        Unmet::new(text)
    }
}

impl State {
    fn is_written(&self, id: &str) -> bool {
        self.stories.get(id).is_some_and(Story::is_written)
    }

    /// Adds to the story of a message: of this one, or of the one whose record lies there.
    fn add(&mut self, id: Option<&str>, entry: Entry) {
        let Some(at) = entry.what.place().cloned() else { return };
        if let Some(id) = id {
            self.places.insert(at.clone(), id.to_owned());
            if let Some(before) = self.nameless.remove(&at) {
                self.stories.entry(id.to_owned()).or_default().entries.extend(before.entries);
            }
        }
        self.add_at(&at, entry);
    }

    fn add_at(&mut self, at: &Place, entry: Entry) {
        let story = match self.places.get(at) {
            Some(id) => self.stories.entry(id.clone()).or_default(),
            None => self.nameless.entry(at.clone()).or_default(),
        };
        story.entries.push(entry);
    }
}
