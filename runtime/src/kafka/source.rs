//! The records of a consumer group's member: one thread owns the client and polls it, whatever the handlers do.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    Offset, TopicPartitionList,
    consumer::Consumer as _,
    error::{KafkaError as ClientError, KafkaResult},
};
use tokio::sync::{
    mpsc::{UnboundedReceiver, unbounded_channel},
    oneshot,
};

pub(crate) use super::lanes::{Assigned, Batches};
use super::{
    commit_count::CommitCount,
    committer::{Committed, Committer, Offsets},
    group::{Client, Group},
    lanes::Lane,
    native,
    probe::Probe,
    settings,
    standing::Standing,
    waker::Waker,
};
use crate::{
    config::{Config, ConfigError},
    error::KafkaError,
    event::Event,
    record::TopicPartition,
    time::deadline,
};

/// How long the thread waits when nothing wakes it, before it looks whether a commit is due.
const IDLE: Duration = Duration::from_millis(100);
/// Records polled before commands, commits and pauses are looked at again.
const ROUND: usize = 1024;
/// How long polling waits for workers that are nearly as fast as it, before it pauses their partitions: pausing throws
/// away what the client has fetched ahead.
const PATIENCE: Duration = Duration::from_millis(10);
/// How often the poll thread looks how its partitions fare.
const LOOK: Duration = Duration::from_millis(250);
/// How long the last commit may take when nobody waits for it.
const UNATTENDED_CLOSE: Duration = Duration::from_secs(5);

pub(crate) struct SourceSettings {
    pub(crate) group: String,
    pub(crate) read: Read,
    /// Whether a new group begins with the oldest record whatever the user's properties say.
    pub(crate) from_oldest: bool,
    pub(crate) commit_interval: Duration,
    /// How many finished records make a commit due before the interval has passed.
    pub(crate) commit_count: Option<u64>,
    /// How long a rebalance may wait for the records at work on partitions that go.
    pub(crate) revoke_timeout: Duration,
    /// For how long one record may hold up its partition before that is told.
    pub(crate) stall_timeout: Duration,
}

impl SourceSettings {
    /// Of a member without handlers, which begins with the oldest record.
    pub(crate) fn without_handlers(group: String, read: Read, commit_interval: Duration) -> Self {
        Self {
            group,
            read,
            from_oldest: true,
            commit_interval,
            commit_count: None,
            revoke_timeout: Duration::ZERO,
            stall_timeout: Duration::MAX,
        }
    }
}

/// What a source reads.
pub(crate) enum Read {
    /// The partitions of these topics that the group gives to this member.
    Topics(Vec<String>),
    /// The same for one topic; the records of each partition end where the partition ends.
    TopicToEnd(String),
    /// These partitions of one topic from where the group is to their end, without becoming a member of it.
    PartitionsToEnd(Vec<TopicPartition>),
}

impl Read {
    pub(super) fn topics(&self) -> Vec<String> {
        match self {
            Self::Topics(topics) => topics.clone(),
            Self::TopicToEnd(topic) => vec![topic.clone()],
            Self::PartitionsToEnd(partitions) => partitions.iter().map(|each| each.topic.to_string()).collect(),
        }
    }

    fn start(&self, client: &Client) -> KafkaResult<()> {
        match self {
            Self::Topics(topics) => client.subscribe(&topics.iter().map(String::as_str).collect::<Vec<_>>()),
            Self::TopicToEnd(topic) => client.subscribe(&[topic]),
            Self::PartitionsToEnd(partitions) => {
                let mut list = TopicPartitionList::new();
                for each in partitions {
                    list.add_partition_offset(&each.topic, each.partition, Offset::Stored)?;
                }
                client.assign(&list)?;
                client.context().assigned(&list);
                Ok(())
            }
        }
    }
}

/// What the poll thread tells the consumer.
pub(crate) enum SourceEvent {
    /// New partitions, each to be worked on.
    Assigned(Vec<Assigned>),
    /// For the user's hook.
    Report(Event),
    /// No record will come any more.
    Ended(KafkaError),
}

/// How the member left.
#[derive(Debug)]
pub(crate) struct Closed {
    /// The last commit.
    pub(crate) commit: Result<(), KafkaError>,
    /// Whether the client was closed in time.
    pub(crate) left: bool,
}

enum Command {
    /// Hand out nothing further, but go on polling: the group must not put the member out while handlers finish.
    Drain,
    /// Commit what is finished by the deadline and leave the group.
    Close { deadline: Instant, reply: oneshot::Sender<Closed> },
}

/// The handle to the poll thread. Dropping it closes the member without waiting for it.
pub(crate) struct Source {
    commands: Sender<Command>,
    waker: Arc<Waker>,
    events: UnboundedReceiver<SourceEvent>,
}

impl Source {
    /// Makes the client, subscribes and starts to poll.
    pub(crate) fn start(
        config: &Config,
        settings: &SourceSettings,
        standing: Arc<Standing>,
    ) -> Result<Self, ConfigError> {
        let (commands, queue) = channel();
        let (send, events) = unbounded_channel();
        let failed = |reason: String| ConfigError::Client { reason };
        let waker = Arc::<Waker>::default();
        let commit_count = settings.commit_count.map(|every| Arc::new(CommitCount::new(every, Arc::clone(&waker))));
        let group = Group::new(settings, standing, commit_count.clone(), Arc::clone(&waker), send, Probe::new(config));
        let mut client = settings::consumer(config, &settings.group);
        if !matches!(settings.read, Read::Topics(_)) {
            client.set("enable.partition.eof", "true");
        }
        if settings.from_oldest {
            client.set("auto.offset.reset", "earliest");
        }
        let mut client: Client = client.create_with_context(group).map_err(settings::refused)?;
        let something_to_poll = Arc::clone(&waker);
        client.set_nonempty_callback(move || something_to_poll.wake());
        let client = Arc::new(client);
        settings.read.start(&client).map_err(|error| failed(error.to_string()))?;
        let (committer, committer_ended) =
            Committer::start(Arc::clone(&client), Arc::clone(&waker)).map_err(|error| failed(error.to_string()))?;
        client.context().set_committer(Some(committer.clone()));
        let poller = Poller {
            client,
            waker: Arc::clone(&waker),
            committer,
            committer_ended,
            commands: queue,
            commit_count,
            commit_interval: settings.commit_interval,
            commit_at: deadline(settings.commit_interval),
            committing: None,
            stall_timeout: settings.stall_timeout,
            look_at: Instant::now(),
            draining: false,
        };
        thread::Builder::new()
            .name("babelqueue-poll".to_owned())
            .spawn(move || poller.run())
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { commands, waker, events })
    }

    /// What happened next; `None` when the member has ended.
    pub(crate) async fn next(&mut self) -> Option<SourceEvent> {
        self.events.recv().await
    }

    /// What has happened and was not asked for yet.
    pub(crate) fn try_next(&mut self) -> Option<SourceEvent> {
        self.events.try_recv().ok()
    }

    /// Starts no further record; polling goes on.
    pub(crate) fn drain(&self) {
        // A poll thread that is gone hands out nothing.
        let _ = self.commands.send(Command::Drain);
        self.waker.wake();
    }

    /// Commits what is finished and leaves the group. `None` when that was not done by the deadline; it goes on by
    /// itself then.
    pub(crate) async fn close(&self, deadline: Instant) -> Option<Closed> {
        let (reply, closed) = oneshot::channel();
        self.commands.send(Command::Close { deadline, reply }).ok()?;
        self.waker.wake();
        tokio::time::timeout_at(deadline.into(), closed).await.ok()?.ok()
    }
}

struct Poller {
    client: Arc<Client>,
    waker: Arc<Waker>,
    committer: Committer,
    committer_ended: Receiver<()>,
    commands: Receiver<Command>,
    commit_count: Option<Arc<CommitCount>>,
    commit_interval: Duration,
    commit_at: Instant,
    committing: Option<Receiver<Committed>>,
    stall_timeout: Duration,
    look_at: Instant,
    draining: bool,
}

impl Poller {
    fn run(mut self) {
        self.waker.attach();
        loop {
            match self.commands.try_recv() {
                Ok(Command::Drain) => self.drain(),
                Ok(Command::Close { deadline, reply }) => {
                    // The consumer may have stopped waiting.
                    let _ = reply.send(self.close(deadline));
                    return;
                }
                Err(TryRecvError::Disconnected) => {
                    self.drain();
                    self.close(deadline(UNATTENDED_CLOSE));
                    return;
                }
                Err(TryRecvError::Empty) => {}
            }
            self.poll();
            self.pause_full_lanes();
            self.resume_lanes_with_room();
            self.see_commit_through();
            self.commit_when_due();
            self.look_when_due();
        }
    }

    fn group(&self) -> &Group {
        self.client.context()
    }

    /// Takes in what is there; when that is nothing, waits to be woken first.
    fn poll(&self) {
        // One poll without a record may have served something else, with records behind it.
        let mut nothing = 0;
        for _ in 0..ROUND {
            match self.client.poll(Duration::ZERO) {
                // A round of large records would be many times what a lane may hold.
                Some(Ok(message)) if !self.draining => {
                    if self.group().lanes().push(&message) {
                        break;
                    }
                }
                Some(Err(ClientError::PartitionEOF(partition))) => self.group().lanes().end_of_partition(partition),
                // While draining what was fetched ahead is left to the next owner. Errors have reached the group's
                // callback.
                Some(Ok(_) | Err(_)) => {}
                None if nothing == 0 => nothing += 1,
                None => {
                    self.group().lanes().flush();
                    self.waker.wait(IDLE);
                    return;
                }
            }
        }
        self.group().lanes().flush();
    }

    fn pause_full_lanes(&self) {
        let patience = deadline(PATIENCE);
        let full = |group: &Group| group.lanes().open.iter().any(|lane| !lane.is_paused() && lane.is_full());
        while full(self.group()) {
            if Instant::now() < patience {
                thread::sleep(Duration::from_millis(1));
                continue;
            }
            self.turn(true, |lane| !lane.is_paused() && lane.is_full());
        }
    }

    fn resume_lanes_with_room(&self) {
        match self.draining {
            // A rebalance may have brought new partitions meanwhile.
            true => self.turn(true, |lane| !lane.is_paused()),
            false => self.turn(false, |lane| lane.is_paused() && lane.has_room()),
        }
    }

    /// Pauses or resumes the chosen lanes.
    fn turn(&self, pause: bool, choose: impl Fn(&Lane) -> bool) {
        let mut list = TopicPartitionList::new();
        for lane in self.group().lanes().open.iter_mut().filter(|lane| choose(lane)) {
            lane.set_paused(pause);
            list.add_partition(&lane.partition.topic, lane.partition.partition);
        }
        if list.count() == 0 {
            return;
        }
        let turned = if pause { self.client.pause(&list) } else { self.client.resume(&list) };
        if let Err(error) = turned {
            self.group().report(Event::Trouble { error: error.into() });
        }
    }

    fn commit_when_due(&mut self) {
        if self.committing.is_some() {
            return;
        }
        let enough = self.commit_count.as_ref().is_some_and(|count| count.take_due());
        if !enough && Instant::now() < self.commit_at {
            return;
        }
        self.commit_at = deadline(self.commit_interval);
        let mut offsets = Offsets::new();
        for lane in &mut self.group().lanes().open {
            if let Some(offset) = lane.uncommitted() {
                lane.requested = Some(offset);
                offsets.push((lane.partition.clone(), offset));
            }
        }
        if !offsets.is_empty() {
            self.committing = Some(self.committer.commit(offsets, deadline(Duration::MAX)));
        }
    }

    /// Looks whether the commit on its way has arrived; a failed one is asked for again with the next one.
    fn see_commit_through(&mut self) {
        let Some(committing) = &self.committing else { return };
        match committing.try_recv() {
            Err(TryRecvError::Empty) => return,
            Ok(Ok(())) => {
                for lane in &self.group().lanes().open {
                    lane.requested.into_iter().for_each(|offset| lane.progress.acknowledge(offset));
                }
            }
            failed => {
                let error = failed.ok().and_then(Result::err).unwrap_or_else(|| KafkaError::closed("consumer"));
                for lane in &mut self.group().lanes().open {
                    lane.requested = None;
                }
                self.group().report(Event::CommitFailed { error });
            }
        }
        self.committing = None;
    }

    /// Looks how far each partition is from its end, and whether a record holds it up.
    fn look_when_due(&mut self) {
        let now = Instant::now();
        if now < self.look_at {
            return;
        }
        self.look_at = now + LOOK;
        let mut events = Vec::new();
        for lane in &mut self.group().lanes().open {
            lane.end_offset = native::end_offset(self.client.client(), &lane.partition).or(lane.end_offset);
            events.extend(lane.look(now, self.stall_timeout));
        }
        events.into_iter().for_each(|event| self.group().report(event));
    }

    fn drain(&mut self) {
        self.draining = true;
        for lane in &mut self.group().lanes().open {
            lane.end();
        }
        self.turn(true, |lane| !lane.is_paused());
    }

    fn close(self, deadline: Instant) -> Closed {
        let remaining = || deadline.saturating_duration_since(Instant::now());
        let offsets = self.group().lanes().open.iter().filter_map(Lane::committable).collect();
        let commit = self.committer.commit_within(offsets, remaining());
        self.group().set_committer(None);
        let Self { client, committer, committer_ended, .. } = self;
        drop(committer);
        // Whoever drops the client last closes it, which blocks; that should be this thread.
        let left = committer_ended.recv_timeout(remaining()) == Err(RecvTimeoutError::Disconnected);
        drop(client);
        Closed { commit, left }
    }
}
