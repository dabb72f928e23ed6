//! Answers that come in any order and are taken in the order of their places. Pure; whoever waits is woken once, when
//! as many are there as are asked for, and not for each.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;

type Answer<E> = Result<(), E>;

/// A line of places, one behind the other, each to be answered once. One task adds places and takes the answers.
pub(super) struct Line<E> {
    /// The number of the place behind the last one.
    next: u64,
    shared: Arc<Shared<E>>,
}

struct Shared<E> {
    answers: Mutex<Answers<E>>,
    /// Failures that are not taken.
    failures: AtomicUsize,
    enough: Notify,
}

struct Answers<E> {
    /// The number of the first place that is not taken.
    first: u64,
    /// From that place on; `None` where the answer is missing.
    in_line: VecDeque<Option<Answer<E>>>,
    /// How many of the first ones are there.
    ready: usize,
    /// How many somebody waits for.
    wanted: usize,
}

/// A place in a line, for whoever is to answer.
pub(super) struct Place<E> {
    number: u64,
    shared: Arc<Shared<E>>,
}

impl<E> Line<E> {
    pub(super) fn new() -> Self {
        let answers = Answers { first: 0, in_line: VecDeque::new(), ready: 0, wanted: usize::MAX };
        let shared = Shared { answers: Mutex::new(answers), failures: AtomicUsize::new(0), enough: Notify::new() };
        Self { next: 0, shared: Arc::new(shared) }
    }

    /// The place behind the last one. It is in the line once it is added: one that nobody will answer is not.
    pub(super) fn place(&self) -> Place<E> {
        Place { number: self.next, shared: Arc::clone(&self.shared) }
    }

    /// Adds that place.
    pub(super) fn add(&mut self) {
        self.next += 1;
    }

    /// Whether there is a failure among the answers that are not taken, wherever it stands.
    pub(super) fn has_failure(&self) -> bool {
        self.shared.failures.load(Ordering::Acquire) > 0
    }

    /// Waits until the first `count` places are answered, and takes all answers up to the first one that is missing. May
    /// be dropped while it waits.
    pub(super) async fn take(&mut self, count: usize) -> Vec<Answer<E>> {
        loop {
            if let Some(answers) = self.shared.take(count) {
                return answers;
            }
            self.shared.enough.notified().await;
        }
    }
}

impl<E> Shared<E> {
    fn answers(&self) -> MutexGuard<'_, Answers<E>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, count: usize) -> Option<Vec<Answer<E>>> {
        let mut answers = self.answers();
        if answers.ready < count {
            answers.wanted = count;
            return None;
        }
        let ready = std::mem::take(&mut answers.ready);
        answers.first += ready as u64;
        let taken: Vec<_> = answers.in_line.drain(..ready).flatten().collect();
        drop(answers);
        let failures = taken.iter().filter(|answer| answer.is_err()).count();
        self.failures.fetch_sub(failures, Ordering::Release);
        Some(taken)
    }

    fn answer(&self, number: u64, answer: Answer<E>) {
        if answer.is_err() {
            self.failures.fetch_add(1, Ordering::Release);
        }
        let mut answers = self.answers();
        answers.put(number, answer);
        if answers.ready >= answers.wanted {
            answers.wanted = usize::MAX;
            drop(answers);
            self.enough.notify_one();
        }
    }
}

impl<E> Answers<E> {
    fn put(&mut self, number: u64, answer: Answer<E>) {
        // A place is answered before it is taken, so this is where it stands.
        let Some(at) = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok()) else { return };
        if at >= self.in_line.len() {
            self.in_line.resize_with(at + 1, || None);
        }
        if let Some(place) = self.in_line.get_mut(at) {
            *place = Some(answer);
        }
        self.ready += self.in_line.iter().skip(self.ready).take_while(|place| place.is_some()).count();
    }
}

impl<E> Place<E> {
    pub(super) fn answer(self, answer: Answer<E>) {
        self.shared.answer(self.number, answer);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        sync::atomic::AtomicBool,
        task::{Context, Poll, Wake, Waker},
    };

    use futures_util::FutureExt as _;

    use super::*;

    fn places<const N: usize>(line: &mut Line<char>) -> [Place<char>; N] {
        std::array::from_fn(|_| {
            let place = line.place();
            line.add();
            place
        })
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        future.now_or_never()
    }

    #[test]
    fn answers_are_taken_in_the_order_of_their_places_whatever_the_order_of_their_coming() {
        let mut line = Line::new();
        let [a, b, c, d] = places(&mut line);
        c.answer(Err('c'));
        assert_eq!(now(line.take(1)), None);
        b.answer(Ok(()));
        assert_eq!(now(line.take(1)), None);
        a.answer(Err('a'));
        assert_eq!(now(line.take(1)), Some(vec![Err('a'), Ok(()), Err('c')]));
        d.answer(Ok(()));
        let [e] = places(&mut line);
        e.answer(Err('e'));
        assert_eq!(now(line.take(2)), Some(vec![Ok(()), Err('e')]));
    }

    #[test]
    fn whoever_waits_for_several_is_woken_once_they_are_there() {
        let mut line = Line::new();
        let [a, b, c] = places(&mut line);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut taking = pin!(line.take(2));
        let mut poll = || taking.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll().is_pending());
        a.answer(Ok(()));
        c.answer(Ok(()));
        assert!(!woken.0.load(Ordering::Relaxed));
        b.answer(Ok(()));
        assert!(woken.0.load(Ordering::Relaxed));
        assert_eq!(poll(), Poll::Ready(vec![Ok(()); 3]));
    }

    #[test]
    fn a_place_that_was_not_added_holds_nothing_up() {
        let mut line = Line::new();
        drop(line.place());
        let [a] = places(&mut line);
        a.answer(Ok(()));
        assert_eq!(now(line.take(1)), Some(vec![Ok(())]));
    }

    #[test]
    fn a_failure_is_known_wherever_it_stands_until_it_is_taken() {
        let mut line = Line::new();
        let [a, b] = places(&mut line);
        b.answer(Err('b'));
        assert!(line.has_failure());
        a.answer(Ok(()));
        assert!(now(line.take(2)).is_some());
        assert!(!line.has_failure());
    }
}
