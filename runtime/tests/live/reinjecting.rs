//! The reinjector on a real broker: delays by the broker's clock, members that come and go, topics that do not take a
//! record, a process that is killed, the reinjector of the SDK for Python.

use std::{
    collections::HashMap,
    ops::Range,
    process::{Child, Command, ExitCode},
    time::{Duration, Instant},
};

use babelqueue::{Event, Job as _, Kafka, ReinjectSummary, Reinjector, ReinjectorError, RetryTopics, ShutdownHandle};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer as _, StreamConsumer},
    message::{Header, OwnedHeaders, OwnedMessage},
    producer::{FutureProducer, FutureRecord},
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinHandle,
};

use crate::{
    Check,
    crash::Random,
    interop::python,
    jobs::{Numbered, brokers, committed, create_topic, headers, kafka, poll_until, runtime, unique},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const BROKERS_TIME: (&str, &str) = ("message.timestamp.type", "LogAppendTime");

/// A work topic of one partition with its retry topics, all on the broker's time.
async fn create(work: &RetryTopics, partitions: i32) -> Check {
    create_topic(work.work_topic(), 1, &[BROKERS_TIME]).await?;
    for topic in work.retry_topic_names() {
        create_topic(&topic, partitions, &[BROKERS_TIME]).await?;
    }
    Ok(())
}

fn one_tier(work: &str, delay: Duration) -> RetryTopics {
    RetryTopics::for_topic(work).tiers([delay])
}

struct Running {
    handle: ShutdownHandle,
    task: JoinHandle<std::result::Result<ReinjectSummary, ReinjectorError>>,
}

impl Running {
    fn start(reinjector: Reinjector) -> Self {
        Self { handle: reinjector.handle(), task: tokio::spawn(reinjector.run()) }
    }

    async fn stop(self) -> Result<ReinjectSummary> {
        self.handle.shutdown();
        Ok(self.task.await??)
    }
}

fn reinjector(kafka: &Kafka, work: &RetryTopics, group: &str) -> (Reinjector, UnboundedReceiver<Event>) {
    let (sender, events) = unbounded_channel();
    let reinjector = kafka.reinjector([work.clone()]).group(group).on_event(move |event| {
        let _ = sender.send(event.clone());
    });
    (reinjector, events)
}

async fn wait_for(events: &mut UnboundedReceiver<Event>, wanted: impl Fn(&Event) -> bool) -> Result<Event> {
    let found = async {
        while let Some(event) = events.recv().await {
            if wanted(&event) {
                return Ok(event);
            }
        }
        Err("it ended before")
    };
    Ok(tokio::time::timeout(Duration::from_secs(60), found).await??)
}

fn is_assigned(event: &Event) -> bool {
    matches!(event, Event::Assigned { partitions } if !partitions.is_empty())
}

fn is_revoked(event: &Event) -> bool {
    matches!(event, Event::Revoked { partitions } if !partitions.is_empty())
}

fn producer() -> Result<FutureProducer> {
    Ok(ClientConfig::new().set("bootstrap.servers", brokers()).set("linger.ms", "1").create()?)
}

async fn send(topic: &str, partition: Option<i32>, value: &[u8], original: Option<&str>) -> Check {
    let headers = OwnedHeaders::new().insert(Header { key: "tenant", value: Some(b"\xff\xfe") });
    let headers = match original {
        Some(original) => headers
            .insert(Header { key: "bq-delay", value: Some(b"1000".as_slice()) })
            .insert(Header { key: "bq-original-topic", value: Some(original.as_bytes()) }),
        None => headers,
    };
    let record = FutureRecord::<[u8], [u8]> {
        topic,
        partition,
        payload: Some(value),
        key: None,
        timestamp: None,
        headers: Some(headers),
    };
    producer()?.send(record, Duration::from_secs(10)).await.map_err(|(error, _)| error)?;
    Ok(())
}

/// Sends the numbers in turn to each partition.
async fn send_numbers(producer: &FutureProducer, topic: &str, partitions: i32, numbers: Range<usize>) -> Check {
    let numbers: Vec<_> = numbers.collect();
    for numbers in numbers.chunks(10_000) {
        let values: Vec<_> = numbers.iter().map(ToString::to_string).collect();
        let sends = values.iter().zip(numbers).map(|(value, number)| {
            let partition = i32::try_from(*number).unwrap_or_default() % partitions;
            let record = FutureRecord::<[u8], [u8]>::to(topic).payload(value.as_bytes()).partition(partition);
            producer.send(record, Duration::from_secs(10))
        });
        for sent in futures_util::future::join_all(sends).await {
            sent.map_err(|(error, _)| error)?;
        }
    }
    Ok(())
}

/// Reads so many records of a topic from its start on, whatever a group has committed.
async fn read(topic: &str, partitions: i32, count: usize) -> Result<Vec<OwnedMessage>> {
    let consumer: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers())
        .set("group.id", "not-a-member")
        .set("enable.auto.commit", "false")
        .create()?;
    let mut list = TopicPartitionList::new();
    for partition in 0..partitions {
        list.add_partition_offset(topic, partition, Offset::Beginning)?;
    }
    consumer.assign(&list)?;
    let mut records = Vec::new();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(90);
    while records.len() < count {
        match tokio::time::timeout_at(deadline, consumer.recv()).await {
            Ok(record) => records.push(record?.detach()),
            Err(_) => return Err(format!("{} records of {count} on {topic}", records.len()).into()),
        }
    }
    Ok(records)
}

fn millis(record: &OwnedMessage) -> Result<i64> {
    Ok(record.timestamp().to_millis().ok_or("no timestamp")?)
}

fn number(record: &OwnedMessage) -> Result<usize> {
    Ok(std::str::from_utf8(record.payload().unwrap_or_default())?.parse()?)
}

pub(crate) async fn each_tier_holds_its_delay_by_the_brokers_clock() -> Check {
    const RECORDS: usize = 20_000;
    const PARTITIONS: i32 = 4;
    let work = RetryTopics::for_topic(unique("delays")).tiers([1, 5].map(Duration::from_secs));
    create(&work, PARTITIONS).await?;
    let (reinjector, mut events) = reinjector(&kafka()?, &work, &unique("group"));
    let running = Running::start(reinjector);
    wait_for(&mut events, is_assigned).await?;

    // Spread over seconds, as failures are, and in bursts of 100.
    let names = work.retry_topic_names();
    let producer = producer()?;
    for burst in 0..RECORDS / 100 {
        let values: Vec<_> = (0..100).map(|index| (burst * 100 + index).to_string()).collect();
        let sends = values.iter().enumerate().map(|(index, value)| {
            let record = FutureRecord::<[u8], [u8]>::to(&names[index % names.len()]).payload(value.as_bytes());
            let partition = i32::try_from(index / names.len()).unwrap_or_default() % PARTITIONS;
            producer.send(record.partition(partition), Duration::from_secs(10))
        });
        for sent in futures_util::future::join_all(sends).await {
            sent.map_err(|(error, _)| error)?;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut written = vec![0; RECORDS];
    let mut place = vec![(0, 0); RECORDS];
    for (tier, topic) in names.iter().enumerate() {
        for record in read(topic, PARTITIONS, RECORDS / names.len()).await? {
            written[number(&record)?] = millis(&record)?;
            place[number(&record)?] = (tier, record.partition());
        }
    }
    let mut late = vec![Vec::new(); names.len()];
    let mut last = HashMap::new();
    for record in read(work.work_topic(), 1, RECORDS).await? {
        let (tier, partition) = place[number(&record)?];
        late[tier].push(millis(&record)? - written[number(&record)?] - [1000, 5000][tier]);
        // Neither lost its order nor came twice.
        let before = last.insert((tier, partition), number(&record)?);
        assert!(before.is_none_or(|before| before < number(&record).unwrap_or_default()), "{before:?}");
    }
    running.stop().await?;
    for (tier, late) in late.iter_mut().enumerate() {
        late.sort_unstable();
        let at = |percent: usize| late[(late.len() - 1) * percent / 100];
        let least = late.first().copied().unwrap_or_default();
        let shown = format!("least {least}, median {}, 99 % {}, most {}", at(50), at(99), at(100));
        println!("tier {}: {} records late by ms: {shown}", tier + 1, late.len());
        // Below 50 ms on a machine that has nothing else to do; what is asserted is that it wakes by itself, and not when
        // something polls.
        assert!(least >= 0 && at(50) < 50 && at(99) < 1000, "{shown}");
    }
    Ok(())
}

/// More than may wait for a worker, so that the partition is paused when it is lost.
const PAUSED: usize = 6000;

pub(crate) async fn a_paused_partition_that_comes_back_before_its_records_are_due_goes_on() -> Check {
    lose_and_regain(Duration::from_secs(12), Duration::ZERO).await
}

pub(crate) async fn a_paused_partition_that_comes_back_after_its_records_were_due_goes_on() -> Check {
    lose_and_regain(Duration::from_secs(4), Duration::from_secs(6)).await
}

/// The only partition goes from one member to another, which keeps it for a while, and comes back.
async fn lose_and_regain(delay: Duration, away: Duration) -> Check {
    let work = one_tier(&unique("rebalanced"), delay);
    create(&work, 1).await?;
    let group = unique("group");
    // The client library gives the one partition to the member whose id, which begins with the client's, sorts first.
    let named = |client_id| Kafka::builder().brokers(brokers()).client_id(client_id).build();
    let (first, mut events) = reinjector(&named("b")?, &work, &group);
    let first = Running::start(first);
    wait_for(&mut events, is_assigned).await?;
    let retry = work.retry_topic_names().remove(0);
    let producer = producer()?;
    send_numbers(&producer, &retry, 1, 0..PAUSED).await?;
    let (other, mut given) = reinjector(&named("a")?, &work, &group);
    let other = Running::start(other);
    wait_for(&mut given, is_assigned).await?;
    while wait_for(&mut events, |event| is_assigned(event) || is_revoked(event))
        .await
        .is_ok_and(|event| is_assigned(&event))
    {}
    tokio::time::sleep(away).await;
    other.stop().await?;
    wait_for(&mut events, is_assigned).await?;
    send_numbers(&producer, &retry, 1, PAUSED..PAUSED + 10).await?;
    let written = read(&retry, 1, PAUSED + 10).await?;
    let records = read(work.work_topic(), 1, PAUSED + 10).await?;
    let summary = first.stop().await?;
    let mut late = Vec::new();
    for (number_expected, (went, was)) in records.iter().zip(&written).enumerate() {
        assert_eq!(number(went)?, number_expected);
        late.push(millis(went)? - millis(was)? - i64::try_from(delay.as_millis())?);
    }
    late.sort_unstable();
    println!(
        "late by ms: least {}, most {}; {} by the first member",
        late[0],
        late[late.len() - 1],
        summary.reinjected
    );
    assert!(late[0] >= 0 && late[late.len() - 1] < 2000);
    assert_eq!(committed(&group, &retry, 0)?, Some(i64::try_from(PAUSED)? + 10));
    Ok(())
}

pub(crate) async fn a_work_topic_created_later_gets_its_records_in_their_order() -> Check {
    let work = one_tier(&unique("late-target"), Duration::from_millis(500));
    let retry = work.retry_topic_names().remove(0);
    create_topic(&retry, 1, &[BROKERS_TIME]).await?;
    let group = unique("group");
    for value in 0..50 {
        send(&retry, Some(0), value.to_string().as_bytes(), Some(work.work_topic())).await?;
    }
    let (reinjector, mut events) = reinjector(&kafka()?, &work, &group);
    let running = Running::start(reinjector);
    let failed = wait_for(&mut events, |event| matches!(event, Event::WriteFailed { offset: 0, .. })).await?;
    println!("{failed}");
    assert_eq!(committed(&group, &retry, 0)?, None);
    create_topic(work.work_topic(), 1, &[]).await?;
    let records = read(work.work_topic(), 1, 50).await?;
    let numbers = records.iter().map(number).collect::<Result<Vec<_>>>()?;
    assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    assert_eq!(headers(&records[0]).iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["tenant"]);
    assert_eq!(running.stop().await?.reinjected, 50);
    assert_eq!(committed(&group, &retry, 0)?, Some(50));
    Ok(())
}

pub(crate) async fn a_record_that_is_too_large_keeps_its_place_until_its_topic_takes_it() -> Check {
    let work = one_tier(&unique("too-large"), Duration::from_millis(500));
    create(&work, 1).await?;
    limit(work.work_topic(), "2000").await?;
    let (retry, group) = (work.retry_topic_names().remove(0), unique("group"));
    // The small ones in front of it travel with it, in a batch that is too large.
    let large = format!("{:05000}", 10);
    for value in (0..10).map(|value| value.to_string()).chain([large]).chain((11..20).map(|value| value.to_string())) {
        send(&retry, Some(0), value.as_bytes(), None).await?;
    }
    let (reinjector, mut events) = reinjector(&kafka()?, &work, &group);
    let running = Running::start(reinjector);
    let failed = wait_for(&mut events, |event| matches!(event, Event::WriteFailed { .. })).await?;
    println!("{failed}");
    let Event::WriteFailed { offset, error, .. } = failed else { return Err("another event".into()) };
    assert!(offset == 10 && error.is_too_large(), "{offset}: {error}");
    read(work.work_topic(), 1, 10).await?;
    limit(work.work_topic(), "10000").await?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while committed(&group, &retry, 0)? != Some(20) {
        assert!(Instant::now() < deadline, "{:?} committed", committed(&group, &retry, 0)?);
    }
    let summary = running.stop().await?;
    let records = read(work.work_topic(), 1, usize::try_from(summary.reinjected)?).await?;
    let mut numbers = records.iter().map(number).collect::<Result<Vec<_>>>()?;
    println!("in the order {numbers:?}");
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    Ok(())
}

async fn limit(topic: &str, bytes: &str) -> Check {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    let change = AlterConfig::new(ResourceSpecifier::Topic(topic))
        .set("max.message.bytes", bytes)
        .set(BROKERS_TIME.0, BROKERS_TIME.1);
    for result in admin.alter_configs([&change], &AdminOptions::new()).await? {
        result.map_err(|(_, code)| code)?;
    }
    Ok(())
}

/// The first argument of the reinjecting process.
pub(crate) const WORKER: &str = "reinject-worker";
const KILLS: usize = 6;

/// The reinjecting process: `brokers work-topic group`.
pub(crate) fn worker(settings: &[String]) -> ExitCode {
    let [brokers, work, group] = settings else { return ExitCode::FAILURE };
    match reinject(brokers, work, group) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn reinject(brokers: &str, work: &str, group: &str) -> Check {
    let kafka = Kafka::builder()
        .brokers(brokers)
        // The member that follows a killed one gets its partitions at once instead of a session timeout later.
        .consumer_property("group.instance.id", "reinjector")
        .consumer_property("session.timeout.ms", "6000")
        .build()?;
    let reinjector = kafka
        .reinjector([one_tier(work, Duration::from_millis(500))])
        .group(group)
        .commit_interval(Duration::from_millis(20));
    runtime().block_on(reinjector.run())?;
    Ok(())
}

pub(crate) async fn killed_at_random_moments_no_record_is_lost() -> Check {
    const RECORDS: usize = 60_000;
    const PARTITIONS: i32 = 4;
    let (work, group) = (one_tier(&unique("killed"), Duration::from_millis(500)), unique("group"));
    create(&work, PARTITIONS).await?;
    let retry = work.retry_topic_names().remove(0);
    send_numbers(&producer()?, &retry, PARTITIONS, 0..RECORDS).await?;
    let all_committed = || -> Result<bool> {
        let committed = (0..PARTITIONS).map(|partition| Ok(committed(&group, &retry, partition)?.unwrap_or_default()));
        Ok(committed.sum::<Result<i64>>()? == i64::try_from(RECORDS)?)
    };
    let client: BaseConsumer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    let moved = || -> Result<i64> { Ok(client.fetch_watermarks(work.work_topic(), 0, Duration::from_secs(10))?.1) };
    let mut random = Random::seeded()?;
    let mut in_the_middle = 0;
    for _ in 0..KILLS {
        let step = 1 + random.below(u64::try_from(RECORDS / KILLS / 2)?).cast_signed();
        // A fast one may have moved nearly everything before it is killed: there is no more than this to wait for.
        let goal = (moved()? + step).min(i64::try_from(RECORDS)?);
        let mut child = start(&work, &group)?;
        let reached = poll_until(&mut child, || Ok(moved()? >= goal));
        child.kill()?;
        child.wait()?;
        reached?;
        in_the_middle += usize::from(!all_committed()?);
    }
    let mut child = start(&work, &group)?;
    let ended = poll_until(&mut child, all_committed);
    child.kill()?;
    child.wait()?;
    ended?;
    assert!(in_the_middle > 0, "it was never killed at work");

    let mut written = HashMap::<usize, u32>::new();
    for record in read(work.work_topic(), 1, usize::try_from(moved()?)?).await? {
        *written.entry(number(&record)?).or_default() += 1;
    }
    let lost: Vec<_> = (0..RECORDS).filter(|number| !written.contains_key(number)).collect();
    assert!(lost.is_empty(), "{} lost, the first {:?}", lost.len(), lost.first());
    let again: u32 = written.values().map(|count| count - 1).sum();
    println!("{RECORDS} records, killed {in_the_middle} times at work: 0 lost, {again} written again");
    Ok(())
}

fn start(work: &RetryTopics, group: &str) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?).args([WORKER, &brokers(), work.work_topic(), group]).spawn()
}

pub(crate) async fn both_sdks_move_each_others_records_back() -> Check {
    let work = one_tier(&unique("both"), Duration::from_secs(1));
    create(&work, 1).await?;
    let (retry, group) = (work.retry_topic_names().remove(0), unique("group"));

    // The other SDK moves the record that we would move.
    send(&retry, Some(0), b"0", Some(work.work_topic())).await?;
    python("reinject.py", &[&brokers(), work.work_topic(), "1000", &group, "1"], "")?;
    assert_eq!(committed(&group, &retry, 0)?, Some(1));

    // Then we go on in the same group, with a record that the other SDK parks.
    python("park.py", &[&brokers(), work.work_topic(), "1000", Numbered::URN], "")?;
    let running = Running::start(kafka()?.reinjector([work.clone()]).group(&group));
    let records = read(work.work_topic(), 1, 2).await?;
    assert_eq!(running.stop().await?.reinjected, 1);
    assert_eq!(committed(&group, &retry, 0)?, Some(2));

    let waiting = read(&retry, 1, 2).await?;
    for (record, waited) in records.iter().zip(&waiting) {
        assert_eq!((record.payload(), record.key()), (waited.payload(), waited.key()));
        let mut kept = headers(waited);
        kept.retain(|(name, _)| name != "bq-delay" && name != "bq-original-topic");
        assert_eq!(headers(record), kept);
        assert!(millis(record)? - millis(waited)? >= 1000);
    }
    assert_eq!(headers(&waiting[1]).len(), headers(&records[1]).len() + 2);
    Ok(())
}
