//! A thread that commits offsets, so that neither polling nor async work waits for the broker.
//!
//! It commits synchronously: the client library's callback for asynchronous commits is not called reliably.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    TopicPartitionList,
    consumer::{CommitMode, Consumer},
    topic_partition_list::Offset,
};

use super::{group::Client, waker::Waker};
use crate::{error::KafkaError, record::TopicPartition, time::deadline};

/// The offset to commit for each partition.
pub(super) type Offsets = Vec<(TopicPartition, i64)>;

/// What became of a commit.
pub(super) type Committed = Result<(), KafkaError>;

struct Request {
    offsets: Offsets,
    /// When nobody waits for it any more: after a rebalance another member may own the partitions.
    until: Instant,
    reply: Sender<Committed>,
}

#[derive(Clone)]
pub(super) struct Committer {
    requests: Sender<Request>,
}

impl Committer {
    /// Starts the thread. It ends when the last committer is dropped; the receiver is closed once it has let go of the
    /// client.
    pub(super) fn start(client: Arc<Client>, waker: Arc<Waker>) -> std::io::Result<(Self, Receiver<()>)> {
        let (requests, queue) = channel::<Request>();
        let (alive, ended) = channel();
        thread::Builder::new().name("babelqueue-commit".to_owned()).spawn(move || {
            serve(&client, &waker, &queue);
            drop(client);
            drop(alive);
        })?;
        Ok((Self { requests }, ended))
    }

    /// Commits, unless it is not begun by then; the reply comes on the returned channel.
    pub(super) fn commit(&self, offsets: Offsets, until: Instant) -> Receiver<Committed> {
        let (reply, replies) = channel();
        // When the thread is gone the reply channel is closed at once, which reads as a failed commit.
        let _ = self.requests.send(Request { offsets, until, reply });
        replies
    }

    /// Commits and waits, but not longer than `timeout`.
    pub(super) fn commit_within(&self, offsets: Offsets, timeout: Duration) -> Committed {
        if offsets.is_empty() {
            return Ok(());
        }
        match self.commit(offsets, deadline(timeout)).recv_timeout(timeout) {
            Ok(committed) => committed,
            Err(RecvTimeoutError::Timeout) => Err(KafkaError::commit_timed_out(timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(KafkaError::closed("consumer")),
        }
    }
}

fn serve(client: &Client, waker: &Waker, requests: &Receiver<Request>) {
    for Request { offsets, until, reply } in requests {
        if Instant::now() > until {
            continue;
        }
        let result = commit(client, &offsets);
        // Nobody waits any more for a commit that took too long.
        let _ = reply.send(result);
        waker.wake();
    }
}

fn commit(client: &Client, offsets: &Offsets) -> Committed {
    let mut list = TopicPartitionList::with_capacity(offsets.len());
    for (at, offset) in offsets {
        list.add_partition_offset(&at.topic, at.partition, Offset::Offset(*offset))?;
    }
    client.commit(&list, CommitMode::Sync)?;
    // The call succeeds when one partition of the list was committed; the others say so themselves.
    for element in list.elements() {
        if let Err(error) = element.error() {
            let at = format!("{}[{}]", element.topic(), element.partition());
            return Err(KafkaError::from(error).with_context(&at));
        }
    }
    Ok(())
}
