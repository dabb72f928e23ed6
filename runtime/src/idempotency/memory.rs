//! A store in this process's memory.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::store::{IdempotencyStore, StoreError};
/// Remembers messages in this process, bounded by number and by time: a repetition soon after is recognised, one after a
/// restart or on another member of the group is not. It never fails.
///
/// An id takes about 200 bytes.
pub struct MemoryStore {
    most: usize,
    remember_for: Duration,
    marks: Mutex<Marks>,
}

/// Each mark by its id, and in the order in which they were made, which is that in which they expire.
#[derive(Default)]
struct Marks {
    by_id: HashMap<Arc<str>, u64>,
    /// With its end; none when that lies beyond what a clock can say.
    by_age: BTreeMap<u64, (Arc<str>, Option<Instant>)>,
    next: u64,
}

impl MemoryStore {
    /// A store that remembers at most `most` messages, the latest ones, and each for `remember_for`.
    #[must_use]
    pub fn new(most: usize, remember_for: Duration) -> Self {
        Self { most, remember_for, marks: Mutex::default() }
    }

    /// The marks that have not expired.
    fn marks(&self) -> MutexGuard<'_, Marks> {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while marks.by_age.first_key_value().is_some_and(|(_, (_, end))| end.is_some_and(|end| end <= now)) {
            marks.drop_oldest();
        }
        marks
    }
}

impl Marks {
    fn drop_oldest(&mut self) {
        if let Some((_, (id, _))) = self.by_age.pop_first() {
            self.by_id.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(age) = self.by_id.remove(id) {
            self.by_age.remove(&age);
        }
    }
}

impl IdempotencyStore for MemoryStore {
    async fn is_done(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.marks().by_id.contains_key(id))
    }

    async fn mark_done(&self, id: &str) -> Result<(), StoreError> {
        let mut marks = self.marks();
        marks.remove(id);
        let (id, age) = (Arc::<str>::from(id), marks.next);
        marks.next += 1;
        marks.by_id.insert(Arc::clone(&id), age);
        marks.by_age.insert(age, (id, Instant::now().checked_add(self.remember_for)));
        while marks.by_id.len() > self.most {
            marks.drop_oldest();
        }
        Ok(())
    }

    async fn forget(&self, id: &str) -> Result<(), StoreError> {
        self.marks().remove(id);
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("most", &self.most)
            .field("remember_for", &self.remember_for)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn done(store: &MemoryStore, ids: &[&str]) -> Vec<bool> {
        let mut done = Vec::new();
        for id in ids {
            done.push(store.is_done(id).await.unwrap());
        }
        done
    }

    #[tokio::test]
    async fn the_oldest_mark_makes_room_and_a_mark_made_again_is_young() {
        let store = MemoryStore::new(2, Duration::MAX);
        for id in ["a", "b", "a", "c"] {
            store.mark_done(id).await.unwrap();
        }
        assert_eq!(done(&store, &["a", "b", "c"]).await, [true, false, true]);
    }

    #[tokio::test]
    async fn marking_and_forgetting_leaves_nothing_behind() {
        let store = MemoryStore::new(2, Duration::MAX);
        store.mark_done("kept").await.unwrap();
        for _ in 0..100 {
            store.mark_done("a").await.unwrap();
            store.forget("a").await.unwrap();
        }
        assert_eq!(done(&store, &["kept", "a"]).await, [true, false]);
        let marks = store.marks();
        assert_eq!((marks.by_id.len(), marks.by_age.len()), (1, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_mark_lives_as_long_as_was_asked() {
        let store = MemoryStore::new(10, Duration::from_secs(60));
        store.mark_done("a").await.unwrap();
        tokio::time::advance(Duration::from_secs(59)).await;
        store.mark_done("b").await.unwrap();
        assert_eq!(done(&store, &["a", "b"]).await, [true, true]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(done(&store, &["a", "b"]).await, [false, true]);
        assert_eq!(store.marks().by_age.len(), 1);
    }

    #[tokio::test]
    async fn a_store_for_no_message_remembers_none() {
        let store = MemoryStore::new(0, Duration::MAX);
        store.mark_done("a").await.unwrap();
        assert_eq!(done(&store, &["a"]).await, [false]);
    }
}
