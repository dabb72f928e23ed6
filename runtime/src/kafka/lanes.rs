//! The partitions that are assigned at present: each collects its records and hands them to its worker in batches.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rdkafka::message::{BorrowedMessage, Message as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{
    Progress,
    commit_count::CommitCount,
    native,
    offsets::Front,
    waker::Waker,
    watch::{Change, Watch},
};
use crate::{
    event::Event,
    health::{OldestRecord, PartitionHealth},
    record::{Batch, TopicPartition},
    time::now_ms,
};

/// Records in a batch: enough to make a hand-over cheap.
const BATCH_RECORDS: usize = 256;
/// Bytes in a batch, so that large records do not wait for each other.
const BATCH_BYTES: usize = 256 * 1024;
/// Records that may wait for a worker before their partition is paused.
const LANE_RECORDS: u64 = 4096;
/// Bytes that may wait for a worker before their partition is paused.
const LANE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that may wait for all workers together, shared out evenly; a batch a partition may wait in any case.
const ALL_BYTES: u64 = 16 * 1024 * 1024;

/// A partition that was assigned: its records in order, and where to note how far they got.
pub(crate) struct Assigned {
    pub(crate) partition: TopicPartition,
    pub(crate) batches: Batches,
    pub(crate) progress: Arc<Progress>,
}

/// The records of one assignment, in order. Asking for the next batch lets the last one go.
pub(crate) struct Batches {
    receiver: UnboundedReceiver<Batch>,
    room: Arc<Room>,
    waker: Arc<Waker>,
    held: (u64, u64),
}

impl Batches {
    /// The next batch; `None` when the assignment has ended, or its partition where that was asked for. May be dropped
    /// while it waits.
    pub(crate) async fn next(&mut self) -> Option<Batch> {
        let (records, bytes) = mem::take(&mut self.held);
        if records > 0 {
            self.room.records.fetch_add(records, Ordering::SeqCst);
            self.room.bytes.fetch_add(bytes, Ordering::SeqCst);
            if self.room.wanted.load(Ordering::SeqCst) {
                self.waker.wake();
            }
        }
        let batch = self.receiver.recv().await?;
        self.held = size(&batch);
        Some(batch)
    }
}

/// What a worker has let go.
#[derive(Default)]
struct Room {
    records: AtomicU64,
    bytes: AtomicU64,
    /// Whether the partition is paused until there is room.
    wanted: AtomicBool,
}

fn size(batch: &Batch) -> (u64, u64) {
    (batch.len() as u64, batch.size() as u64)
}

/// One assignment of one partition. It is bounded by pausing, as the channel to its worker is not.
pub(super) struct Lane {
    pub(super) partition: TopicPartition,
    pub(super) progress: Arc<Progress>,
    paused: bool,
    /// The last offset that a commit was asked for.
    pub(super) requested: Option<i64>,
    filling: Batch,
    /// `None` once the lane is drained.
    batches: Option<UnboundedSender<Batch>>,
    records: u64,
    bytes: u64,
    /// Offset and timestamp of the last record.
    last: Option<(i64, i64)>,
    /// Bytes that may wait here.
    limit: u64,
    room: Arc<Room>,
    /// Behind the last record that the broker has told of.
    pub(super) end_offset: Option<i64>,
    watch: Watch,
}

impl Lane {
    pub(super) fn open(
        partition: TopicPartition,
        waker: Arc<Waker>,
        commit_count: Option<Arc<CommitCount>>,
    ) -> (Self, Assigned) {
        let (sender, receiver) = unbounded_channel();
        let progress = Arc::new(Progress::new().counted_by(commit_count));
        let room = Arc::<Room>::default();
        let batches = Batches { receiver, room: Arc::clone(&room), waker, held: (0, 0) };
        let lane = Self {
            partition: partition.clone(),
            progress: Arc::clone(&progress),
            paused: false,
            requested: None,
            filling: Batch::with_capacity(0, 0),
            batches: Some(sender),
            records: 0,
            bytes: 0,
            last: None,
            limit: LANE_BYTES,
            room,
            end_offset: None,
            watch: Watch::default(),
        };
        (lane, Assigned { partition, batches, progress })
    }

    /// Whether the lane is full now.
    ///
    /// The client library pauses its partitions for a rebalance. Where it does so between taking a record from its queue
    /// and noting that, it begins behind the pause with the same record again: that is one delivery, not two. The timestamp
    /// tells it from a record of a topic that was deleted and made anew.
    fn push(&mut self, message: &BorrowedMessage<'_>) -> bool {
        let timestamp = message.timestamp().to_millis().filter(|ms| *ms >= 0);
        let this = timestamp.map(|timestamp| (message.offset(), timestamp));
        if this.is_some() && this == self.last {
            tracing::debug!(at = %self.partition, offset = message.offset(), "handed out once more");
            return false;
        }
        self.last = this;
        self.filling.push(message.offset(), timestamp, message.key(), message.payload(), |headers| {
            native::copy_headers(message, headers);
        });
        if self.filling.len() < BATCH_RECORDS && self.filling.size() < BATCH_BYTES {
            return false;
        }
        self.flush();
        self.is_full()
    }

    fn flush(&mut self) {
        if self.filling.is_empty() {
            return;
        }
        // The next batch is likely to be as large as this one.
        let next = Batch::with_capacity(self.filling.size(), self.filling.len());
        let mut batch = mem::replace(&mut self.filling, next);
        batch.arrived = now_ms();
        let (records, bytes) = size(&batch);
        self.records += records;
        self.bytes += bytes;
        // Without a worker nothing is finished, so nothing of it is committed.
        if let Some(batches) = &self.batches {
            let _ = batches.send(batch);
        }
    }

    /// Starts nothing further, and lets the worker end. What it finishes still counts.
    pub(super) fn end(&mut self) {
        self.progress.stop();
        self.batches = None;
    }

    /// Hands over what is left and lets the worker end behind it.
    pub(super) fn end_of_partition(&mut self) {
        self.flush();
        self.batches = None;
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    pub(super) fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        self.room.wanted.store(paused, Ordering::SeqCst);
    }

    fn waiting(&self) -> (u64, u64) {
        let released = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        (
            self.records.saturating_sub(released(&self.room.records)),
            self.bytes.saturating_sub(released(&self.room.bytes)),
        )
    }

    pub(super) fn is_full(&self) -> bool {
        let (records, bytes) = self.waiting();
        records >= LANE_RECORDS || bytes >= self.limit
    }

    /// Half empty again: resuming at once after pausing would fetch the same records over and over.
    pub(super) fn has_room(&self) -> bool {
        let (records, bytes) = self.waiting();
        records <= LANE_RECORDS / 2 && bytes <= self.limit / 2
    }

    /// The partition and the offset to commit, once a record is finished.
    pub(super) fn committable(&self) -> Option<(TopicPartition, i64)> {
        Some((self.partition.clone(), self.progress.committable()?))
    }

    /// What the user should hear of this partition.
    pub(super) fn look(&mut self, now: Instant, stall_timeout: Duration) -> Option<Event> {
        let front = self.progress.front();
        let partition = self.partition.clone();
        Some(match self.watch.look(front.map(|front| front.ticket), now, stall_timeout)? {
            Change::Stalled => {
                let Front { ticket, offset } = front?;
                let (age, _) = self.watch.of(ticket, now);
                Event::Stalled { partition, offset, urn: self.progress.urn_at(offset), age }
            }
            Change::Recovered => Event::Recovered { partition },
        })
    }

    pub(super) fn health(&self, now: Instant) -> PartitionHealth {
        let (front, watermark) = (self.progress.front(), self.progress.committable());
        let (age, stalled) = front.map_or((Duration::ZERO, false), |front| self.watch.of(front.ticket, now));
        let first = front.map(|front| front.offset).or(watermark);
        let lag = first.zip(self.end_offset).map(|(first, end)| u64::try_from(end - first).unwrap_or_default());
        let oldest = front.map(|Front { offset, .. }| OldestRecord { offset, urn: self.progress.urn_at(offset), age });
        PartitionHealth {
            topic: self.partition.topic.to_string(),
            partition: self.partition.partition,
            lag,
            waiting: self.progress.not_started(self.records),
            in_flight: self.progress.at_work(),
            watermark,
            oldest,
            stalled,
        }
    }

    fn is_of(&self, topic: &str, partition: i32) -> bool {
        self.partition.partition == partition && *self.partition.topic == *topic
    }

    /// The offset to commit, if it is not the one that was asked for last.
    pub(super) fn uncommitted(&self) -> Option<i64> {
        self.progress.committable().filter(|offset| Some(*offset) != self.requested)
    }
}

/// All lanes. A record finds its lane at once when it follows one of the same partition, as most do.
#[derive(Default)]
pub(super) struct Lanes {
    pub(super) open: Vec<Lane>,
    last: usize,
}

impl Lanes {
    pub(super) fn add(&mut self, lane: Lane) {
        self.open.push(lane);
        self.share_out();
    }

    fn share_out(&mut self) {
        let share = ALL_BYTES.checked_div(self.open.len() as u64).unwrap_or(LANE_BYTES);
        let limit = share.clamp(BATCH_BYTES as u64, LANE_BYTES);
        self.open.iter_mut().for_each(|lane| lane.limit = limit);
    }

    /// Takes a record in, and says whether its partition is full now; a record of a partition that is no longer assigned
    /// is left to its new owner.
    pub(super) fn push(&mut self, message: &BorrowedMessage<'_>) -> bool {
        let (topic, partition) = (message.topic(), message.partition());
        let of = |lane: &Lane| lane.is_of(topic, partition);
        if !self.open.get(self.last).is_some_and(of) {
            match self.open.iter().position(of) {
                Some(index) => self.last = index,
                None => return false,
            }
        }
        self.open.get_mut(self.last).is_some_and(|lane| lane.push(message))
    }

    pub(super) fn end_of_partition(&mut self, partition: i32) {
        self.open.iter_mut().filter(|lane| lane.partition.partition == partition).for_each(Lane::end_of_partition);
    }

    pub(super) fn flush(&mut self) {
        self.open.iter_mut().for_each(Lane::flush);
    }

    /// Takes out the lane of a partition: nothing further of it is started.
    pub(super) fn close(&mut self, topic: &str, partition: i32) -> Option<Lane> {
        let index = self.open.iter().position(|lane| lane.is_of(topic, partition))?;
        let lane = self.open.swap_remove(index);
        self.share_out();
        lane.progress.stop();
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_partitions_share_what_may_wait_and_few_are_not_limited_by_it() {
        let mut lanes = Lanes::default();
        let open = |number| {
            let partition = TopicPartition { topic: "orders".into(), partition: number };
            Lane::open(partition, Arc::default(), None).0
        };
        let limits = |lanes: &Lanes| lanes.open.iter().map(|lane| lane.limit).collect::<Vec<_>>();
        for number in 0..4 {
            lanes.add(open(number));
        }
        assert_eq!(limits(&lanes), [LANE_BYTES; 4]);
        for number in 4..32 {
            lanes.add(open(number));
        }
        assert_eq!(limits(&lanes), [ALL_BYTES / 32; 32]);
        for number in 32..1000 {
            lanes.add(open(number));
        }
        assert!(limits(&lanes).iter().all(|limit| *limit == BATCH_BYTES as u64));
        for number in 4..1000 {
            lanes.close("orders", number);
        }
        assert_eq!(limits(&lanes), [LANE_BYTES; 4]);
    }

    #[cfg(feature = "testing")]
    #[tokio::test]
    async fn a_record_that_the_client_hands_out_once_more_is_taken_once_and_a_new_one_in_its_place_is_taken() {
        use rdkafka::{ClientConfig, Offset, TopicPartitionList, consumer::Consumer as _};

        use super::super::{mock::MockBroker, outgoing::OutgoingRecord, sink::Sink};
        use crate::config::Config;

        let broker = MockBroker::start().unwrap();
        ["orders", "anew"].iter().for_each(|topic| broker.create_topic(topic, 1).unwrap());
        let sink = Sink::new(&Config::new(broker.brokers())).unwrap();
        for (topic, timestamp) in [("orders", 1), ("orders", 2), ("anew", 3), ("anew", 3)] {
            let mut record = OutgoingRecord::new(topic.to_owned(), None, Some(b"{}".to_vec()), None);
            record.timestamp = Some(timestamp);
            sink.send(record).await.unwrap();
        }
        let mut client = ClientConfig::new();
        client.set("bootstrap.servers", broker.brokers()).set("group.id", "workers");
        let client: rdkafka::consumer::BaseConsumer = client.create().unwrap();
        let read_from = |topic: &str, offset| {
            let mut list = TopicPartitionList::new();
            list.add_partition_offset(topic, 0, Offset::Offset(offset)).unwrap();
            client.assign(&list).unwrap();
            // A poll that returns nothing may have served something else.
            (0..30).find_map(|_| client.poll(Duration::from_secs(1))).expect("no record in 30 s").unwrap()
        };

        let partition = TopicPartition { topic: "orders".into(), partition: 0 };
        let (mut lane, mut assigned) = Lane::open(partition, Arc::default(), None);
        for (topic, offset) in [("orders", 0), ("orders", 0), ("orders", 1), ("orders", 1), ("anew", 1)] {
            lane.push(&read_from(topic, offset));
        }
        lane.flush();
        let batch = assigned.batches.next().await.unwrap();
        let taken: Vec<_> = (0..batch.len()).filter_map(|index| batch.get(index)).collect();
        let taken: Vec<_> = taken.iter().map(|record| (record.offset, record.timestamp)).collect();
        assert_eq!(taken, [(0, Some(1)), (1, Some(2)), (1, Some(3))]);
        assert_eq!(lane.records, 3);
    }
}
