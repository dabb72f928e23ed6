//! The writes of one partition's records that are on their way. What became of them is heard in the order of the records,
//! many at a time.

use std::collections::VecDeque;

use super::{
    line::Line,
    outgoing::{OutgoingRecord, SendError, Sent},
    sink::Sink,
};

/// Writes that may be on their way at a time.
const RECORDS: usize = 1000;
/// Bytes that may be on their way at a time; a single larger record is on its way alone.
const BYTES: usize = 4 * 1024 * 1024;

pub(crate) struct Pipeline<'a, T> {
    sink: &'a Sink,
    line: Line<SendError>,
    /// What is known of those on their way, with their sizes.
    writes: VecDeque<(T, usize)>,
    bytes: usize,
}

/// A write that was acknowledged, or has failed.
pub(crate) struct Landed<T> {
    pub(crate) write: T,
    pub(crate) result: Sent,
}

impl<'a, T> Pipeline<'a, T> {
    pub(crate) fn new(sink: &'a Sink) -> Self {
        Self { sink, line: Line::new(), writes: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn sink(&self) -> &'a Sink {
        self.sink
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// What has to be settled before a write of this size may follow; `None` when nothing does. A full pipeline empties by
    /// half first, so that it is filled in long runs. One that holds a failed write empties up to that one: behind it
    /// nothing further is put on its way.
    pub(crate) async fn in_the_way(&mut self, size: usize) -> Option<Vec<Landed<T>>> {
        let full = self.writes.len() >= RECORDS || self.bytes + size > BYTES;
        if self.line.has_failure() || (full && !self.writes.is_empty()) {
            return Some(self.land_first(self.writes.len().div_ceil(2)).await);
        }
        None
    }

    /// Puts a record on its way, behind the others. Nothing is on its way if this is dropped while it waits.
    pub(crate) async fn push(&mut self, record: OutgoingRecord, size: usize, write: T) {
        self.sink.queue_in_line(record, self.line.place()).await;
        self.line.add();
        self.writes.push_back((write, size));
        self.bytes += size;
    }

    /// Waits until the first one has landed, and hears of it and of those behind it that have. Never ready when none is
    /// on its way. May be dropped while it waits.
    pub(crate) async fn land(&mut self) -> Vec<Landed<T>> {
        self.land_first(1).await
    }

    /// Waits until all have landed.
    pub(crate) async fn land_all(&mut self) -> Vec<Landed<T>> {
        self.land_first(self.writes.len()).await
    }

    async fn land_first(&mut self, count: usize) -> Vec<Landed<T>> {
        let results = self.line.take(count).await;
        let mut landed = Vec::with_capacity(results.len());
        for result in results {
            let Some((write, size)) = self.writes.pop_front() else { break };
            self.bytes -= size;
            landed.push(Landed { write, result: result.map_err(|failed| self.sink.explain(failed)) });
        }
        landed
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use futures_util::FutureExt as _;

    use super::{super::mock::MockBroker, *};
    use crate::config::Config;

    fn record() -> OutgoingRecord {
        OutgoingRecord::new("orders".to_owned(), None, Some(b"{}".to_vec()), None)
    }

    fn start() -> (MockBroker, Sink) {
        let broker = MockBroker::start().unwrap();
        broker.create_topic("orders", 4).unwrap();
        let sink = Sink::new(&Config::new(broker.brokers())).unwrap();
        (broker, sink)
    }

    #[tokio::test]
    async fn a_full_pipeline_empties_by_half_in_order_before_it_takes_more() {
        let (broker, sink) = start();
        broker.set_down(true).unwrap();
        let mut pipeline = Pipeline::new(&sink);
        for number in 0..RECORDS {
            assert!(pipeline.in_the_way(1).now_or_never().is_some_and(|landed| landed.is_none()), "{number}");
            pipeline.push(record(), 1, number).await;
        }
        assert!(pipeline.in_the_way(1).now_or_never().is_none());
        broker.set_down(false).unwrap();
        let landed = pipeline.in_the_way(1).await.unwrap();
        assert!(landed.len() >= RECORDS / 2, "{}", landed.len());
        let mut all = landed;
        all.extend(pipeline.land_all().await);
        assert!(all.iter().all(|landed| landed.result.is_ok()));
        assert!(all.iter().map(|landed| landed.write).eq(0..RECORDS));
        assert!(pipeline.is_empty());
    }

    #[tokio::test]
    async fn a_record_larger_than_the_pipeline_is_on_its_way_alone() {
        let (broker, sink) = start();
        broker.set_down(true).unwrap();
        let mut pipeline = Pipeline::new(&sink);
        assert!(pipeline.in_the_way(BYTES + 1).await.is_none());
        pipeline.push(record(), BYTES + 1, ()).await;
        assert!(pipeline.in_the_way(1).now_or_never().is_none());
        broker.set_down(false).unwrap();
        assert_eq!(pipeline.in_the_way(1).await.map(|landed| landed.len()), Some(1));
        assert!(pipeline.in_the_way(1).await.is_none());
    }
}
